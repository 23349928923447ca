// SPDX-License-Identifier: Apache-2.0
// Originals and what was made of them, in the order in which they were added.
#ifndef TERN_SRC_NN_MODULE_COPIED_MAP_H
#define TERN_SRC_NN_MODULE_COPIED_MAP_H

#include "base/pointer_map.h"

// Zero it to begin. Holds nothing.
typedef struct tern_copied_map {
    tern_pointer_map map; // the number of an original, of map.count
    const void **from;
    void **to;
    int64_t from_capacity, to_capacity;
} tern_copied_map;

// What was made of an original; NULL: nothing yet.
void *tern_copied_map_find(const tern_copied_map *copied, const void *original);
tern_status tern_copied_map_add(tern_copied_map *copied, const void *original, void *made);
void tern_copied_map_free(tern_copied_map *copied);

#endif
