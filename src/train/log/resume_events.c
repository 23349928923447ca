// SPDX-License-Identifier: Apache-2.0
#include "train/log/resume_events.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/text.h"
#include "train/log/event_file.h"

static const char op[] = "logger_new";

// ---- torn ends ----------------------------------------------------------------------------------

// Readers stop at what is not whole: what a kill has torn is taken away.
static bool cut_open(int fd)
{
    struct stat facts;
    bool broken;
    if (fstat(fd, &facts) || !S_ISREG(facts.st_mode))
        return false;
    if (facts.st_size == 0)
        return true;
    void *bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return false;
    const int64_t whole = tern_event_file_whole(bytes, (int64_t)facts.st_size, &broken);
    munmap(bytes, (size_t)facts.st_size);
    return whole == facts.st_size || ftruncate(fd, (off_t)whole) == 0;
}

static tern_status cut(const tern_logger *logger, const char *name)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%.*s/%s", PATH_MAX - NAME_MAX - 2, logger->folder, name);
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    const bool done = fd >= 0 && cut_open(fd);
    const int reason = errno;
    if (fd >= 0)
        close(fd);
    TERN_CHECK(done, TERN_ERR_IO, "%s: cannot go on with %.250s: %s", op, path,
               tern_text_reason(reason));
    return TERN_OK;
}

// ---- all of a folder ----------------------------------------------------------------------------

static tern_status visit(const tern_logger *logger, bool cuts, DIR *list, int64_t *newest)
{
    const size_t length = strlen(TERN_LOG_EVENTS_NAME);
    for (const struct dirent *file; (file = readdir(list));) {
        if (strncmp(file->d_name, TERN_LOG_EVENTS_NAME, length) != 0)
            continue;
        const int64_t seconds = strtoll(file->d_name + length, NULL, 10);
        *newest = seconds > *newest ? seconds : *newest;
        if (cuts)
            TERN_TRY(cut(logger, file->d_name));
    }
    return TERN_OK;
}

static tern_status visit_all(const tern_logger *logger, bool cuts, int64_t *newest)
{
    *newest = 0;
    DIR *list = opendir(logger->folder);
    TERN_CHECK(list, TERN_ERR_IO, "%s: cannot open the folder %.200s: %s", op, logger->folder,
               tern_text_reason(errno));
    const tern_status status = visit(logger, cuts, list, newest);
    closedir(list);
    return status;
}

tern_status tern_log_events_find(const tern_logger *logger, int64_t *newest)
{
    return visit_all(logger, false, newest);
}

tern_status tern_log_events_resume(const tern_logger *logger, int64_t *newest)
{
    return visit_all(logger, true, newest);
}
