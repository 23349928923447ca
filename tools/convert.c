// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include "tern_file.h"

// A link that leads nowhere is something, too.
bool may_write(const arguments *given, const char *path)
{
    struct stat there;
    if (given->force || lstat(path, &there))
        return true;
    say("%s exists already; --force replaces it", path);
    return false;
}

static int write_state(const arguments *given, const tern_state *state, const description *from)
{
    const char *path = given->files[1];
    description to;
    if (tern_state_write(state, path, .format = given->format) || !describe(path, &to))
        return failed();
    say_what_is_lost(given, state, from, &to);
    return 0;
}

int convert(const arguments *given)
{
    const char *path = given->files[0];
    description from;
    if (!may_write(given, given->files[1]))
        return EXIT_UNUSABLE;
    tern_state *state =
        tern_state_read(path, .map_location = given->map_location, .only = given->only);
    const int status = state && describe(path, &from) ? write_state(given, state, &from) : failed();
    tern_state_free(state);
    return status;
}
