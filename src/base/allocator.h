// SPDX-License-Identifier: Apache-2.0
// The allocator of the process, as the caches before it see it.
#ifndef TERN_SRC_BASE_ALLOCATOR_H
#define TERN_SRC_BASE_ALLOCATOR_H

#include <tern/memory.h>

// nbytes > 0 bytes aligned to `align`, contents undefined. NULL, without raising, when there are
// none; before that, `reclaim` gives cached memory back and, when it did, it is tried again. Keeps
// errno.
typedef bool tern_reclaim(void);
void *tern_allocator_take(size_t nbytes, size_t align, tern_reclaim *reclaim);
void tern_allocator_give(void *memory, size_t nbytes);

// Bytes taken and not yet given back, caches included.
int64_t tern_allocator_taken(void);
// Replaces the allocator by another, NULL: the C library's; false while memory of it is taken.
bool tern_allocator_replace(const tern_allocator *allocator);

#endif
