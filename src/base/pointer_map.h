// SPDX-License-Identifier: Apache-2.0
// A hash map from pointers to their numbers, 0, 1, ... in the order of insertion, so that a walk
// over a graph visits each object once.
#ifndef TERN_SRC_BASE_POINTER_MAP_H
#define TERN_SRC_BASE_POINTER_MAP_H

#include <stdint.h>
#include <tern/error.h>

// Zero it to begin; open addressing, at most half full.
typedef struct tern_pointer_map {
    struct tern_pointer_slot *slots;
    int64_t capacity; // a power of two
    int64_t count;
} tern_pointer_map;

// *index becomes the number of `key`, a new one (the count before) when it was not there.
tern_status tern_pointer_map_add(tern_pointer_map *map, const void *key, int64_t *index);

// The number of `key`, -1 when it is not there.
int64_t tern_pointer_map_find(const tern_pointer_map *map, const void *key);

void tern_pointer_map_free(tern_pointer_map *map);

#endif
