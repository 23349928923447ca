// SPDX-License-Identifier: Apache-2.0
#include "base/pointer_map.h"

#include <string.h>
#include "base/error.h"
#include "base/mem.h"

typedef struct tern_pointer_slot {
    const void *key; // NULL: free
    int64_t index;
} tern_pointer_slot;

// Multiplies by 2^64 / golden ratio and keeps the high bits: neighbouring addresses spread.
static int64_t first_slot(const tern_pointer_map *map, const void *key)
{
    uint64_t mixed = ((uint64_t)(uintptr_t)key >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    return (int64_t)(mixed >> 32) & (map->capacity - 1);
}

// The slot of `key`, or the free one where it would go. There is a free one.
static tern_pointer_slot *find_slot(const tern_pointer_map *map, const void *key)
{
    int64_t at = first_slot(map, key);
    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

static tern_status grow(tern_pointer_map *map)
{
    tern_pointer_map grown = {.capacity = map->capacity ? 2 * map->capacity : 64};
    size_t nbytes = (size_t)grown.capacity * sizeof *grown.slots;
    grown.slots = tern_cache_alloc(nbytes); // walks may be part of every step
    if (!grown.slots)
        return TERN_ERR_NOMEM;
    memset(grown.slots, 0, nbytes);
    for (int64_t i = 0; i < map->capacity; i++)
        if (map->slots[i].key)
            *find_slot(&grown, map->slots[i].key) = map->slots[i];
    grown.count = map->count;
    tern_pointer_map_free(map);
    *map = grown;
    return TERN_OK;
}

tern_status tern_pointer_map_add(tern_pointer_map *map, const void *key, int64_t *index)
{
    if (2 * (map->count + 1) > map->capacity)
        TERN_TRY(grow(map));
    tern_pointer_slot *slot = find_slot(map, key);
    if (!slot->key)
        *slot = (tern_pointer_slot){key, map->count++};
    *index = slot->index;
    return TERN_OK;
}

int64_t tern_pointer_map_find(const tern_pointer_map *map, const void *key)
{
    if (map->count == 0)
        return -1;
    const tern_pointer_slot *slot = find_slot(map, key);
    return slot->key ? slot->index : -1;
}

void tern_pointer_map_free(tern_pointer_map *map)
{
    tern_cache_free(map->slots, (size_t)map->capacity * sizeof *map->slots);
    *map = (tern_pointer_map){0};
}
