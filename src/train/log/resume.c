// SPDX-License-Identifier: Apache-2.0
#include "train/log/resume.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/text.h"
#include "train/log/csv.h"
#include "train/log/event_file.h"
#include "train/log/folder_lock.h"
#include "train/log/json_lines.h"
#include "train/log/lines.h"
#include "train/log/resume_events.h"
#include "train/log/resume_lines.h"
#include "train/log/ring.h"

static const char op[] = "logger_new";

// ---- what is there ------------------------------------------------------------------------------

// An empty file is what a full disk left of a run that never began.
static bool exists(const tern_logger *logger, const char *name)
{
    char path[PATH_MAX];
    struct stat facts;
    (void)snprintf(path, sizeof path, "%.*s/%s", PATH_MAX - 64, logger->folder, name);
    return lstat(path, &facts) == 0 && facts.st_size > 0;
}

static tern_status refuse_other_run(const tern_logger *logger, const char *shown)
{
    int64_t newest;
    TERN_TRY(tern_log_events_find(logger, &newest));
    const char *found = exists(logger, TERN_LOG_LINES_NAME) ? TERN_LOG_LINES_NAME
                        : exists(logger, TERN_LOG_CSV_NAME) ? TERN_LOG_CSV_NAME
                        : newest                            ? "an event file"
                                                            : NULL;
    TERN_CHECK(!found, TERN_ERR_STATE,
               "%s: %.200s has the log of another run (%s): give another folder, or go on with "
               "that run by .resume_step",
               op, shown, found);
    return TERN_OK;
}

static tern_status resume(tern_logger *logger, int64_t *newest)
{
    TERN_TRY(tern_log_lines_resume(logger));
    TERN_TRY(tern_log_csv_resume(logger));
    return tern_log_events_resume(logger, newest);
}

// ---- opening ------------------------------------------------------------------------------------

static tern_status open_file(tern_logger *logger, tern_log_format format, const char *name)
{
    TERN_CHECK(tern_log_file_open(&logger->files[format], logger->folder, name), TERN_ERR_IO,
               "%s: cannot write %.150s/%.80s: %s", op, logger->folder, name,
               tern_text_reason(errno));
    return TERN_OK;
}

static tern_status open_lines(tern_logger *logger, const tern_logger_new_options *o)
{
    if (o->jsonl) {
        TERN_TRY(open_file(logger, TERN_LOG_JSON_LINES, TERN_LOG_LINES_NAME));
        logger->written_time = tern_log_time(logger);
        tern_log_run_line(&logger->files[TERN_LOG_JSON_LINES].pending, logger,
                          logger->written_time);
    }
    if (!o->csv)
        return TERN_OK;
    TERN_TRY(open_file(logger, TERN_LOG_CSV, TERN_LOG_CSV_NAME));
    if (logger->files[TERN_LOG_CSV].size == 0)
        tern_log_add_text(&logger->files[TERN_LOG_CSV].pending, TERN_LOG_CSV_HEADER);
    return TERN_OK;
}

// TensorBoard reads event files in the order of their names.
static tern_status open_events(tern_logger *logger, int64_t newest)
{
    char host[65] = "", name[200];
    (void)gethostname(host, sizeof host - 1);
    for (char *at = host; *at; at++)
        *at = *at == '/' ? '_' : *at;
    const int64_t now = (int64_t)time(NULL);
    (void)snprintf(name, sizeof name, TERN_LOG_EVENTS_NAME "%010lld.%s.%ld.0",
                   (long long)(now > newest ? now : newest + 1), host, (long)getpid());
    TERN_TRY(open_file(logger, TERN_LOG_EVENTS, name));
    tern_event_file_begin(&logger->files[TERN_LOG_EVENTS].pending, tern_log_time(logger),
                          logger->resume_step >= 0 ? logger->resume_step + 1 : -1);
    return TERN_OK;
}

// So a disk that cannot be written is known at once.
static tern_status write_first(tern_logger *logger)
{
    for (int i = 0; i < TERN_LOG_FORMATS; i++) {
        tern_log_file *file = &logger->files[i];
        if (file->pending.failed)
            return TERN_ERR_NOMEM;
        TERN_CHECK(tern_log_file_flush(file), TERN_ERR_IO, "%s: cannot write %.150s/%.80s: %s", op,
                   logger->folder, file->name, tern_text_reason(errno));
    }
    return TERN_OK;
}

tern_status tern_log_folder_take(tern_logger *logger, const tern_logger_new_options *o)
{
    int64_t newest = 0;
    TERN_TRY(tern_log_folder_lock(logger, o->folder));
    TERN_TRY(o->resume_step < 0 ? refuse_other_run(logger, o->folder) : resume(logger, &newest));
    TERN_TRY(open_lines(logger, o));
    if (o->tensorboard)
        TERN_TRY(open_events(logger, newest));
    return write_first(logger);
}
