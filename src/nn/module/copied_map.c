// SPDX-License-Identifier: Apache-2.0
#include "nn/module/copied_map.h"

#include "base/error.h"
#include "base/mem.h"

void *tern_copied_map_find(const tern_copied_map *copied, const void *original)
{
    int64_t index = tern_pointer_map_find(&copied->map, original);
    return index < 0 ? NULL : copied->to[index];
}

tern_status tern_copied_map_add(tern_copied_map *copied, const void *original, void *made)
{
    int64_t index, count = copied->map.count + 1;
    TERN_TRY(
        tern_mem_grow((void **)&copied->from, &copied->from_capacity, count, sizeof *copied->from));
    TERN_TRY(tern_mem_grow((void **)&copied->to, &copied->to_capacity, count, sizeof *copied->to));
    TERN_TRY(tern_pointer_map_add(&copied->map, original, &index));
    copied->from[index] = original;
    copied->to[index] = made;
    return TERN_OK;
}

void tern_copied_map_free(tern_copied_map *copied)
{
    tern_mem_free((void *)copied->from, (size_t)copied->from_capacity * sizeof *copied->from);
    tern_mem_free(copied->to, (size_t)copied->to_capacity * sizeof *copied->to);
    tern_pointer_map_free(&copied->map);
}
