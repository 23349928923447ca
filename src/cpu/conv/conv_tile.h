// SPDX-License-Identifier: Apache-2.0
// The micro-kernels. Sums stay in registers while the taps run: of a few output channels at
// neighbouring positions (tile_kernels), or of a few elements of the weight's gradient over all
// positions (dot_kernels).
#ifndef TERN_SRC_CPU_CONV_CONV_TILE_H
#define TERN_SRC_CPU_CONV_CONV_TILE_H

#include <stdbool.h>
#include "cpu/product/gemm_kernel.h"

// Vectors of positions in a tile of so many channels; with operands they fill the registers.
#if defined(TERN_ISA_AVX512)
#define CONV_ROWS 8
#define CONV_TILES(TILE)                                                                           \
    TILE(1, 8) TILE(2, 8) TILE(3, 8) TILE(4, 6) TILE(5, 4) TILE(6, 4) TILE(7, 3) TILE(8, 3)
#else
#define CONV_ROWS        4
#define CONV_TILES(TILE) TILE(1, 8) TILE(2, 6) TILE(3, 4) TILE(4, 3)
#endif
#define CONV_MAX_VECS 8

typedef struct conv_tile {
    const real *x;         // the inputs of the tile's first position, at offsets[0 .. taps - 1]
    const int64_t *offset; // in elements
    int64_t taps;
    const real *weight; /* (taps, rows) */
    real *sum;          /* (rows, vecs * VEC_WIDTH) */
    int64_t sum_row;
    bool add; // to what sum holds
} conv_tile;

typedef void conv_tile_kernel(const conv_tile *tile);

VEC_INLINE void conv_tile_run(int rows, int vecs, const conv_tile *t)
{
    vec sum[CONV_ROWS][CONV_MAX_VECS];
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int v = 0; v < vecs; v++)
            sum[i][v] = (vec){0};
    }
    const real *weight = t->weight, *x = t->x;
    const int64_t *offset = t->offset, *end = offset + t->taps;
    for (; offset != end; offset++, weight += rows) {
        const real *p = x + *offset;
        vec y[CONV_MAX_VECS];
        UNROLL
        for (int v = 0; v < vecs; v++)
            y[v] = vec_load(p + v * VEC_WIDTH);
        UNROLL
        for (int i = 0; i < rows; i++) {
            const vec w = vec_set1(weight[i]);
            UNROLL
            for (int v = 0; v < vecs; v++)
                sum[i][v] = vec_fma(w, y[v], sum[i][v]);
        }
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int v = 0; v < vecs; v++) {
            real *to = t->sum + i * t->sum_row + v * VEC_WIDTH;
            vec_store(to, t->add ? vec_load(to) + sum[i][v] : sum[i][v]);
        }
    }
}

#define CONV_HALF(vecs) (((vecs) + 1) / 2)
#define CONV_TILE(rows, vecs)                                                                      \
    static UNCHECKED void conv_tile_##rows(const conv_tile *t)                                     \
    {                                                                                              \
        conv_tile_run(rows, vecs, t);                                                              \
    }                                                                                              \
    static UNCHECKED void conv_half_##rows(const conv_tile *t)                                     \
    {                                                                                              \
        conv_tile_run(rows, CONV_HALF(vecs), t);                                                   \
    }
CONV_TILES(CONV_TILE)
#define CONV_TILE_ENTRY(rows, vecs)                                                                \
    [rows] = {conv_tile_##rows, conv_half_##rows, vecs, CONV_HALF(vecs)},
static const struct {
    conv_tile_kernel *run, *run_half;
    int64_t vecs, half; // vectors of positions
} conv_tiles[CONV_ROWS + 1] = {CONV_TILES(CONV_TILE_ENTRY)};

// ---- sums over positions ------------------------------------------------------------------------

#define CONV_DOT_ROWS  4
#define CONV_DOT_COLS  9
#define CONV_DOTS(DOT) DOT(1, 9) DOT(2, 5) DOT(3, 4) DOT(4, 3)
#define CONV_DOT_SUMS  16 // whole vectors of the widest

typedef struct conv_dot {
    const real *row[CONV_DOT_ROWS], *col[CONV_DOT_COLS];
    int64_t positions; // a multiple of the vector's width
} conv_dot;

typedef void conv_dot_kernel(const conv_dot *dot, real *sums);

// sums (rows, cols)
VEC_INLINE void conv_dot_run(int rows, int cols, const conv_dot *d, real *sums)
{
    vec sum[CONV_DOT_SUMS];
    UNROLL
    for (int i = 0; i < CONV_DOT_SUMS; i++)
        sum[i] = (vec){0};
    for (int64_t q = 0; q < d->positions; q += VEC_WIDTH) {
        vec x[CONV_DOT_COLS];
        UNROLL
        for (int j = 0; j < cols; j++)
            x[j] = vec_load(d->col[j] + q);
        UNROLL
        for (int i = 0; i < rows; i++) {
            const vec y = vec_load(d->row[i] + q);
            UNROLL
            for (int j = 0; j < cols; j++)
                sum[i * cols + j] = vec_fma(y, x[j], sum[i * cols + j]);
        }
    }
    UNROLL
    for (int i = 0; i < CONV_DOT_SUMS; i += VEC_WIDTH) {
        if (i < rows * cols)
            vec_store(sums + i, vec_sums(sum + i));
    }
}

#define CONV_DOT(rows, cols)                                                                       \
    static UNCHECKED void conv_dot_##rows(const conv_dot *d, real *sums)                           \
    {                                                                                              \
        conv_dot_run(rows, cols, d, sums);                                                         \
    }
CONV_DOTS(CONV_DOT)
#define CONV_DOT_ENTRY(rows, cols) [rows] = {conv_dot_##rows, cols},
static const struct {
    conv_dot_kernel *run;
    int64_t cols;
} conv_dots[CONV_DOT_ROWS + 1] = {CONV_DOTS(CONV_DOT_ENTRY)};

#endif
