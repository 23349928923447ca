// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "train/resources/reading.h"

bool tern_system_read(const char *root, const char *path, char *text, size_t size)
{
    char name[512];
    text[0] = 0;
    if (snprintf(name, sizeof name, "%s%s", root, path) >= (int)sizeof name)
        return false;
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    size_t length = 0;
    ssize_t got = 1;
    while (length < size - 1 && (got = read(file, text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = 0;
    (void)close(file);
    return got >= 0 && length > 0;
}

const char *tern_system_find(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0)
            continue;
        const char *value = line + length;
        if (strchr(" \t:=", *value) && *value)
            return value + strspn(value, " \t:=");
    }
    return NULL;
}
