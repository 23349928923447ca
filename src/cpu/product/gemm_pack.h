// SPDX-License-Identifier: Apache-2.0
// Copying around the micro-kernels: operands into panels, and tiles into a transposed result.
#ifndef TERN_SRC_CPU_PRODUCT_GEMM_PACK_H
#define TERN_SRC_CPU_PRODUCT_GEMM_PACK_H

#include "cpu/product/gemm_kernel.h"

// A panel is the part of an operand that one row (of a) or column (of b) of tiles needs. For each k
// it holds `pitch` elements one after the other: the operand's next `count` rows or columns, then
// zeros.
typedef struct panel {
    const real *source;
    int64_t across, along; // element strides from row to row (or column to column), and along k
    int64_t count, k;
    real *packed; /* (k, pitch), readable to the end of the last vector */
    int64_t pitch;
    int64_t ahead; // from an element that is copied to one that is prefetched
} panel;

// Stores a vector of which `kept` elements count. What lies behind them is written next, or else
// `left`, the elements to the panel's end, says that a whole vector would pass it. Masked stores
// cost many cycles on some processors.
VEC_INLINE void pack_store(real *packed, vec x, int64_t kept, int64_t left)
{
    if (kept == VEC_WIDTH || left >= VEC_WIDTH)
        vec_store(packed, x);
    else
        vec_store_lanes(packed, x, vec_lanes_first(kept));
}

// The source's rows lie along k: blocks of width x width are transposed in registers.
static UNCHECKED void pack_block(const panel *p, int64_t first, int64_t k)
{
    const int64_t rows = p->count - first < VEC_WIDTH ? p->count - first : VEC_WIDTH;
    const int64_t cols = p->k - k < VEC_WIDTH ? p->k - k : VEC_WIDTH;
    const int64_t kept = p->pitch - first < VEC_WIDTH ? p->pitch - first : VEC_WIDTH;
    const real *source = p->source + first * p->across + k;
    real *packed = p->packed + k * p->pitch + first;
    vec x[VEC_WIDTH];
    if (rows == VEC_WIDTH && cols == VEC_WIDTH) {
        UNROLL
        for (int i = 0; i < VEC_WIDTH; i++)
            x[i] = vec_load(source + i * p->across);
    } else {
        const vec_lanes on = vec_lanes_first(cols);
        UNROLL
        for (int i = 0; i < VEC_WIDTH; i++)
            x[i] = i < rows ? vec_load_lanes(source + i * p->across, on) : (vec){0};
    }
    vec_transpose(x);
    // In a panel of several vectors a row, the elements behind belong to a block that is done.
    const int64_t left = p->pitch < VEC_WIDTH ? (p->k - k) * p->pitch : 0;
    UNROLL
    for (int i = 0; i < VEC_WIDTH; i++) {
        if (i < cols)
            pack_store(packed + i * p->pitch, x[i], kept, left - i * p->pitch);
    }
}

static void pack_transposed(const panel *p)
{
    for (int64_t k = 0; k < p->k; k += VEC_WIDTH) {
        for (int64_t first = 0; first < p->pitch; first += VEC_WIDTH)
            pack_block(p, first, k);
    }
}

// Brings what is `ahead` elements behind the source's, which may be past its end.
VEC_INLINE void pack_ahead(const real *source, int64_t ahead)
{
    __builtin_prefetch((const char *)source + ahead * (int64_t)sizeof(real));
}

// The source's elements for one k lie side by side, and a vector holds them.
static UNCHECKED void pack_narrow(const panel *p)
{
    const int64_t pitch = p->pitch, along = p->along, ahead = p->ahead;
    const vec_lanes on = vec_lanes_first(p->count);
    real *packed = p->packed;
    const real *source = p->source;
    int64_t left = p->k * pitch;
    for (; left >= VEC_WIDTH; packed += pitch, source += along, left -= pitch) {
        pack_ahead(source, ahead);
        vec_store(packed, vec_load_lanes(source, on));
    }
    for (; left > 0; packed += pitch, source += along, left -= pitch)
        pack_store(packed, vec_load_lanes(source, on), pitch, left);
}

// Likewise, in several vectors.
static UNCHECKED void pack_copied(const panel *p)
{
    const int64_t pitch = p->pitch, along = p->along, ahead = p->ahead;
    const int64_t whole = p->count - p->count % VEC_WIDTH;
    const vec_lanes rest = vec_lanes_first(p->count - whole);
    real *packed = p->packed;
    const real *source = p->source;
    int64_t left = p->k * pitch;
    for (; left > 0; packed += pitch, source += along, left -= pitch) {
        for (int64_t first = 0; first < whole; first += VEC_WIDTH) {
            pack_ahead(source, ahead + first);
            vec_store(packed + first, vec_load(source + first));
        }
        if (whole == pitch)
            continue;
        pack_ahead(source, ahead + whole);
        vec x = vec_load_lanes(source + whole, rest);
        for (int64_t first = whole; first < pitch; first += VEC_WIDTH, x = (vec){0}) {
            const int64_t kept = pitch - first;
            pack_store(packed + first, x, kept < VEC_WIDTH ? kept : VEC_WIDTH, left - first);
        }
    }
}

static void pack_panel(const panel *p)
{
    if (p->across == 1 && p->pitch <= VEC_WIDTH)
        pack_narrow(p);
    else if (p->across == 1)
        pack_copied(p);
    else
        pack_transposed(p);
}

// The last step of a tile that was computed as (columns of c, rows of c).
typedef struct transposed_tile {
    const real *tile; /* (cols, TILE_COLS), of which the first `rows` columns count */
    real *c;          /* (rows, cols) */
    int64_t c_row, rows, cols;
    const real *bias; /* (cols) or NULL */
    bool add, relu;
} transposed_tile;

static UNCHECKED void transpose_block(const transposed_tile *t, int64_t row, int64_t col)
{
    const int64_t rows = t->rows - row < VEC_WIDTH ? t->rows - row : VEC_WIDTH;
    const int64_t cols = t->cols - col < VEC_WIDTH ? t->cols - col : VEC_WIDTH;
    const vec_lanes on = vec_lanes_first(cols);
    const vec bias = t->bias ? vec_load_lanes(t->bias + col, on) : (vec){0};
    const bool add = t->add, relu = t->relu;
    real *c = t->c + row * t->c_row + col;
    vec x[VEC_WIDTH];
    UNROLL
    for (int i = 0; i < VEC_WIDTH; i++)
        x[i] = i < cols ? vec_load(t->tile + (col + i) * TILE_COLS + row) : (vec){0};
    vec_transpose(x);
    UNROLL
    for (int i = 0; i < VEC_WIDTH; i++, c += t->c_row) {
        if (i >= rows)
            break;
        vec y = x[i] + bias;
        if (add)
            y += vec_load_lanes(c, on);
        vec_store_lanes(c, relu ? vec_relu(y) : y, on);
    }
}

static void transpose_tile(const transposed_tile *t)
{
    for (int64_t row = 0; row < t->rows; row += VEC_WIDTH) {
        for (int64_t col = 0; col < t->cols; col += VEC_WIDTH)
            transpose_block(t, row, col);
    }
}

#endif
