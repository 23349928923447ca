// SPDX-License-Identifier: Apache-2.0
// Which entry of a state has a name of the object: the names of entries without .prefix, as .strip
// and .rename change them, and where none of them is it, the same without .strip_component.
#ifndef TERN_SRC_STATE_KEY_MAP_H
#define TERN_SRC_STATE_KEY_MAP_H

#include "base/name_table.h"
#include "state/state.h"

typedef struct tern_key {
    char *name;     // that an entry has for the object; NULL: it does not count
    char *stripped; // the same without the component, where there is one; else NULL
    char *alias;    // the object's, where it was found as another than `name`; else NULL
} tern_key;

typedef struct tern_key_match {
    const char *name;  // borrowed
    int64_t index;     // of the first entry that has it
    int64_t duplicate; // of the next; -1: there is none
} tern_key_match;

typedef struct tern_key_table {
    tern_key_match *at;
    int64_t count, capacity;
    tern_name_table table; // of the matches
} tern_key_table;

// Zero it to begin.
typedef struct tern_key_map {
    const tern_state_load_options *options;
    tern_key *keys; // of each entry
    int64_t count;
    tern_key_table renamed;  // by `name`
    tern_key_table stripped; // by `stripped`
} tern_key_map;

// Of the entries of `state`, which may be NULL, by the options for names. It is to be freed also
// after a failure.
tern_status tern_key_map_make(tern_key_map *map, const char *function,
                              const tern_state_load_options *options, const tern_state *state);
// The entries that have the object's `name`; NULL where there are none.
const tern_key_match *tern_key_map_find(const tern_key_map *map, const char *name);
void tern_key_map_free(tern_key_map *map);

// Writes the component that `a` or `b` has, and without which the two are the same, to `component`.
// False where there is none of less than `size` bytes.
bool tern_component_between(const char *a, const char *b, char *component, size_t size);

#endif
