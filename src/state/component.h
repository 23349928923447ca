// SPDX-License-Identifier: Apache-2.0
// Names compared without one component, what .strip_component asks for: a hash table over names
// with every such component taken out.
#ifndef TERN_SRC_STATE_COMPONENT_H
#define TERN_SRC_STATE_COMPONENT_H

#include "state/state.h"

// The first name that was added of those that are the same without the component.
typedef struct tern_bare_name {
    const char *name; // with the component, borrowed; NULL: the place is free
    uint64_t hash;    // of the name without it
    int64_t index;    // what it was added with
    int64_t twin;     // that of the next such name; -1: there is none
} tern_bare_name;

typedef struct tern_bare_names {
    const char *component;  // borrowed
    tern_bare_name *places; // open addressing, at most half full; NULL: there are no names
    int64_t place_count;    // a power of two, or 0
} tern_bare_names;

// An empty table for at most `count` names.
tern_status tern_bare_names_init(tern_bare_names *names, const char *component, int64_t count);
void tern_bare_names_free(tern_bare_names *names);
void tern_bare_names_add(tern_bare_names *names, const char *name, int64_t index);
// Those that are `name` without the component; NULL where there are none.
tern_bare_name *tern_bare_names_find(const tern_bare_names *names, const char *name);

// Writes the component that `a` or `b` has, and without which the two are the same, to `component`.
// False where there is none of less than `size` bytes.
bool tern_component_between(const char *a, const char *b, char *component, size_t size);

#endif
