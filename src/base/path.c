// SPDX-License-Identifier: Apache-2.0
// What runs, per thread: how deep it is inside callbacks, and the path of the module.
#include <string.h>

#include "base/callback.h"
#include "base/path.h"

_Thread_local int tern_callback_depth;
_Thread_local int tern_callback_cancel_state;

static _Thread_local tern_path_entry *innermost;

void tern_path_push(tern_path_entry *entry)
{
    entry->parent = innermost;
    innermost = entry;
}

void tern_path_pop(void)
{
    if (innermost)
        innermost = innermost->parent;
}

// Puts `text` in front of what stands at `at`. What does not fit is cut on the left.
static char *prepend(char *begin, char *at, const char *text)
{
    size_t length = strlen(text);
    size_t room = (size_t)(at - begin);
    size_t taken = length < room ? length : room;
    memcpy(at - taken, text + (length - taken), taken);
    return at - taken;
}

static bool has_name(const tern_path_entry *entry)
{
    return entry->name && entry->name[0];
}

// True when an entry outside this one has a name, so that a dot is due.
static bool has_outer_name(const tern_path_entry *entry)
{
    for (entry = entry->parent; entry; entry = entry->parent)
        if (has_name(entry))
            return true;
    return false;
}

void tern_path_format(char *buffer, size_t size)
{
    if (size == 0)
        return;
    char *at = buffer + size - 1;
    *at = 0;
    if (innermost) {
        const char *class_name = innermost->class_name ? innermost->class_name : "?";
        bool named = has_name(innermost) || has_outer_name(innermost);
        at = named ? prepend(buffer, at, ")") : at;
        at = prepend(buffer, at, class_name);
        at = named ? prepend(buffer, at, " (") : at;
    }
    for (const tern_path_entry *entry = innermost; entry; entry = entry->parent) {
        if (!has_name(entry))
            continue;
        at = prepend(buffer, at, entry->name);
        if (has_outer_name(entry))
            at = prepend(buffer, at, ".");
    }
    memmove(buffer, at, (size_t)(buffer + size - at));
}
