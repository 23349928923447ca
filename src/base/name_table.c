// SPDX-License-Identifier: Apache-2.0
#include "base/name_table.h"

#include <string.h>
#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"

static const char *name_at(tern_named_array names, int64_t index)
{
    const char *name;
    memcpy(&name, (const char *)names.array + (size_t)index * names.stride, sizeof name);
    return name;
}

// The slot of the name, or the free one where it would go. There is a free one.
static int32_t *find_slot(const tern_name_table *table, tern_named_array names, const char *name)
{
    int64_t i = tern_hash_slot(tern_hash(name, strlen(name)), table->capacity);
    while (table->slots[i] && strcmp(name_at(names, table->slots[i] - 1), name) != 0)
        i = (i + 1) & (table->capacity - 1);
    return &table->slots[i];
}

void tern_name_table_add(tern_name_table *table, tern_named_array names, int64_t index)
{
    *find_slot(table, names, name_at(names, index)) = (int32_t)(index + 1);
}

int64_t tern_name_table_find(const tern_name_table *table, tern_named_array names, const char *name)
{
    return table->capacity ? *find_slot(table, names, name) - 1 : -1;
}

void tern_name_table_rebuild(tern_name_table *table, tern_named_array names, int64_t count)
{
    if (!table->capacity)
        return;
    memset(table->slots, 0, (size_t)table->capacity * sizeof *table->slots);
    for (int64_t i = 0; i < count; i++)
        tern_name_table_add(table, names, i);
}

tern_status tern_name_table_reserve(tern_name_table *table, tern_named_array names, int64_t count,
                                    int64_t wanted)
{
    tern_name_table grown = {.capacity = table->capacity ? table->capacity : 64};
    TERN_CHECK(wanted < INT32_MAX, TERN_ERR_NOMEM, "%lld names are more than a table can hold",
               (long long)wanted);
    while (2 * grown.capacity < 3 * wanted)
        grown.capacity *= 2;
    if (grown.capacity == table->capacity)
        return TERN_OK;
    grown.slots = tern_mem_alloc((size_t)grown.capacity * sizeof *grown.slots);
    if (!grown.slots)
        return TERN_ERR_NOMEM;
    tern_name_table_free(table);
    *table = grown;
    tern_name_table_rebuild(table, names, count);
    return TERN_OK;
}

void tern_name_table_free(tern_name_table *table)
{
    tern_mem_free(table->slots, (size_t)table->capacity * sizeof *table->slots);
    *table = (tern_name_table){0};
}
