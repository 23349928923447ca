// SPDX-License-Identifier: Apache-2.0
// Different texts, numbered: in the order of coming until they are sorted, then in that of their
// bytes.
#ifndef TERN_SRC_DATA_FILE_TEXT_SET_H
#define TERN_SRC_DATA_FILE_TEXT_SET_H

#include "base/name_table.h"
#include "io/arena.h"

typedef struct tern_text_set_item {
    const char *text; // in an arena
} tern_text_set_item;

typedef struct tern_text_set {
    tern_text_set_item *items;
    int64_t count, capacity;
    tern_name_table table;
} tern_text_set;

// Adds a text, of which the arena, that of all adds, gets a copy, unless it is there.
tern_status tern_text_set_add(tern_text_set *set, tern_arena *arena, const char *text);
// The number of a text; -1 where it is not there.
int64_t tern_text_set_find(const tern_text_set *set, const char *text);
void tern_text_set_sort(tern_text_set *set);
// A zeroed one is fine.
void tern_text_set_free(tern_text_set *set);

#endif
