// SPDX-License-Identifier: Apache-2.0
// After fork a child has none of the parent's other threads, neither workers nor whoever held a
// lock. So a child of a process that uses the library gets an error from every call that would
// build on either, and its locks are not waited for: it can free, print errors and exit.
#ifndef TERN_SRC_BASE_FORK_H
#define TERN_SRC_BASE_FORK_H

#include <pthread.h>
#include <stdatomic.h>
#include <tern/error.h>

typedef enum tern_process_state {
    TERN_PROCESS_UNUSED, // nothing of the library is running; a child may start anew
    TERN_PROCESS_IN_USE,
    TERN_PROCESS_FORKED // a child of one in use, for good
} tern_process_state;

extern _Atomic tern_process_state tern_process;

void tern_process_begin(void);     // unused to in use
void tern_process_end(void);       // in use to unused: workers are joined, no lock is held
tern_status tern_fork_error(void); // raises

static inline bool tern_forked(void)
{
    return atomic_load_explicit(&tern_process, memory_order_relaxed) == TERN_PROCESS_FORKED;
}

// The first line of what takes memory, draws or computes.
static inline tern_status tern_fork_check(void)
{
    tern_process_state state = atomic_load_explicit(&tern_process, memory_order_relaxed);
    if (__builtin_expect(state == TERN_PROCESS_UNUSED, 0))
        tern_process_begin();
    return state == TERN_PROCESS_FORKED ? tern_fork_error() : TERN_OK;
}

// Every mutex of the library but the pool's. What they guard is not taken from in a child.
static inline void tern_lock(pthread_mutex_t *mutex)
{
    if (atomic_load_explicit(&tern_process, memory_order_relaxed) == TERN_PROCESS_UNUSED)
        tern_process_begin();
    if (!tern_forked())
        pthread_mutex_lock(mutex);
}

static inline void tern_unlock(pthread_mutex_t *mutex)
{
    if (!tern_forked())
        pthread_mutex_unlock(mutex);
}

#endif
