// SPDX-License-Identifier: Apache-2.0
// The system calls by which files are saved, in the place of those of the C library (the linker's
// --wrap): each can be made to fail, to do less than it is asked to, and is written down.
#ifndef TERN_TESTS_FILE_CALLS_H
#define TERN_TESTS_FILE_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

typedef enum call_kind {
    OPEN,
    WRITE,
    FSYNC,
    CLOSE,
    RENAME,
    LINK,
    UNLINK,
    PREAD,
    CALL_KINDS
} call_kind;

static const char *const call_names[] = {"open",   "write", "fsync",  "close",
                                         "rename", "link",  "unlink", "pread"};

static struct {
    bool watched;
    int count[CALL_KINDS]; // since calls_watch
    call_kind kind;        // which call fails,
    int nth;               // the how manieth of its kind, from 1; 0: none
    int error;             // and with what
    bool fired;
    bool is_renamed; // one of the renames was done
    bool is_short;   // at most 100 bytes are written or read at once, and every other call is EINTR
    // Told of each call that was done.
    void (*note)(call_kind kind, int fd, const char *name, const char *to, const void *bytes,
                 ssize_t size);
} calls;

static inline void calls_watch(void)
{
    memset(calls.count, 0, sizeof calls.count);
    calls.fired = calls.is_renamed = false;
    calls.watched = true;
}

static inline bool call_fails(call_kind kind)
{
    if (!calls.watched || ++calls.count[kind] != calls.nth || kind != calls.kind)
        return false;
    calls.fired = true;
    errno = calls.error;
    return true;
}

static inline void call_note(call_kind kind, int fd, const char *name, const char *to,
                             const void *bytes, ssize_t size)
{
    if (calls.watched && calls.note && size >= 0)
        calls.note(kind, fd, name, to, bytes, size);
}

// Less than was asked for, and nothing in between.
static inline bool call_is_interrupted(call_kind kind, size_t *nbytes)
{
    if (!calls.watched || !calls.is_short)
        return false;
    *nbytes = *nbytes > 100 ? 100 : *nbytes;
    errno = EINTR;
    return calls.count[kind] % 2 == 0;
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
ssize_t __real_write(int fd, const void *bytes, size_t nbytes);
ssize_t __wrap_write(int fd, const void *bytes, size_t nbytes);
ssize_t __real_pread64(int fd, void *bytes, size_t nbytes, off_t at);
ssize_t __wrap_pread64(int fd, void *bytes, size_t nbytes, off_t at);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);

int __wrap_open64(const char *path, int flags, ...)
{
    va_list words;
    va_start(words, flags);
    const int mode = flags & O_CREAT ? va_arg(words, int) : 0;
    va_end(words);
    if (call_fails(OPEN))
        return -1;
    const int fd = __real_open64(path, flags, mode);
    call_note(OPEN, fd, flags & O_CREAT ? path : NULL, NULL, NULL, fd);
    return fd;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t nbytes)
{
    if (call_fails(WRITE) || call_is_interrupted(WRITE, &nbytes))
        return -1;
    const ssize_t done = __real_write(fd, bytes, nbytes);
    call_note(WRITE, fd, NULL, NULL, bytes, done);
    return done;
}

ssize_t __wrap_pread64(int fd, void *bytes, size_t nbytes, off_t at)
{
    if (call_fails(PREAD) || call_is_interrupted(PREAD, &nbytes))
        return -1;
    return __real_pread64(fd, bytes, nbytes, at);
}

int __wrap_fsync(int fd)
{
    size_t none = 0;
    if (call_fails(FSYNC) || call_is_interrupted(FSYNC, &none))
        return -1;
    const int failed = __real_fsync(fd);
    call_note(FSYNC, fd, NULL, NULL, NULL, failed);
    return failed;
}

// The descriptor is closed also when the call fails.
int __wrap_close(int fd)
{
    const bool fails = call_fails(CLOSE);
    const int error = errno, failed = __real_close(fd);
    call_note(CLOSE, fd, NULL, NULL, NULL, failed);
    if (fails)
        errno = error;
    return fails ? -1 : failed;
}

int __wrap_rename(const char *from, const char *to)
{
    if (call_fails(RENAME))
        return -1;
    const int failed = __real_rename(from, to);
    calls.is_renamed = calls.is_renamed || !failed;
    call_note(RENAME, -1, from, to, NULL, failed);
    return failed;
}

int __wrap_link(const char *from, const char *to)
{
    if (call_fails(LINK))
        return -1;
    const int failed = __real_link(from, to);
    call_note(LINK, -1, from, to, NULL, failed);
    return failed;
}

int __wrap_unlink(const char *path)
{
    if (call_fails(UNLINK))
        return -1;
    const int failed = __real_unlink(path);
    call_note(UNLINK, -1, path, NULL, NULL, failed);
    return failed;
}

#endif
