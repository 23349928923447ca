// SPDX-License-Identifier: Apache-2.0
/// @file
/// Host memory: the allocator that everything in tern goes through, and what it holds.
///
/// Freed storage, tensor headers and graph nodes are kept for reuse, so that a training step whose
/// shapes were seen before allocates nothing. The last 256 modules, optimizers, datasets, loaders
/// and generators that were freed are kept a while too, so that freeing or using one of them again
/// is an error, not a crash. `TERN_CACHE=0` in the environment turns both off, for tools that watch
/// every allocation.
#ifndef TERN_MEMORY_H
#define TERN_MEMORY_H

#include <tern/base.h>
#include <tern/error.h>

TERN_BEGIN_DECLS

/// Where memory comes from. `alloc` returns `nbytes` (> 0) bytes aligned to `align` (a power of
/// two, at most 4096) or NULL; `free` gets the same size back. Both are called from any thread.
typedef struct tern_allocator {
    void *(*alloc)(size_t nbytes, size_t align, void *user); ///< NULL: no memory
    void (*free)(void *memory, size_t nbytes, void *user);   ///< never given NULL
    void *user;                                              ///< handed to both
} tern_allocator;

/// Replaces the allocator of the process; NULL restores the C library's. Fails with TERN_ERR_STATE
/// while memory of the old one is in use (call tern_shutdown first); after TERN_OK the old one is
/// called no more and its `user` may be freed. Thread safe.
TERN_API TERN_NODISCARD tern_status tern_set_allocator(const tern_allocator *allocator);

/// Bytes that are in use now: what was allocated less what lies in caches. Thread safe.
TERN_API int64_t tern_memory_live_bytes(void);

/// Bytes that lie in caches, ready for reuse. Thread safe.
TERN_API int64_t tern_memory_cached_bytes(void);

/// Gives cached memory back to the allocator. Thread safe.
TERN_API void tern_memory_trim(void);

TERN_END_DECLS

#endif
