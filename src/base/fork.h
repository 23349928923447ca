// SPDX-License-Identifier: Apache-2.0
// A child of a process that uses the library gets an error from every call that would build on
// threads or locks of its parent: it can free, print errors and exit.
#ifndef TERN_SRC_BASE_FORK_H
#define TERN_SRC_BASE_FORK_H

#include <tern/error.h>
#include "base/process.h"

tern_status tern_fork_error(void); // raises

// The first line of what takes memory, draws or computes.
static inline tern_status tern_fork_check(void)
{
    tern_process_state state = atomic_load_explicit(&tern_process, memory_order_relaxed);
    if (__builtin_expect(state == TERN_PROCESS_UNUSED, 0))
        tern_process_begin();
    return state == TERN_PROCESS_FORKED ? tern_fork_error() : TERN_OK;
}

#endif
