// SPDX-License-Identifier: Apache-2.0
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

// More of a path than this would push the reason out of the sentence.
#define PATH_SHOWN 200

// The largest single read: Linux reads no more than this at once.
#define READ_BYTES 0x7ffff000u

const char *tern_file_shown(const char *path)
{
    size_t length = strlen(path);
    if (length <= PATH_SHOWN)
        return path;
    path += length - PATH_SHOWN;
    while (((unsigned char)*path & 0xC0) == 0x80) // not in the middle of a UTF-8 sequence
        path++;
    return path;
}

static tern_status look(const tern_file *file, struct stat *facts)
{
    TERN_CHECK(fstat(file->fd, facts) == 0, TERN_ERR_IO, "%s: cannot look at %s: %s", file->op,
               file->path, tern_text_reason(errno));
    return TERN_OK;
}

static tern_status check_kind(const tern_file *file)
{
    struct stat facts;
    TERN_TRY(look(file, &facts));
    TERN_CHECK(!S_ISDIR(facts.st_mode), TERN_ERR_IO, "%s: %s is a directory, not a file", file->op,
               file->path);
    TERN_CHECK(S_ISREG(facts.st_mode), TERN_ERR_IO,
               "%s: %s is a pipe or a device, not a regular file", file->op, file->path);
    return TERN_OK;
}

tern_status tern_file_open(tern_file *file, const char *op, const char *path)
{
    *file = (tern_file){.op = op, .path = tern_file_shown(path), .fd = -1};
    do // without O_NONBLOCK a pipe would wait for its writer
        file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (file->fd < 0 && errno == EINTR);
    TERN_CHECK(file->fd >= 0, TERN_ERR_IO, "%s: cannot open %s: %s", op, file->path,
               tern_text_reason(errno));
    tern_status status = check_kind(file);
    if (status)
        tern_file_close(file);
    return status;
}

tern_status tern_file_read(tern_file *file, void *data, size_t nbytes, size_t *got)
{
    *got = 0;
    while (*got < nbytes) {
        size_t wanted = nbytes - *got < READ_BYTES ? nbytes - *got : READ_BYTES;
        ssize_t count = read(file->fd, (char *)data + *got, wanted);
        if (count < 0 && errno == EINTR)
            continue;
        TERN_CHECK(count >= 0, TERN_ERR_IO, "%s: cannot read %s: %s", file->op, file->path,
                   tern_text_reason(errno));
        if (count == 0)
            break;
        *got += (size_t)count;
    }
    return TERN_OK;
}

tern_status tern_file_read_at(tern_file *file, int64_t at, void *data, size_t nbytes)
{
    for (size_t done = 0; done < nbytes;) {
        size_t wanted = nbytes - done < READ_BYTES ? nbytes - done : READ_BYTES;
        ssize_t count = pread(file->fd, (char *)data + done, wanted, at + (off_t)done);
        if (count < 0 && errno == EINTR)
            continue;
        TERN_CHECK(count >= 0, TERN_ERR_IO, "%s: cannot read %s: %s", file->op, file->path,
                   tern_text_reason(errno));
        TERN_CHECK(count > 0, TERN_ERR_FORMAT,
                   "%s: %s ends at byte %lld, where %zu more are to be read", file->op, file->path,
                   (long long)(at + (off_t)done), nbytes - done);
        done += (size_t)count;
    }
    return TERN_OK;
}

tern_status tern_file_stat(tern_file *file)
{
    struct stat facts;
    TERN_TRY(look(file, &facts));
    file->size = facts.st_size;
    file->changed = facts.st_mtim;
    return TERN_OK;
}

tern_status tern_file_check_same(const tern_file *file)
{
    struct stat facts;
    TERN_TRY(look(file, &facts));
    TERN_CHECK(facts.st_size == file->size && facts.st_mtim.tv_sec == file->changed.tv_sec &&
                   facts.st_mtim.tv_nsec == file->changed.tv_nsec,
               TERN_ERR_IO, "%s: %s was written to while it was read", file->op, file->path);
    return TERN_OK;
}

void tern_file_close(tern_file *file)
{
    if (file->fd >= 0)
        close(file->fd); // after EINTR it is closed as well
    file->fd = -1;
}
