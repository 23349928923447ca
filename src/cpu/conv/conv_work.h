// SPDX-License-Identifier: Apache-2.0
// Pieces of work that need room of their own while they run: there are as many rooms as threads.
#ifndef TERN_SRC_CPU_CONV_CONV_WORK_H
#define TERN_SRC_CPU_CONV_CONV_WORK_H

#include <stdatomic.h>
#include "base/pool.h"

typedef struct conv_rooms {
    void *memory;
    int64_t nbytes, count; // of one; how many
} conv_rooms;

// Computes from the item alone; what is in the room at first means nothing.
typedef void conv_work_fn(void *context, int64_t item, void *room);

typedef struct conv_work {
    conv_work_fn *fn;
    void *context;
    const conv_rooms *rooms;
    int64_t items, at_once;
    _Atomic int64_t next;
} conv_work;

// `threads` as it was at the beginning of the call: it may change meanwhile.
static inline int64_t conv_rooms_for(int64_t items, int64_t threads)
{
    return items < threads ? items : threads;
}

static void conv_work_piece(void *context, int64_t index)
{
    conv_work *work = context;
    void *room = (char *)work->rooms->memory + index * work->rooms->nbytes;
    for (;;) {
        int64_t item = atomic_fetch_add_explicit(&work->next, work->at_once, memory_order_relaxed);
        const int64_t end = item + work->at_once < work->items ? item + work->at_once : work->items;
        if (item >= end)
            return;
        for (; item < end; item++)
            work->fn(work->context, item, room);
    }
}

// Runs fn for 0 ... items - 1 on the pool, in any order.
static void conv_work_run(const conv_rooms *rooms, int64_t items, conv_work_fn *fn, void *context)
{
    conv_work work = {.fn = fn, .context = context, .rooms = rooms, .items = items};
    work.at_once = items / (rooms->count * 8) + 1;
    tern_pool_run(rooms->count, conv_work_piece, &work);
}

#endif
