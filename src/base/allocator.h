// SPDX-License-Identifier: Apache-2.0
// The allocator of the process, which the caches take memory from.
#ifndef TERN_SRC_BASE_ALLOCATOR_H
#define TERN_SRC_BASE_ALLOCATOR_H

#include <tern/memory.h>

// Gives cached memory back to the allocator; false when there was none.
typedef bool tern_reclaim(void);
// nbytes > 0 bytes aligned to `align`, contents undefined. Where the allocator has no memory it is
// asked once more after `reclaim` gave some back; then NULL, without raising. Keeps errno.
void *tern_allocator_alloc(size_t nbytes, size_t align, tern_reclaim *reclaim);
void tern_allocator_free(void *memory, size_t nbytes);

// Bytes taken and not yet given back, caches included.
int64_t tern_allocator_live_bytes(void);
// Replaces the allocator by another, NULL: the C library's; false while memory of it is taken.
bool tern_allocator_replace(const tern_allocator *allocator);

#endif
