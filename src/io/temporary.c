// SPDX-License-Identifier: Apache-2.0
#include "io/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Bytes of NAME that are kept: with the rest a name has at most 255.
#define MAX_NAME 200

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool tern_temporary_take(int fd)
{
    struct stat facts;
    while (flock(fd, LOCK_EX) && errno == EINTR) {
    }
    return fstat(fd, &facts) || facts.st_nlink > 0;
}

int tern_temporary_name(char temporary[PATH_MAX], const char *path, unsigned number)
{
    const char *name = base_name(path);
    const int length = snprintf(temporary, PATH_MAX, "%.*s.%.*s.tmp.%ld.%u", (int)(name - path),
                                path, MAX_NAME, name, (long)getpid(), number);
    return length < PATH_MAX ? 0 : -1;
}

// Digits alone up to `end`.
static bool is_number(const char *text, const char *end)
{
    const size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits < 10 && text + digits == end;
}

static bool fits(const char *name, const char *wanted, bool is_pattern)
{
    return is_pattern ? fnmatch(wanted, name, 0) == 0 : strncmp(wanted, name, MAX_NAME) == 0;
}

static bool is_temporary(const char *file, const char *wanted, bool is_pattern)
{
    char name[NAME_MAX + 1];
    const size_t length = strlen(file);
    if (length >= sizeof name || file[0] != '.')
        return false;
    memcpy(name, file + 1, length);
    char *number = strrchr(name, '.');
    if (!number || !is_number(number + 1, name + length - 1))
        return false;
    *number = 0;
    char *pid = strrchr(name, '.');
    if (!pid || !is_number(pid + 1, number) || pid - name < 4 || memcmp(pid - 4, ".tmp", 4) != 0)
        return false;
    pid[-4] = 0;
    return fits(name, wanted, is_pattern);
}

// Whoever writes it holds the lock.
static void remove_left(int folder, const char *file)
{
    const int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, file, 0);
    close(fd);
}

void tern_temporaries_remove(const char *path, bool is_pattern)
{
    char folder[PATH_MAX];
    const char *name = base_name(path);
    snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path);
    DIR *open_folder = opendir(name == path ? "." : folder);
    if (!open_folder)
        return;
    for (const struct dirent *file; (file = readdir(open_folder));)
        if (is_temporary(file->d_name, name, is_pattern))
            remove_left(dirfd(open_folder), file->d_name);
    closedir(open_folder);
}
