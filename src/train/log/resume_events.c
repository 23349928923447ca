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
#include "io/save.h"
#include "train/log/event_file.h"

static const char op[] = "logger_new";

// ---- one file -----------------------------------------------------------------------------------

// An event file in memory; NULL: it is empty.
typedef struct events {
    char path[PATH_MAX];
    const uint8_t *bytes;
    int64_t count;
} events;

static bool map_open(events *e, int fd)
{
    struct stat facts;
    errno = EINVAL;
    if (fstat(fd, &facts) || !S_ISREG(facts.st_mode))
        return false;
    e->count = (int64_t)facts.st_size;
    if (e->count == 0)
        return true;
    void *bytes = mmap(NULL, (size_t)e->count, PROT_READ, MAP_PRIVATE, fd, 0);
    e->bytes = bytes == MAP_FAILED ? NULL : bytes;
    return e->bytes != NULL;
}

static tern_status map(events *e, const tern_logger *logger, const char *name)
{
    (void)snprintf(e->path, sizeof e->path, "%.*s/%s", PATH_MAX - NAME_MAX - 2, logger->folder,
                   name);
    const int fd = open(e->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const bool done = fd >= 0 && map_open(e, fd);
    const int reason = errno;
    if (fd >= 0)
        close(fd);
    TERN_CHECK(done, TERN_ERR_IO, "%s: cannot read %.250s: %s", op, e->path,
               tern_text_reason(reason));
    return TERN_OK;
}

// Writes the records that stay; NULL: they are only counted. *nbytes of them.
static tern_status keep(const events *e, int64_t last_step, tern_save *save, int64_t *nbytes)
{
    int64_t size, step;
    *nbytes = 0;
    for (int64_t at = 0; tern_event_record(e->bytes + at, e->count - at, &size, &step);
         at += size) {
        if (step > last_step)
            continue;
        *nbytes += size;
        if (save)
            TERN_TRY(tern_save_write(save, e->bytes + at, (size_t)size));
    }
    return TERN_OK;
}

// Readers stop at what is not whole: a torn end is taken away as well.
static tern_status rewrite(const events *e, int64_t last_step)
{
    tern_save save;
    int64_t nbytes;
    TERN_TRY(keep(e, last_step, NULL, &nbytes));
    if (nbytes == e->count)
        return TERN_OK;
    TERN_TRY(tern_save_begin(&save, op, e->path));
    const tern_status status = keep(e, last_step, &save, &nbytes);
    if (!status)
        return tern_save_commit(&save);
    tern_save_abandon(&save);
    return status;
}

static tern_status cut(const tern_logger *logger, const char *name)
{
    events e = {.bytes = NULL};
    TERN_TRY(map(&e, logger, name));
    const tern_status status = e.bytes ? rewrite(&e, logger->resume_step) : TERN_OK;
    if (e.bytes)
        munmap((void *)(uintptr_t)e.bytes, (size_t)e.count);
    return status;
}

// ---- all of a folder ----------------------------------------------------------------------------

static bool is_empty(DIR *list, const char *name)
{
    struct stat facts;
    return fstatat(dirfd(list), name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && facts.st_size == 0;
}

// The greatest name of an event file that is less than `name`, which it becomes; "" for none.
static tern_status find_before(const tern_logger *logger, bool empty_too, char name[NAME_MAX + 1])
{
    char found[NAME_MAX + 1] = "";
    DIR *list = opendir(logger->folder);
    TERN_CHECK(list, TERN_ERR_IO, "%s: cannot open the folder %.200s: %s", op, logger->folder,
               tern_text_reason(errno));
    for (const struct dirent *file; (file = readdir(list));)
        if (strncmp(file->d_name, TERN_LOG_EVENTS_NAME, strlen(TERN_LOG_EVENTS_NAME)) == 0 &&
            strcmp(file->d_name, found) > 0 && strcmp(file->d_name, name) < 0 &&
            (empty_too || !is_empty(list, file->d_name)))
            (void)snprintf(found, sizeof found, "%s", file->d_name);
    closedir(list);
    memcpy(name, found, sizeof found);
    return TERN_OK;
}

// Behind every name of an event file.
static void begin(char name[NAME_MAX + 1])
{
    (void)snprintf(name, NAME_MAX + 1, "%s\x7f", TERN_LOG_EVENTS_NAME);
}

static int64_t seconds_of(const char *name)
{
    return *name ? strtoll(name + strlen(TERN_LOG_EVENTS_NAME), NULL, 10) : 0;
}

tern_status tern_log_events_find(const tern_logger *logger, int64_t *newest)
{
    char name[NAME_MAX + 1];
    begin(name);
    TERN_TRY(find_before(logger, false, name));
    *newest = seconds_of(name);
    return TERN_OK;
}

// The newest first: one that is killed in between leaves no hole in a curve.
tern_status tern_log_events_resume(const tern_logger *logger, int64_t *newest)
{
    char name[NAME_MAX + 1];
    begin(name);
    TERN_TRY(find_before(logger, true, name));
    *newest = seconds_of(name);
    while (*name) {
        TERN_TRY(cut(logger, name));
        TERN_TRY(find_before(logger, true, name));
    }
    return TERN_OK;
}
