// SPDX-License-Identifier: Apache-2.0
// Whether the process has one thread; and additions to counters that several threads may share,
// which cost no locked instruction while it has: a thread that is started later sees what was done
// before.
#ifndef TERN_SRC_BASE_ONE_THREAD_H
#define TERN_SRC_BASE_ONE_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define TERN_ONE_THREAD __libc_single_threaded // false from the first pthread_create on
#else
#define TERN_ONE_THREAD false
#endif

#define TERN_FETCH_ADD(type)                                                                       \
    static inline type tern_fetch_add_##type(_Atomic type *counter, type n, memory_order order)    \
    {                                                                                              \
        if (!TERN_ONE_THREAD)                                                                      \
            return atomic_fetch_add_explicit(counter, n, order);                                   \
        const type before = atomic_load_explicit(counter, memory_order_relaxed);                   \
        atomic_store_explicit(counter, before + n, memory_order_relaxed);                          \
        return before;                                                                             \
    }
TERN_FETCH_ADD(int32_t)
TERN_FETCH_ADD(int64_t)
TERN_FETCH_ADD(uint64_t)
#undef TERN_FETCH_ADD

// atomic_fetch_add_explicit
#define tern_fetch_add(counter, n, order)                                                          \
    _Generic((counter),                                                                            \
        _Atomic int32_t *: tern_fetch_add_int32_t,                                                 \
        _Atomic int64_t *: tern_fetch_add_int64_t,                                                 \
        _Atomic uint64_t *: tern_fetch_add_uint64_t)(counter, n, order)

// Takes a reference that the caller's own keeps valid, and lets go of one: true if it was the last.
#define tern_refs_retain(refs)  ((void)tern_fetch_add(refs, 1, memory_order_relaxed))
#define tern_refs_release(refs) (tern_fetch_add(refs, -1, memory_order_acq_rel) == 1)

#endif
