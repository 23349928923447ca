// SPDX-License-Identifier: Apache-2.0
#include "io/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/file.h"
#include "io/temporary.h"

// The largest single write: Linux writes no more than this at once.
#define WRITE_BYTES 0x7ffff000u

static tern_status refuse(const tern_save *save, const char *what)
{
    return tern_error_raise(TERN_ERR_IO, "%s: cannot %s %s: %s", save->op, what, save->shown,
                            tern_text_reason(errno));
}

// ---- where it goes ------------------------------------------------------------------------------

// The path with links resolved; one that is not there yet stays as it is.
static tern_status resolve(tern_save *save, const char *path, mode_t *mode)
{
    struct stat facts;
    *mode = 0;
    if (lstat(path, &facts)) {
        if (errno != ENOENT)
            return refuse(save, "look at");
        errno = ENAMETOOLONG;
        const bool fits = strlen(path) < sizeof save->path;
        return fits ? strcpy(save->path, path), TERN_OK : refuse(save, "write");
    }
    if (!realpath(path, save->path) || stat(save->path, &facts))
        return refuse(save, "follow");
    TERN_CHECK(!S_ISDIR(facts.st_mode), TERN_ERR_IO, "%s: %s is a directory, not a file", save->op,
               save->shown);
    TERN_CHECK(S_ISREG(facts.st_mode), TERN_ERR_IO,
               "%s: %s is a pipe or a device, not a regular file", save->op, save->shown);
    *mode = facts.st_mode & 07777;
    return TERN_OK;
}

// Of an existing file the modes stay; the temporary one is nobody else's until it has them.
static tern_status create(tern_save *save, mode_t mode)
{
    static _Atomic unsigned counter;
    do {
        if (tern_temporary_name(save->temporary, save->path, atomic_fetch_add(&counter, 1)))
            return errno = ENAMETOOLONG, refuse(save, "write");
        save->fd = open(save->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                        mode ? 0600 : 0666);
        if (save->fd >= 0 && !tern_temporary_take(save->fd)) {
            close(save->fd);
            save->fd = -1;
            errno = EEXIST;
        }
    } while (save->fd < 0 && (errno == EINTR || errno == EEXIST));
    if (save->fd < 0)
        return refuse(save, "write");
    if (mode && fchmod(save->fd, mode)) {
        tern_status status = refuse(save, "set the permissions of");
        tern_save_abandon(save);
        return status;
    }
    return TERN_OK;
}

tern_status tern_save_begin(tern_save *save, const char *op, const char *path)
{
    mode_t mode;
    save->op = op;
    save->shown = tern_file_shown(path);
    save->fd = -1;
    save->used = 0;
    save->written = 0;
    save->temporary[0] = 0;
    TERN_TRY(resolve(save, path, &mode));
    tern_temporaries_remove(save->path, false);
    return create(save, mode);
}

// ---- bytes --------------------------------------------------------------------------------------

static tern_status write_out(tern_save *save, const void *data, size_t nbytes)
{
    for (size_t done = 0; done < nbytes;) {
        size_t wanted = nbytes - done < WRITE_BYTES ? nbytes - done : WRITE_BYTES;
        ssize_t count = write(save->fd, (const char *)data + done, wanted);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            errno = count < 0 ? errno : ENOSPC;
            return refuse(save, "write");
        }
        done += (size_t)count;
    }
    return TERN_OK;
}

static tern_status flush(tern_save *save)
{
    const size_t used = save->used;
    save->used = 0;
    return write_out(save, save->buffer, used);
}

tern_status tern_save_write(tern_save *save, const void *data, size_t nbytes)
{
    if (nbytes > sizeof save->buffer - save->used)
        TERN_TRY(flush(save));
    save->written += (int64_t)nbytes;
    if (nbytes > sizeof save->buffer)
        return write_out(save, data, nbytes);
    if (nbytes > 0)
        memcpy(save->buffer + save->used, data, nbytes);
    save->used += nbytes;
    return TERN_OK;
}

tern_status tern_save_pad(tern_save *save, size_t alignment)
{
    static const char zeros[64];
    for (size_t more; (more = (size_t)save->written % alignment) != 0;) {
        more = alignment - more < sizeof zeros ? alignment - more : sizeof zeros;
        TERN_TRY(tern_save_write(save, zeros, more));
    }
    return TERN_OK;
}

// ---- the end ------------------------------------------------------------------------------------

void tern_save_abandon(tern_save *save)
{
    if (save->fd >= 0)
        close(save->fd);
    if (save->temporary[0])
        unlink(save->temporary);
    save->fd = -1;
    save->temporary[0] = 0;
}

static int sync_retried(int fd)
{
    int failed;
    do
        failed = fsync(fd);
    while (failed && errno == EINTR);
    return failed;
}

int tern_folder_sync(const char *folder)
{
    int fd;
    do
        fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return errno == EACCES ? 0 : -1; // one that may be written to but not read
    const int failed = sync_retried(fd) && errno != EINVAL && errno != EROFS; // some cannot
    const int reason = errno;
    close(fd);
    errno = reason;
    return failed ? -1 : 0;
}

// The name is on the disk when its folder is.
static tern_status sync_folder(const tern_save *save)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(save->path, '/');
    const size_t length = slash ? (size_t)(slash - save->path) + 1 : 2;
    memcpy(folder, slash ? save->path : "./", length);
    folder[length] = 0;
    TERN_CHECK(tern_folder_sync(folder) == 0, TERN_ERR_IO,
               "%s: %s is written, but may be lost when the machine stops now: its folder cannot "
               "be put on the disk: %s",
               save->op, save->shown, tern_text_reason(errno));
    return TERN_OK;
}

static tern_status close_and_rename(tern_save *save)
{
    const int fd = save->fd;
    save->fd = -1;
    if (close(fd) && errno != EINTR)
        return refuse(save, "write");
    return rename(save->temporary, save->path) ? refuse(save, "replace") : TERN_OK;
}

// Until it has its name the file stays locked: another process would take it for one that was left.
static tern_status finish(tern_save *save)
{
    TERN_TRY(flush(save));
    if (sync_retried(save->fd))
        return refuse(save, "put on the disk");
    const int locked = fcntl(save->fd, F_DUPFD_CLOEXEC, 0);
    if (locked < 0)
        return refuse(save, "write");
    tern_status status = close_and_rename(save);
    close(locked);
    return status;
}

tern_status tern_save_commit(tern_save *save)
{
    tern_status status = finish(save);
    if (status) {
        tern_save_abandon(save);
        return status;
    }
    save->temporary[0] = 0;
    return sync_folder(save);
}
