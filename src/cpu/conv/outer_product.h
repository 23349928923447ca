// SPDX-License-Identifier: Apache-2.0
// The micro-kernel of convolutions of whole batches: a tile of sums stays in registers while outer
// products of a few elements and a few vectors are added to it. Both lie packed, those of one step
// side by side; steps come in runs. What is packed is transposed here.
#ifndef TERN_SRC_CPU_CONV_OUTER_PRODUCT_H
#define TERN_SRC_CPU_CONV_OUTER_PRODUCT_H

#include <stdbool.h>
#include "base/integer.h"
#include "cpu/product/gemm_kernel.h"

#define OUTER_LANES     TILE_COLS
#define OUTER_PITCH     ((TILE_ROWS + VEC_WIDTH - 1) / VEC_WIDTH * VEC_WIDTH)
#define OUTER_AHEAD     (8 * VEC_WIDTH)
#define OUTER_MIN_ROWS  (TILE_ROWS / 2)      // of a tile
#define OUTER_MIN_COUNT (OUTER_MIN_ROWS + 1) // of rows, which are cut into tiles evenly

// Steps whose operands lie one after the other.
typedef struct outer_run {
    int64_t a, b; // where they begin
    int64_t steps;
} outer_run;

typedef struct outer_tile {
    const real *a; /* (steps, pitch), of which the tile's rows count */
    int64_t pitch;
    const real *b; /* (steps, OUTER_LANES) */
    const outer_run *run;
    int64_t runs;
    real *sum; /* (rows, OUTER_LANES) */
    int64_t sum_row;
    bool add; // to what sum holds
} outer_tile;

typedef void outer_kernel(const outer_tile *tile);

VEC_INLINE void outer_add(int rows, int vecs, const outer_tile *t)
{
    vec sum[TILE_ROWS][TILE_VECS];
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int v = 0; v < vecs; v++)
            sum[i][v] = (vec){0};
    }
    const int64_t pitch = t->pitch;
    const outer_run *end = t->run + t->runs;
    for (const outer_run *run = t->run; run != end; run++) {
        const real *a = t->a + run->a, *b = t->b + run->b;
        for (int64_t k = run->steps; k > 0; k--, a += pitch, b += OUTER_LANES) {
            vec y[TILE_VECS];
            UNROLL
            for (int v = 0; v < vecs; v++)
                y[v] = vec_load(b + v * VEC_WIDTH);
            UNROLL
            for (int i = 0; i < rows; i++) {
                const vec x = vec_set1(a[i]);
                UNROLL
                for (int v = 0; v < vecs; v++)
                    sum[i][v] = vec_fma(x, y[v], sum[i][v]);
            }
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

#define OUTER_KERNEL(rows)                                                                         \
    static UNCHECKED void outer_##rows##x1(const outer_tile *t)                                    \
    {                                                                                              \
        outer_add(rows, 1, t);                                                                     \
    }                                                                                              \
    static UNCHECKED void outer_##rows##x2(const outer_tile *t)                                    \
    {                                                                                              \
        outer_add(rows, 2, t);                                                                     \
    }
#define OUTER_ENTRY(rows) [rows] = {outer_##rows##x1, outer_##rows##x2},
#if TILE_ROWS == 14
#define OUTER_KERNELS(ROWS) ROWS(7) ROWS(8) ROWS(9) ROWS(10) ROWS(11) ROWS(12) ROWS(13) ROWS(14)
#else
#define OUTER_KERNELS(ROWS) ROWS(3) ROWS(4) ROWS(5) ROWS(6)
#endif
OUTER_KERNELS(OUTER_KERNEL)
// By rows, from OUTER_MIN_ROWS on, and vectors less 1.
static outer_kernel *const outer_kernels[TILE_ROWS + 1][TILE_VECS] = {OUTER_KERNELS(OUTER_ENTRY)};

// For a tile of so many rows and columns.
static inline outer_kernel *outer_kernel_for(int64_t rows, int64_t cols)
{
    return outer_kernels[rows][(cols - 1) / VEC_WIDTH];
}

// Rows cut into tiles that differ by one at most.
static inline int64_t outer_tiles(int64_t rows)
{
    return (rows + TILE_ROWS - 1) / TILE_ROWS;
}

static inline int64_t outer_row(int64_t rows, int64_t tile)
{
    const int64_t tiles = outer_tiles(rows), more = rows % tiles;
    return tile * (rows / tiles) + (tile < more ? tile : more);
}

// Half a vector where that is enough.
static inline int64_t outer_pitch(int64_t rows)
{
    const int64_t limit = outer_row(rows, 1);
    return VEC_WIDTH == 16 && limit <= 8 ? 8 : OUTER_PITCH;
}

static inline int64_t outer_panels(int64_t count)
{
    return (count + OUTER_LANES - 1) / OUTER_LANES;
}

// to[p * to_step + i] = from[i * from_step + p] for p < count and i < rows, and 0 for i < pitch
// behind them.
static UNCHECKED void outer_pack(real *to, int64_t to_step, int64_t pitch, const real *from,
                                 int64_t from_step, int64_t rows, int64_t count)
{
    for (int64_t first = 0; first < pitch; first += VEC_WIDTH, from += VEC_WIDTH * from_step) {
        const int64_t here = rows - first;
        for (int64_t p = 0; p < count; p += VEC_WIDTH) {
            const int64_t some = min_int64(count - p, VEC_WIDTH);
            real *packed = to + p * to_step + first;
            vec x[VEC_WIDTH];
            for (int64_t i = 0; i < min_int64(here, VEC_WIDTH); i++)
                __builtin_prefetch(from + i * from_step + p + OUTER_AHEAD);
            if (here >= VEC_WIDTH && some == VEC_WIDTH) {
                UNROLL
                for (int i = 0; i < VEC_WIDTH; i++)
                    x[i] = vec_load(from + i * from_step + p);
            } else {
                const vec_lanes on = vec_lanes_first(some);
                UNROLL
                for (int i = 0; i < VEC_WIDTH; i++)
                    x[i] = i < here ? vec_load_lanes(from + i * from_step + p, on) : (vec){0};
            }
            vec_transpose(x);
            if (pitch - first < VEC_WIDTH) {
                UNROLL
                for (int i = 0; i < VEC_WIDTH; i++) {
                    if (i < some)
                        memcpy(packed + i * to_step, &x[i], VEC_BYTES / 2);
                }
                continue;
            }
            UNROLL
            for (int i = 0; i < VEC_WIDTH; i++) {
                if (i < some)
                    vec_store(packed + i * to_step, x[i]);
            }
        }
    }
}

typedef struct outer_result {
    real *to; /* (rows, count) */
    int64_t to_row;
    const real *bias; /* (rows) or NULL */
    bool add, relu;
} outer_result;

// The way back: to[i * to_row + p] = from[p * from_step + i], plus what the result says.
static UNCHECKED void outer_unpack(const outer_result *r, const real *from, int64_t from_step,
                                   int64_t rows, int64_t count)
{
    const bool add = r->add, relu = r->relu;
    for (int64_t first = 0; first < rows; first += VEC_WIDTH) {
        const int64_t here = min_int64(rows - first, VEC_WIDTH);
        for (int64_t p = 0; p < count; p += VEC_WIDTH) {
            const int64_t some = min_int64(count - p, VEC_WIDTH);
            const vec_lanes on = vec_lanes_first(some);
            vec x[VEC_WIDTH];
            UNROLL
            for (int i = 0; i < VEC_WIDTH; i++)
                x[i] = i < some ? vec_load(from + (p + i) * from_step + first) : (vec){0};
            vec_transpose(x);
            real *to = r->to + first * r->to_row + p;
            UNROLL
            for (int i = 0; i < VEC_WIDTH; i++, to += r->to_row) {
                if (i >= here)
                    break;
                vec y = x[i];
                if (r->bias)
                    y += vec_set1(r->bias[first + i]);
                if (add)
                    y += vec_load_lanes(to, on);
                vec_store_lanes(to, relu ? vec_relu(y) : y, on);
            }
        }
    }
}

#endif
