// SPDX-License-Identifier: Apache-2.0
// Memory for many small things that are freed together: what a file's header says.
#ifndef TERN_SRC_IO_ARENA_H
#define TERN_SRC_IO_ARENA_H

#include "base/error.h"

typedef struct tern_arena {
    struct tern_arena_block *blocks; // the last one first
    size_t used, size;               // of that
    size_t taken;                    // bytes of all blocks
} tern_arena;

// `nbytes` > 0, zeroed and aligned for any C type; NULL raises TERN_ERR_NOMEM. Blocks are at most
// an eighth of what was taken before, so that little is unused.
void *tern_arena_alloc(tern_arena *arena, size_t nbytes);
// A copy of `length` bytes and a final 0.
char *tern_arena_text(tern_arena *arena, const char *text, size_t length);
// A zeroed one is fine.
void tern_arena_free(tern_arena *arena);

#endif
