// SPDX-License-Identifier: Apache-2.0
#include "io/arena.h"

#include <stddef.h>
#include <string.h>
#include "base/mem.h"

#define FIRST_BLOCK 4096
#define ALIGNMENT   _Alignof(max_align_t)

typedef struct tern_arena_block {
    struct tern_arena_block *next;
    size_t size; // of the block
    _Alignas(max_align_t) char data[];
} tern_arena_block;

static tern_status add_block(tern_arena *a, size_t nbytes)
{
    size_t size = a->taken / 8 > FIRST_BLOCK ? a->taken / 8 : FIRST_BLOCK;
    if (size < sizeof(tern_arena_block) + nbytes)
        size = sizeof(tern_arena_block) + nbytes;
    tern_arena_block *block = tern_mem_alloc(size);
    if (!block)
        return TERN_ERR_NOMEM;
    block->next = a->blocks;
    block->size = size;
    a->blocks = block;
    a->size = size - sizeof *block;
    a->used = 0;
    a->taken += size;
    return TERN_OK;
}

static void *take(tern_arena *a, size_t nbytes)
{
    if (nbytes > a->size - a->used && add_block(a, nbytes))
        return NULL;
    char *memory = a->blocks->data + a->used;
    a->used += nbytes;
    return memory;
}

void *tern_arena_alloc(tern_arena *a, size_t nbytes)
{
    if (nbytes > SIZE_MAX / 2) {
        (void)tern_error_raise(TERN_ERR_NOMEM, "no memory for %zu bytes", nbytes);
        return NULL;
    }
    const size_t start = (a->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    a->used = start < a->size ? start : a->size;
    return take(a, nbytes);
}

char *tern_arena_text(tern_arena *a, const char *text, size_t length)
{
    char *copy = take(a, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void tern_arena_free(tern_arena *a)
{
    for (tern_arena_block *next, *block = a->blocks; block; block = next) {
        next = block->next;
        tern_mem_free(block, block->size);
    }
    *a = (tern_arena){.blocks = NULL};
}
