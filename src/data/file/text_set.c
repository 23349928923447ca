// SPDX-License-Identifier: Apache-2.0
#include "data/file/text_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int64_t tern_text_set_find(const tern_text_set *set, const char *text)
{
    return tern_name_table_find(&set->table, TERN_NAMED_ARRAY(set->items), text);
}

tern_status tern_text_set_add(tern_text_set *set, tern_arena *arena, const char *text)
{
    if (tern_text_set_find(set, text) >= 0)
        return TERN_OK;
    TERN_CHECK(set->count < INT32_MAX, TERN_ERR_UNSUPPORTED,
               "data_csv: a column has more than %d "
               "different texts",
               INT32_MAX);
    TERN_TRY(
        tern_mem_grow((void **)&set->items, &set->capacity, set->count + 1, sizeof *set->items));
    TERN_TRY(tern_name_table_reserve(&set->table, TERN_NAMED_ARRAY(set->items), set->count,
                                     set->count + 1));
    char *copy = tern_arena_text(arena, text, strlen(text));
    if (!copy)
        return TERN_ERR_NOMEM;
    set->items[set->count].text = copy;
    tern_name_table_add(&set->table, TERN_NAMED_ARRAY(set->items), set->count++);
    return TERN_OK;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const tern_text_set_item *)a)->text, ((const tern_text_set_item *)b)->text);
}

void tern_text_set_sort(tern_text_set *set)
{
    if (set->count > 1)
        qsort(set->items, (size_t)set->count, sizeof *set->items, compare);
    tern_name_table_rebuild(&set->table, TERN_NAMED_ARRAY(set->items), set->count);
}

void tern_text_set_free(tern_text_set *set)
{
    tern_mem_free(set->items, (size_t)set->capacity * sizeof *set->items);
    tern_name_table_free(&set->table);
    *set = (tern_text_set){0};
}
