// SPDX-License-Identifier: Apache-2.0
// Allocation inside the library. Sizes are given back on free, so there is no header per block.
#ifndef TERN_SRC_BASE_MEM_H
#define TERN_SRC_BASE_MEM_H

#include <tern/memory.h>

// Straight from the allocator, 64-byte aligned, zeroed. NULL raises TERN_ERR_NOMEM. nbytes > 0.
void *tern_mem_alloc(size_t nbytes);
// The same without raising: for whoever holds a lock that a log callback may want.
void *tern_mem_try(size_t nbytes);
void tern_mem_free(void *memory, size_t nbytes); // NULL is fine

// Frees the memory of an object of the user's late: when 256 others were freed this way, or by
// tern_memory_trim. Until then its first `readable` bytes stay as they are, so that a use of the
// freed object is noticed.
void tern_mem_free_deferred(void *memory, size_t nbytes, size_t readable);

// Grows an array of `*capacity` elements of `size` bytes to hold at least `needed`, doubling; keeps
// what is in it, and leaves all as it was on failure.
tern_status tern_mem_grow_now(void **array, int64_t *capacity, int64_t needed, size_t size);
static inline tern_status tern_mem_grow(void **array, int64_t *capacity, int64_t needed,
                                        size_t size)
{
    return needed <= *capacity ? TERN_OK : tern_mem_grow_now(array, capacity, needed, size);
}

// Through the cache: 64-byte aligned, contents undefined, blocks are reused. nbytes >= 0.
void *tern_cache_alloc(size_t nbytes);
void tern_cache_free(void *memory, size_t nbytes); // NULL is fine

// Gives back what the cache holds; false when that is nothing.
bool tern_cache_reclaim(void);

// A copy of a string in memory of its own, to be freed with tern_mem_free_string.
char *tern_mem_string(const char *text);
void tern_mem_free_string(char *text);

#endif
