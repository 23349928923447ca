// SPDX-License-Identifier: Apache-2.0
#include "data/rows.h"

#include <string.h>
#include "base/pool.h"

// Below this many elements waking a thread costs more than it saves.
#define PIECE_ELEMENTS 16384

typedef struct gather {
    void *to;
    const unsigned char *from;
    int64_t cols; // elements of one byte in a row of `from`
    const int64_t *index;
    int64_t count;
    int64_t piece_rows;
} gather;

static int64_t last_row(const gather *g, int64_t piece)
{
    int64_t end = (piece + 1) * g->piece_rows;
    return end < g->count ? end : g->count;
}

static void copy_piece(void *context, int64_t piece)
{
    const gather *g = context;
    unsigned char *to = g->to;
    for (int64_t i = piece * g->piece_rows; i < last_row(g, piece); i++)
        memcpy(to + i * g->cols, g->from + g->index[i] * g->cols, (size_t)g->cols);
}

static void scale_piece(void *context, int64_t piece)
{
    const gather *g = context;
    for (int64_t i = piece * g->piece_rows; i < last_row(g, piece); i++) {
        float *restrict to = (float *)g->to + i * g->cols;
        const unsigned char *restrict from = g->from + g->index[i] * g->cols;
        for (int64_t k = 0; k < g->cols; k++)
            to[k] = (float)from[k] / 255.0f;
    }
}

static void run(gather *g, tern_pool_fn *fn)
{
    g->piece_rows = g->cols < PIECE_ELEMENTS && g->cols > 0 ? PIECE_ELEMENTS / g->cols : 1;
    tern_pool_run((g->count + g->piece_rows - 1) / g->piece_rows, fn, g);
}

void tern_rows_copy(void *to, const void *from, int64_t nbytes, const int64_t *index, int64_t count)
{
    gather g = {.to = to, .from = from, .cols = nbytes, .index = index, .count = count};
    if (nbytes > 0)
        run(&g, copy_piece);
}

void tern_rows_scale(float *to, const uint8_t *from, int64_t cols, const int64_t *index,
                     int64_t count)
{
    gather g = {.to = to, .from = from, .cols = cols, .index = index, .count = count};
    run(&g, scale_piece);
}
