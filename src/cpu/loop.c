// SPDX-License-Identifier: Apache-2.0
#include "cpu/loop.h"
#include <errno.h>

#include "base/thread_pool.h"
#include "device/dtype.h"

// Dimension 0 is the innermost.
typedef struct loop {
    int count, rank;
    int64_t numel;
    int64_t size[TERN_MAX_RANK];
    int64_t stride[TERN_LOOP_VIEWS][TERN_MAX_RANK]; // bytes
    int64_t step[TERN_LOOP_VIEWS];                  // elements, of dimension 0
    char *data[TERN_LOOP_VIEWS];
    tern_loop_fn *run;
    const void *context;
} loop;

static void set_dimensions(loop *w, const tern_strided *const *views)
{
    w->rank = views[0]->rank;
    for (int d = 0; d < w->rank; d++) {
        const int from = w->rank - 1 - d;
        w->size[d] = views[0]->size[from];
        w->numel *= w->size[d];
        for (int v = 0; v < w->count; v++)
            w->stride[v][d] = views[v]->stride[from] * tern_element_size(views[v]->dtype);
    }
    for (int v = 0; v < w->count; v++)
        w->step[v] = w->rank > 0 ? views[v]->stride[w->rank - 1] : 1;
}

// Moves to the next run: up one in dimension 1, carrying into the ones outside.
static void advance(const loop *w, int64_t *index, char **data)
{
    for (int d = 1; d < w->rank; d++) {
        for (int v = 0; v < w->count; v++)
            data[v] += w->stride[v][d];
        if (++index[d] < w->size[d])
            return;
        for (int v = 0; v < w->count; v++)
            data[v] -= w->stride[v][d] * w->size[d];
        index[d] = 0;
    }
}

// Elements `begin` ... `end` - 1 in row-major order.
static void loop_range(const loop *w, int64_t begin, int64_t end)
{
    int64_t index[TERN_MAX_RANK];
    char *data[TERN_LOOP_VIEWS];
    for (int v = 0; v < w->count; v++)
        data[v] = w->data[v];
    int64_t rest = begin;
    for (int d = 0; d < w->rank; d++) {
        index[d] = rest % w->size[d];
        rest /= w->size[d];
        for (int v = 0; v < w->count; v++)
            data[v] += index[d] * w->stride[v][d];
    }
    // The first run may start inside a row.
    const int64_t row = w->size[0];
    int64_t skipped = index[0];
    for (int64_t left = end - begin; left > 0;) {
        const int64_t n = row - skipped < left ? row - skipped : left;
        w->run(w->context, n, data, w->step);
        left -= n;
        for (int v = 0; v < w->count && skipped > 0; v++)
            data[v] -= skipped * w->stride[v][0];
        skipped = 0;
        advance(w, index, data);
    }
}

static void loop_chunk(void *context, int64_t chunk)
{
    const loop *w = context;
    const int64_t begin = chunk * TERN_LOOP_CHUNK;
    const int64_t end = begin + TERN_LOOP_CHUNK;
    loop_range(w, begin, end < w->numel ? end : w->numel);
}

void tern_loop(const tern_strided *const *views, int count, tern_loop_fn *run, const void *context,
               int64_t alone)
{
    if (tern_strided_numel(views[0]) == 0) // its other sizes may be beyond what bytes can count
        return;
    loop w;
    w.count = count;
    w.numel = 1;
    w.run = run;
    w.context = context;
    for (int v = 0; v < count; v++)
        w.data[v] = views[v]->data;
    set_dimensions(&w, views);
    const int saved = errno; // functions of the mathematical library set it
    if (w.rank <= 1 && w.numel <= alone)
        run(context, w.numel, w.data, w.step);
    else if (w.numel <= alone)
        loop_range(&w, 0, w.numel);
    else
        tern_pool_run((w.numel + TERN_LOOP_CHUNK - 1) / TERN_LOOP_CHUNK, loop_chunk, &w);
    errno = saved;
}
