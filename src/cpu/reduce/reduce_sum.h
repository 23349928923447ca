// SPDX-License-Identifier: Apache-2.0
// Sums of float32 at full width: short runs in float, everything beyond them in double.
#ifndef TERN_SRC_CPU_REDUCE_REDUCE_SUM_H
#define TERN_SRC_CPU_REDUCE_REDUCE_SUM_H

#include "cpu/reduce/reduce_ops.h"

// n <= REDUCE_CHUNK.
VEC_INLINE float reduce_sum_chunk(const float *x, int64_t n)
{
    vec sum = {0};
    int64_t i = 0;
    if (n >= 4 * VEC_WIDTH) {
        vec v[4];
        for (int j = 0; j < 4; j++)
            v[j] = vec_load(x + j * VEC_WIDTH);
        for (i = 4 * VEC_WIDTH; i + 4 * VEC_WIDTH <= n; i += 4 * VEC_WIDTH)
            for (int j = 0; j < 4; j++)
                v[j] += vec_load(x + i + j * VEC_WIDTH);
        sum = (v[0] + v[1]) + (v[2] + v[3]);
    }
    for (; i + VEC_WIDTH <= n; i += VEC_WIDTH)
        sum += vec_load(x + i);
    if (i < n)
        sum += vec_load_partial(x + i, n - i, 0);
    return vec_reduce_add(sum);
}

static inline double reduce_sum_row(const float *x, int64_t n)
{
    double total = 0;
    for (int64_t i = 0; i < n; i += REDUCE_CHUNK)
        total += (double)reduce_sum_chunk(x + i, n - i < REDUCE_CHUNK ? n - i : REDUCE_CHUNK);
    return total;
}

// The sum of n squares, n a multiple of 4 * VEC_WIDTH: four at a time in float, those in double.
// The rounding of four has no part that grows with n. Wrong where squares are out of float's range.
static inline double reduce_square_chunk(const float *x, int64_t n)
{
    typedef float half __attribute__((vector_size(VEC_BYTES / 2)));
    typedef double wide __attribute__((vector_size(VEC_BYTES)));
    wide low = {0}, high = {0};
    for (int64_t i = 0; i < n; i += 4 * VEC_WIDTH) {
        half part[2];
        vec v[4];
        for (int j = 0; j < 4; j++) {
            v[j] = vec_load(x + i + j * VEC_WIDTH);
            v[j] *= v[j];
        }
        v[0] = (v[0] + v[1]) + (v[2] + v[3]);
        memcpy(part, &v[0], sizeof part);
        low += __builtin_convertvector(part[0], wide);
        high += __builtin_convertvector(part[1], wide);
    }
    double total = 0;
    low += high;
    for (int i = 0; i < VEC_WIDTH / 2; i++)
        total += low[i];
    return total;
}

// Adds the columns of (rows, cols) to acc (cols); cols <= REDUCE_MAX_COLUMNS.
static inline void reduce_sum_columns(double *acc, const float *x, int64_t row_stride, int64_t rows,
                                      int64_t cols)
{
    float part[REDUCE_MAX_COLUMNS];
    while (rows > 0) {
        int64_t run = rows < REDUCE_ROWS ? rows : REDUCE_ROWS;
        rows -= run;
        for (int64_t c = 0; c < cols; c++)
            part[c] = x[c];
        for (run--, x += row_stride; run >= 4; run -= 4, x += 4 * row_stride) {
            const float *x1 = x + row_stride, *x2 = x1 + row_stride, *x3 = x2 + row_stride;
            for (int64_t c = 0; c < cols; c++)
                part[c] += (x[c] + x1[c]) + (x2[c] + x3[c]);
        }
        for (; run > 0; run--, x += row_stride)
            for (int64_t c = 0; c < cols; c++)
                part[c] += x[c];
        for (int64_t c = 0; c < cols; c++)
            acc[c] += (double)part[c];
    }
}

#endif
