// SPDX-License-Identifier: Apache-2.0
// The micro-kernels of the matrix product: a tile of c stays in registers while k runs. Each step
// loads a row of b as vectors and multiplies it with one broadcast element per row of a, so a may
// have any strides and b needs unit column stride.
#ifndef TERN_SRC_CPU_PRODUCT_GEMM_KERNEL_H
#define TERN_SRC_CPU_PRODUCT_GEMM_KERNEL_H

#include <stdbool.h>
#define VEC_UNCHECKED
#include "cpu/vec.h"

// TILE_ROWS x TILE_VECS vectors of accumulators, with the operands, fill the registers; tiles of
// one or two rows are wider, so that enough sums are under way.
#if defined(TERN_ISA_AVX512)
#define TILE_ROWS 14
#else
#define TILE_ROWS 6
#endif
#define TILE_VECS       2
#define TILE_VECS_ROWS2 4
#define TILE_VECS_ROWS1 8
#define TILE_COLS       (TILE_VECS * VEC_WIDTH)

typedef struct tile_operands {
    int64_t k;
    const real *a;        /* (rows, k) */
    int64_t a_row, a_col; // in bytes, for the addressing modes of the inner loop
    const real *b;        /* (k, cols), unit column stride */
    int64_t b_row;        // in elements
} tile_operands;

typedef struct tile_result {
    real *c; /* (rows, cols), unit column stride */
    int64_t c_row;
    const real *bias; /* (cols) or NULL */
    vec_lanes last;   // the lanes of the last vector in a row
    bool add, relu;
} tile_result;

typedef void tile_kernel(const tile_operands *operands, const tile_result *result);

VEC_INLINE void tile_write(int rows, int vecs, vec sum[][TILE_VECS_ROWS1],
                           const tile_result *result)
{
    const bool add = result->add, relu = result->relu;
    const int64_t c_row = result->c_row;
    vec bias[TILE_VECS_ROWS1] = {{0}};
    if (result->bias) {
        UNROLL
        for (int v = 0; v < vecs; v++)
            bias[v] = vec_load_lanes(result->bias + v * VEC_WIDTH,
                                     v == vecs - 1 ? result->last : vec_lanes_first(VEC_WIDTH));
    }
    real *c = result->c;
    UNROLL
    for (int i = 0; i < rows; i++, c += c_row) {
        UNROLL
        for (int v = 0; v < vecs; v++) {
            real *p = c + v * VEC_WIDTH;
            const vec_lanes on = v == vecs - 1 ? result->last : vec_lanes_first(VEC_WIDTH);
            vec x = sum[i][v] + bias[v];
            if (add)
                x += vec_load_lanes(p, on);
            vec_store_lanes(p, relu ? vec_relu(x) : x, on);
        }
    }
}

// The tile of c will have arrived when the sums are made.
VEC_INLINE void tile_prefetch(int rows, int vecs, const tile_result *result)
{
    const char *c = (const char *)result->c;
    const int64_t c_row = result->c_row * (int64_t)sizeof(real);
    UNROLL
    for (int i = 0; i < rows; i++, c += c_row) {
        for (int line = 0; line < vecs * VEC_BYTES; line += 64)
            __builtin_prefetch(c + line, 1);
    }
}

// `masked`: the last vector of each row of b is loaded under a mask (result->last), because what
// lies behind the row may not be readable.
VEC_INLINE void tile_product(int rows, int vecs, bool masked, const tile_operands *operands,
                             const tile_result *result)
{
    // Rows 0, 5 and 10 of a have a pointer each, and the four rows behind are reached from it: an
    // x86 address adds a register times 1, 2, 4 or 8. Three rows are a register of their own.
    const int64_t row = operands->a_row;
    int64_t row3 = row * 3;
    __asm__("" : "+r"(row3)); // or clang computes each address from the one before
    const int64_t a_step = operands->a_col, b_step = operands->b_row;
    const char *a0 = (const char *)operands->a, *a1 = a0 + 5 * row, *a2 = a0 + 10 * row;
    const real *b = operands->b;
    const vec_lanes last = result->last;
    vec sum[TILE_ROWS][TILE_VECS_ROWS1];
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int v = 0; v < vecs; v++)
            sum[i][v] = (vec){0};
    }
    if (operands->k >= 32)
        tile_prefetch(rows, vecs, result);
    TWO_STEPS
    for (int64_t k = operands->k; k > 0; k--) {
        vec y[TILE_VECS_ROWS1];
        UNROLL
        for (int v = 0; v < vecs; v++)
            y[v] = masked && v == vecs - 1 ? vec_load_lanes(b + v * VEC_WIDTH, last)
                                           : vec_load(b + v * VEC_WIDTH);
        UNROLL
        for (int i = 0; i < rows; i++) {
            const char *p = i < 5 ? a0 : i < 10 ? a1 : a2;
            const int64_t near[5] = {0, row, row * 2, row3, row * 4};
            const vec x = vec_set1(*(const real *)(p + near[i % 5]));
            UNROLL
            for (int v = 0; v < vecs; v++)
                sum[i][v] = vec_fma(x, y[v], sum[i][v]);
        }
        a0 += a_step;
        a1 += a_step;
        a2 += a_step;
        b += b_step;
    }
    tile_write(rows, vecs, sum, result);
}

#define TILE_KERNEL(name, rows, vecs, masked)                                                      \
    static UNCHECKED void name(const tile_operands *operands, const tile_result *result)           \
    {                                                                                              \
        tile_product(rows, vecs, masked, operands, result);                                        \
    }
// AVX-512 masks a load for nothing; elsewhere whole vectors have kernels of their own.
#if defined(TERN_ISA_AVX512)
#define TILE_KERNELS(rows, vecs) TILE_KERNEL(tile_##rows##x##vecs, rows, vecs, true)
#define TILE_ENTRY(rows, vecs)   [vecs - 1] = {tile_##rows##x##vecs, tile_##rows##x##vecs}
#else
#define TILE_KERNELS(rows, vecs)                                                                   \
    TILE_KERNEL(tile_##rows##x##vecs, rows, vecs, false)                                           \
    TILE_KERNEL(tile_##rows##x##vecs##_masked, rows, vecs, true)
#define TILE_ENTRY(rows, vecs) [vecs - 1] = {tile_##rows##x##vecs, tile_##rows##x##vecs##_masked}
#endif

#define UP_TO_2(what, rows) what(rows, 1) what(rows, 2)
#define UP_TO_4(what, rows) UP_TO_2(what, rows) what(rows, 3) what(rows, 4)
#define UP_TO_8(what, rows)                                                                        \
    UP_TO_4(what, rows) what(rows, 5) what(rows, 6) what(rows, 7) what(rows, 8)

UP_TO_8(TILE_KERNELS, 1)
UP_TO_4(TILE_KERNELS, 2)
UP_TO_2(TILE_KERNELS, 3)
UP_TO_2(TILE_KERNELS, 4)
UP_TO_2(TILE_KERNELS, 5)
UP_TO_2(TILE_KERNELS, 6)
#if TILE_ROWS > 6
UP_TO_2(TILE_KERNELS, 7)
UP_TO_2(TILE_KERNELS, 8)
UP_TO_2(TILE_KERNELS, 9)
UP_TO_2(TILE_KERNELS, 10)
UP_TO_2(TILE_KERNELS, 11)
UP_TO_2(TILE_KERNELS, 12)
UP_TO_2(TILE_KERNELS, 13)
UP_TO_2(TILE_KERNELS, 14)
#endif

#define TILE_ENTRY2(rows) [rows] = {TILE_ENTRY(rows, 1), TILE_ENTRY(rows, 2)}
// By rows of the tile, vectors less 1, and whether the last vector of b is masked.
static tile_kernel *const tile_kernels[TILE_ROWS + 1][TILE_VECS_ROWS1][2] = {
    [1] = {TILE_ENTRY(1, 1), TILE_ENTRY(1, 2), TILE_ENTRY(1, 3), TILE_ENTRY(1, 4), TILE_ENTRY(1, 5),
           TILE_ENTRY(1, 6), TILE_ENTRY(1, 7), TILE_ENTRY(1, 8)},
    [2] = {TILE_ENTRY(2, 1), TILE_ENTRY(2, 2), TILE_ENTRY(2, 3), TILE_ENTRY(2, 4)},
    TILE_ENTRY2(3),
    TILE_ENTRY2(4),
    TILE_ENTRY2(5),
    TILE_ENTRY2(6),
#if TILE_ROWS > 6
    TILE_ENTRY2(7),
    TILE_ENTRY2(8),
    TILE_ENTRY2(9),
    TILE_ENTRY2(10),
    TILE_ENTRY2(11),
    TILE_ENTRY2(12),
    TILE_ENTRY2(13),
    TILE_ENTRY2(14),
#endif
};

#endif
