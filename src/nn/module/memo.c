// SPDX-License-Identifier: Apache-2.0
#include "nn/module/memo.h"

#include "base/error.h"
#include "base/mem.h"

void *tern_memo_find(const tern_memo *memo, const void *original)
{
    int64_t index = tern_pointer_map_find(&memo->map, original);
    return index < 0 ? NULL : memo->to[index];
}

tern_status tern_memo_note(tern_memo *memo, const void *original, void *made)
{
    int64_t index, count = memo->map.count + 1;
    TERN_TRY(tern_mem_grow((void **)&memo->from, &memo->from_capacity, count, sizeof *memo->from));
    TERN_TRY(tern_mem_grow((void **)&memo->to, &memo->to_capacity, count, sizeof *memo->to));
    TERN_TRY(tern_pointer_map_add(&memo->map, original, &index));
    memo->from[index] = original;
    memo->to[index] = made;
    return TERN_OK;
}

void tern_memo_free(tern_memo *memo)
{
    tern_mem_free((void *)memo->from, (size_t)memo->from_capacity * sizeof *memo->from);
    tern_mem_free(memo->to, (size_t)memo->to_capacity * sizeof *memo->to);
    tern_pointer_map_free(&memo->map);
}
