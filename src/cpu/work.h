// SPDX-License-Identifier: Apache-2.0
// Chunks of work that need scratch of their own while they run: each thread has its own.
#ifndef TERN_SRC_CPU_WORK_H
#define TERN_SRC_CPU_WORK_H

#include <stdatomic.h>
#include "base/thread_pool.h"

typedef struct work_scratch {
    void *memory;
    int64_t nbytes, count; // of one; how many
} work_scratch;

// Computes from the item alone; what is in the scratch at first means nothing.
typedef void work_fn(void *context, int64_t item, void *scratch);

typedef struct work_queue {
    work_fn *fn;
    void *context;
    const work_scratch *scratches;
    int64_t items, at_once;
    _Atomic int64_t next;
} work_queue;

// `threads` as it was at the beginning of the call: it may change meanwhile.
static inline int64_t work_scratch_count(int64_t items, int64_t threads)
{
    return items < threads ? items : threads;
}

static void work_chunk(void *context, int64_t index)
{
    work_queue *work = context;
    void *scratch = (char *)work->scratches->memory + index * work->scratches->nbytes;
    for (;;) {
        int64_t item = atomic_fetch_add_explicit(&work->next, work->at_once, memory_order_relaxed);
        const int64_t end = item + work->at_once < work->items ? item + work->at_once : work->items;
        if (item >= end)
            return;
        for (; item < end; item++)
            work->fn(work->context, item, scratch);
    }
}

// Runs fn for 0 ... items - 1 on the pool, in any order.
static void work_run(const work_scratch *scratches, int64_t items, work_fn *fn, void *context)
{
    work_queue work = {.fn = fn, .context = context, .scratches = scratches, .items = items};
    work.at_once = items / (scratches->count * 8) + 1;
    tern_pool_run(scratches->count, work_chunk, &work);
}

#endif
