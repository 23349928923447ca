// SPDX-License-Identifier: Apache-2.0
// What runs, per thread: how deep it is inside callbacks, the path of the module, the sample.
#include "base/path.h"
#include <string.h>

#include "base/callback.h"
#include "base/process.h"

_Thread_local int tern_callback_depth;
_Thread_local int tern_callback_cancel_state;

_Thread_local uint32_t tern_path_of_thread;
_Thread_local const char *tern_backward_of_thread;
_Thread_local tern_sample_position tern_sample_of_thread;
_Thread_local char tern_replica_of_thread[24];

tern_path_table tern_paths = {.lock = PTHREAD_MUTEX_INITIALIZER, .first = 1};

tern_path_entry *tern_path_entry_of(uint32_t path)
{
    const uint32_t index = path - atomic_load_explicit(&tern_paths.first, memory_order_relaxed);
    if (!tern_path_is_known(path) || index / TERN_PATH_BLOCK_ENTRIES >= TERN_PATH_BLOCKS)
        return NULL;
    tern_path_block *block = tern_paths.blocks[index / TERN_PATH_BLOCK_ENTRIES];
    return block ? &block->at[index % TERN_PATH_BLOCK_ENTRIES] : NULL;
}

// Puts `text` in front of what stands at `at`. What does not fit is cut on the left.
static char *prepend(char *begin, char *at, const char *text)
{
    size_t length = strlen(text);
    size_t space = (size_t)(at - begin);
    size_t taken = length < space ? length : space;
    memcpy(at - taken, text + (length - taken), taken);
    return at - taken;
}

static bool has_name(const tern_path_entry *entry)
{
    return entry->name[0];
}

// True when an entry outside this one has a name, so that a dot is due.
static bool has_outer_name(const tern_path_entry *entry)
{
    while ((entry = tern_path_entry_of(entry->parent)))
        if (has_name(entry))
            return true;
    return false;
}

// From the end of the buffer, as far as there is space; returns where it begins.
static char *prepend_path(char *buffer, char *at, const tern_path_entry *entry)
{
    if (entry) {
        bool named = has_name(entry) || has_outer_name(entry);
        at = named ? prepend(buffer, at, ")") : at;
        at = prepend(buffer, at, entry->class_name);
        at = named ? prepend(buffer, at, " (") : at;
    }
    for (; entry; entry = tern_path_entry_of(entry->parent)) {
        if (!has_name(entry))
            continue;
        at = prepend(buffer, at, entry->name);
        if (has_outer_name(entry))
            at = prepend(buffer, at, ".");
    }
    return at;
}

void tern_path_format(uint32_t path, char *buffer, size_t size)
{
    if (size == 0)
        return;
    char *at = buffer + size - 1;
    *at = 0;
    if (tern_path_is_known(path)) {
        tern_lock(&tern_paths.lock);
        at = prepend_path(buffer, at, tern_path_entry_of(path));
        tern_unlock(&tern_paths.lock);
    }
    memmove(buffer, at, (size_t)(buffer + size - at));
}
