// SPDX-License-Identifier: Apache-2.0
#include "data/rows.h"

#include <string.h>
#include "base/thread_pool.h"

// Below this many elements waking a thread costs more than it saves.
#define CHUNK_ELEMENTS 16384

typedef struct gather {
    void *to;
    const unsigned char *from;
    int64_t cols; // elements of one byte in a row of `from`
    const int64_t *index;
    int64_t count;
    int64_t chunk_rows;
} gather;

static int64_t last_row(const gather *g, int64_t chunk)
{
    int64_t end = (chunk + 1) * g->chunk_rows;
    return end < g->count ? end : g->count;
}

static void copy_chunk(void *context, int64_t chunk)
{
    const gather *g = context;
    unsigned char *to = g->to;
    for (int64_t i = chunk * g->chunk_rows; i < last_row(g, chunk); i++)
        memcpy(to + i * g->cols, g->from + g->index[i] * g->cols, (size_t)g->cols);
}

static void scale_chunk(void *context, int64_t chunk)
{
    const gather *g = context;
    for (int64_t i = chunk * g->chunk_rows; i < last_row(g, chunk); i++) {
        float *restrict to = (float *)g->to + i * g->cols;
        const unsigned char *restrict from = g->from + g->index[i] * g->cols;
        for (int64_t k = 0; k < g->cols; k++)
            to[k] = (float)from[k] / 255.0f;
    }
}

static void run(gather *g, tern_pool_fn *fn)
{
    g->chunk_rows = g->cols < CHUNK_ELEMENTS && g->cols > 0 ? CHUNK_ELEMENTS / g->cols : 1;
    tern_pool_run((g->count + g->chunk_rows - 1) / g->chunk_rows, fn, g);
}

void tern_rows_copy(void *to, const void *from, int64_t nbytes, const int64_t *index, int64_t count)
{
    gather g = {.to = to, .from = from, .cols = nbytes, .index = index, .count = count};
    if (nbytes > 0)
        run(&g, copy_chunk);
}

void tern_rows_scale(float *to, const uint8_t *from, int64_t cols, const int64_t *index,
                     int64_t count)
{
    gather g = {.to = to, .from = from, .cols = cols, .index = index, .count = count};
    run(&g, scale_chunk);
}
