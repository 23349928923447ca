// SPDX-License-Identifier: Apache-2.0
// Whether this process uses the library, or was forked from one that does: a child has none of its
// parent's other threads, neither workers nor whoever held a lock, so its locks are not waited for.
#ifndef TERN_SRC_BASE_PROCESS_H
#define TERN_SRC_BASE_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef enum tern_process_state {
    TERN_PROCESS_UNUSED, // nothing of the library is running; a child may start anew
    TERN_PROCESS_IN_USE,
    TERN_PROCESS_FORKED // a child of one in use, for good
} tern_process_state;

extern _Atomic tern_process_state tern_process;

void tern_process_begin(void); // unused to in use
void tern_process_end(void);   // in use to unused: workers are joined, no lock is held

static inline bool tern_in_use(void)
{
    return atomic_load_explicit(&tern_process, memory_order_relaxed) == TERN_PROCESS_IN_USE;
}

static inline bool tern_forked(void)
{
    return atomic_load_explicit(&tern_process, memory_order_relaxed) == TERN_PROCESS_FORKED;
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
