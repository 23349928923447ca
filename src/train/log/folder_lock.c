// SPDX-License-Identifier: Apache-2.0
// A lock file with the number of the process that writes to the folder. It is gone when that ends;
// one that was killed leaves it, unlocked.
#include "train/log/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/text.h"

#define LOCK_NAME ".log.lock"

static const char op[] = "logger_new";

static void path_of(const tern_logger *logger, char path[PATH_MAX])
{
    (void)snprintf(path, PATH_MAX, "%.*s/" LOCK_NAME, PATH_MAX - 16, logger->folder);
}

static int flock_retried(int fd)
{
    int failed;
    do
        failed = flock(fd, LOCK_EX | LOCK_NB);
    while (failed && errno == EINTR);
    return failed;
}

static tern_status refuse(const char *shown, int fd)
{
    char pid[24] = "";
    const ssize_t count = pread(fd, pid, sizeof pid - 1, 0);
    pid[count > 0 ? count : 0] = 0;
    return tern_error_raise(TERN_ERR_STATE,
                            "%s: process %s logs to %.200s already: one folder is for one run", op,
                            *pid ? pid : "?", shown);
}

// The pid is for messages: that it cannot be written is no failure.
static void write_pid(int fd)
{
    char pid[24];
    const int length = snprintf(pid, sizeof pid, "%ld", (long)getpid());
    (void)!ftruncate(fd, 0);
    (void)!pwrite(fd, pid, (size_t)length, 0);
}

// False where whoever had it has just taken it away.
static bool is_there(int fd)
{
    struct stat facts;
    return fstat(fd, &facts) || facts.st_nlink > 0;
}

tern_status tern_log_folder_lock(tern_logger *logger, const char *shown)
{
    char path[PATH_MAX];
    path_of(logger, path);
    for (;;) {
        const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0 && errno == EINTR)
            continue;
        TERN_CHECK(fd >= 0, TERN_ERR_IO, "%s: cannot write %.200s: %s", op, path,
                   tern_text_reason(errno));
        if (flock_retried(fd) && errno == EWOULDBLOCK) {
            const tern_status status = refuse(shown, fd);
            close(fd);
            return status;
        }
        if (is_there(fd)) { // also on a file system without locks
            write_pid(fd);
            logger->lock_fd = fd;
            return TERN_OK;
        }
        close(fd);
    }
}

void tern_log_folder_leave(tern_logger *logger)
{
    char path[PATH_MAX];
    if (logger->lock_fd < 0)
        return;
    path_of(logger, path);
    unlink(path);
    close(logger->lock_fd);
    logger->lock_fd = -1;
}
