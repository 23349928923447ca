// SPDX-License-Identifier: Apache-2.0
// Names compared without one path component, what .strip_component asks for: "module" makes
// "features.module.0.weight" the same name as "features.0.weight".
#ifndef TERN_SRC_STATE_STRIPPED_NAMES_H
#define TERN_SRC_STATE_STRIPPED_NAMES_H

#include "base/name_table.h"
#include "state/state.h"

typedef struct tern_stripped_name {
    char *name;        // without the component
    int64_t index;     // what the first such name was added with
    int64_t duplicate; // that of the next such name; -1: there is none
} tern_stripped_name;

// Zero it to begin, but for the component.
typedef struct tern_stripped_names {
    const char *component; // borrowed
    tern_stripped_name *entries;
    int64_t count, capacity;
    tern_name_table table; // of the entries
} tern_stripped_names;

tern_status tern_stripped_names_add(tern_stripped_names *names, const char *name, int64_t index);
// The names that equal `name` without the component; NULL where there are none.
const tern_stripped_name *tern_stripped_names_find(const tern_stripped_names *names,
                                                   const char *name);
void tern_stripped_names_free(tern_stripped_names *names);

// Writes the component that `a` or `b` has, and without which the two are the same, to `component`.
// False where there is none of less than `size` bytes.
bool tern_component_between(const char *a, const char *b, char *component, size_t size);

#endif
