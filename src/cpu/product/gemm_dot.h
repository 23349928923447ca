// SPDX-License-Identifier: Apache-2.0
// Products of few rows or columns whose operands both lie along k: dot products, with vectors along
// k and nothing packed.
#ifndef TERN_SRC_CPU_PRODUCT_GEMM_DOT_H
#define TERN_SRC_CPU_PRODUCT_GEMM_DOT_H

#include "cpu/product/gemm_block.h"

typedef struct dot_block {
    int64_t rows, cols, k;
    const real *a; /* (rows, k) */
    int64_t a_row;
    const real *b; /* (cols, k) */
    int64_t b_col;
    real *c; /* (rows, cols) */
    int64_t c_row;
    const real *bias; /* (cols) or NULL */
    bool add, relu;
} dot_block;

VEC_INLINE void dot_store(const dot_block *d, int64_t row, int64_t col, int rows, int cols,
                          const real *sums)
{
    for (int64_t i = 0; i < rows && row + i < d->rows; i++) {
        for (int64_t j = 0; j < cols && col + j < d->cols; j++) {
            real *c = d->c + (row + i) * d->c_row + col + j;
            real x = sums[i * cols + j];
            if (d->bias)
                x += d->bias[col + j];
            if (d->add)
                x += *c;
            *c = d->relu && x < 0 ? 0 : x;
        }
    }
}

// rows * cols is at most the width of a vector, so the sums of all accumulators fit one. At the
// edges the last row or column is computed several times.
VEC_INLINE void dot_tile(const dot_block *d, int64_t row, int64_t col, int rows, int cols)
{
    const real *a[VEC_WIDTH], *b[VEC_WIDTH];
    UNROLL
    for (int i = 0; i < rows; i++)
        a[i] = d->a + (row + i < d->rows ? row + i : d->rows - 1) * d->a_row;
    UNROLL
    for (int j = 0; j < cols; j++)
        b[j] = d->b + (col + j < d->cols ? col + j : d->cols - 1) * d->b_col;
    vec sum[VEC_WIDTH];
    UNROLL
    for (int i = 0; i < VEC_WIDTH; i++)
        sum[i] = (vec){0};
    const int64_t whole = d->k - d->k % VEC_WIDTH;
    for (int64_t k = 0; k < whole; k += VEC_WIDTH) {
        vec x[VEC_WIDTH];
        UNROLL
        for (int i = 0; i < rows; i++)
            x[i] = vec_load(a[i] + k);
        UNROLL
        for (int j = 0; j < cols; j++) {
            const vec y = vec_load(b[j] + k);
            UNROLL
            for (int i = 0; i < rows; i++)
                sum[i * cols + j] = vec_fma(x[i], y, sum[i * cols + j]);
        }
    }
    if (whole < d->k) {
        const vec_lanes on = vec_lanes_first(d->k - whole);
        UNROLL
        for (int j = 0; j < cols; j++) {
            const vec y = vec_load_lanes(b[j] + whole, on);
            UNROLL
            for (int i = 0; i < rows; i++)
                sum[i * cols + j] = vec_fma(vec_load_lanes(a[i] + whole, on), y, sum[i * cols + j]);
        }
    }
    real sums[VEC_WIDTH];
    vec_store(sums, vec_sums(sum));
    dot_store(d, row, col, rows, cols, sums);
}

#define DOT_ROWS(name, tile_rows, tile_cols)                                                       \
    static UNCHECKED void name(const dot_block *d, int64_t row)                                    \
    {                                                                                              \
        for (int64_t col = 0; col < d->cols; col += (tile_cols))                                   \
            dot_tile(d, row, col, (tile_rows), (tile_cols));                                       \
    }
// More than eight rows of b at a time are too many streams for the prefetcher.
DOT_ROWS(dot_rows1, 1, (VEC_WIDTH < 8 ? VEC_WIDTH : 8))
DOT_ROWS(dot_rows2, 2, VEC_WIDTH / 2)
#if VEC_WIDTH >= 8
DOT_ROWS(dot_rows4, 4, VEC_WIDTH / 4)
#endif
#if VEC_WIDTH >= 16
DOT_ROWS(dot_rows8, 8, VEC_WIDTH / 8)
#endif

static void dot_run_rows(const dot_block *d)
{
    int64_t row = 0;
#if VEC_WIDTH >= 8
    for (; row + 2 < d->rows; row += 4)
        dot_rows4(d, row);
#endif
    for (; row + 1 < d->rows; row += 2)
        dot_rows2(d, row);
    if (row < d->rows)
        dot_rows1(d, row);
}

#if VEC_WIDTH >= 16
// One or two columns more than a multiple of four, as in ten classes, have a tile of their own.
static void dot_run(const dot_block *d)
{
    dot_block limit = *d, rest = *d;
    rest.cols = d->rows > 4 && d->cols % 4 < 3 ? d->cols % 4 : 0;
    limit.cols -= rest.cols;
    dot_run_rows(&limit);
    rest.b += limit.cols * d->b_col;
    rest.c += limit.cols;
    rest.bias = d->bias ? d->bias + limit.cols : NULL;
    for (int64_t row = 0; rest.cols > 0 && row < d->rows; row += 8)
        dot_rows8(&rest, row);
}
#else
static void dot_run(const dot_block *d)
{
    dot_run_rows(d);
}
#endif

typedef struct dot_cut {
    const dot_block *d;
    int64_t chunks;
} dot_cut;

// The longer side is cut, between tiles.
static void dot_chunk(void *context, int64_t index)
{
    const dot_cut *cut = context;
    const bool by_row = cut->d->rows > cut->d->cols;
    const int64_t unit = by_row ? 4 : VEC_WIDTH, count = by_row ? cut->d->rows : cut->d->cols;
    const int64_t units = parts_of(count, unit);
    const int64_t begin = part_begin(units, cut->chunks, index) * unit;
    const int64_t end = min_int64(count, part_begin(units, cut->chunks, index + 1) * unit);
    dot_block part = *cut->d;
    if (by_row) {
        part.rows = end - begin;
        part.a += begin * part.a_row;
        part.c += begin * part.c_row;
    } else {
        part.cols = end - begin;
        part.b += begin * part.b_col;
        part.c += begin;
        part.bias = part.bias ? part.bias + begin : NULL;
    }
    dot_run(&part);
}

static void dot_product(const dot_block *d, bool alone)
{
    const int64_t units = parts_of(d->rows > d->cols ? d->rows : d->cols, VEC_WIDTH);
    dot_cut cut = {d, min_int64(units, chunk_count(d->rows, (double)d->cols, d->k))};
    if (alone || cut.chunks == 1)
        dot_run(d);
    else
        tern_pool_run(cut.chunks, dot_chunk, &cut);
}

#endif
