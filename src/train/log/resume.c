// SPDX-License-Identifier: Apache-2.0
#include "train/log/resume.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>
#include "base/text.h"

static const char op[] = "logger_new";

static tern_status open_file(tern_logger *logger, tern_log_format format, const char *name)
{
    if (!tern_log_file_open(&logger->files[format], logger->folder, name)) {
        tern_log_send(TERN_LOG_WARN, "%s: nothing is logged: cannot write %.150s/%s: %s", op,
                      logger->folder, name, tern_text_reason(errno));
        logger->off = true;
    }
    return TERN_OK;
}

tern_status tern_log_folder_take(tern_logger *logger, const tern_logger_new_options *o)
{
    if (o->jsonl)
        TERN_TRY(open_file(logger, TERN_LOG_JSON_LINES, TERN_LOG_LINES_NAME));
    if (o->csv)
        TERN_TRY(open_file(logger, TERN_LOG_CSV, TERN_LOG_CSV_NAME));
    if (logger->files[TERN_LOG_JSON_LINES].fd >= 0)
        tern_log_run_line(&logger->files[TERN_LOG_JSON_LINES].pending, logger,
                          tern_logger_time(logger));
    return TERN_OK;
}

void tern_log_folder_leave(tern_logger *logger)
{
    if (logger->lock_fd >= 0)
        close(logger->lock_fd);
    logger->lock_fd = -1;
}
