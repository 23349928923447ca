// SPDX-License-Identifier: Apache-2.0
// Plain allocation: what is not storage of tensors and does not come and go in every step.
#include "base/mem.h"
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/integer.h"

void *tern_mem_try(size_t nbytes)
{
    void *memory = tern_allocator_alloc(nbytes, 64, tern_cache_reclaim);
    return memory ? memset(memory, 0, nbytes) : NULL;
}

void *tern_mem_alloc(size_t nbytes)
{
    if (tern_fork_check())
        return NULL;
    void *memory = tern_mem_try(nbytes);
    TERN_CHECK_PTR(memory, TERN_ERR_NOMEM, "no memory for %zu bytes", nbytes);
    return memory;
}

void tern_mem_free(void *memory, size_t nbytes)
{
    if (memory)
        tern_allocator_free(memory, nbytes);
}

// The capacity to grow to, or -1 where its bytes cannot be counted.
static int64_t grown(int64_t capacity, int64_t needed, size_t size)
{
    int64_t wanted = max_int64(capacity, 4);
    while (wanted < needed)
        if (__builtin_mul_overflow(wanted, (int64_t)2, &wanted))
            return -1;
    size_t nbytes;
    return __builtin_mul_overflow((size_t)wanted, size, &nbytes) ? -1 : wanted;
}

tern_status tern_mem_grow_now(void **array, int64_t *capacity, int64_t needed, size_t size)
{
    int64_t wanted = grown(*capacity, needed, size);
    TERN_CHECK(wanted > 0, TERN_ERR_NOMEM, "no memory for %lld elements of %zu bytes",
               (long long)needed, size);
    void *wider = tern_mem_alloc((size_t)wanted * size);
    if (!wider)
        return TERN_ERR_NOMEM;
    if (*array)
        memcpy(wider, *array, (size_t)*capacity * size);
    tern_mem_free(*array, (size_t)*capacity * size);
    *array = wider;
    *capacity = wanted;
    return TERN_OK;
}

char *tern_mem_string(const char *text)
{
    if (!text) {
        (void)tern_null_error("tern_mem_string", "text");
        return NULL;
    }
    size_t nbytes = strlen(text) + 1;
    char *copy = tern_mem_alloc(nbytes);
    return copy ? memcpy(copy, text, nbytes) : NULL;
}

void tern_mem_free_string(char *text)
{
    if (text)
        tern_mem_free(text, strlen(text) + 1);
}
