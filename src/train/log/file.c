// SPDX-License-Identifier: Apache-2.0
#include "train/log/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_retried(const char *path)
{
    int fd;
    do
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

bool tern_log_file_open(tern_log_file *file, const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat facts;
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    errno = ENAMETOOLONG;
    file->fd = -1;
    if (length >= (int)sizeof path || strlen(name) >= sizeof file->name)
        return false;
    snprintf(file->name, sizeof file->name, "%s", name);
    file->fd = open_retried(path);
    if (file->fd < 0)
        return false;
    if (fstat(file->fd, &facts) == 0 && S_ISREG(facts.st_mode)) {
        file->size = (int64_t)facts.st_size;
        return true;
    }
    close(file->fd);
    file->fd = -1;
    errno = EINVAL;
    return false;
}

static bool write_all(int fd, const uint8_t *bytes, int64_t count)
{
    while (count > 0) {
        const ssize_t done = write(fd, bytes, (size_t)count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = done < 0 ? errno : ENOSPC;
            return false;
        }
        bytes += done;
        count -= done;
    }
    return true;
}

bool tern_log_file_flush(tern_log_file *file)
{
    const int64_t entries = file->entries, count = file->pending.count;
    file->entries = 0;
    tern_log_bytes_cut(&file->pending, 0);
    if (file->fd < 0 || count == 0)
        return true;
    if (write_all(file->fd, file->pending.data, count)) {
        file->size += count;
        return true;
    }
    const int reason = errno;
    (void)!ftruncate(file->fd, (off_t)file->size); // else readers meet a torn entry
    errno = reason;
    file->unwritten += entries;
    return false;
}

void tern_log_file_close(tern_log_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    tern_log_bytes_free(&file->pending);
}
