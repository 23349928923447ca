// SPDX-License-Identifier: Apache-2.0
// The allocator of the process, as mem.c and cache.c see it.
#ifndef TERN_SRC_BASE_ALLOCATOR_H
#define TERN_SRC_BASE_ALLOCATOR_H

#include <tern/memory.h>

// nbytes > 0 bytes aligned to `align`, contents undefined. NULL, without raising, when there are
// none; before that, caches are given back and it is tried again. Keeps errno.
void *tern_allocator_take(size_t nbytes, size_t align);
void tern_allocator_give(void *memory, size_t nbytes);

#endif
