// SPDX-License-Identifier: Apache-2.0
// Sums and maxima of rows. Up to REDUCE_CHUNK elements are added in `real`, everything beyond them
// in double.
#ifndef TERN_SRC_CPU_ROW_H
#define TERN_SRC_CPU_ROW_H

#include "cpu/vec.h"
#include "cpu/vecmath.h"

// The exponential of what is not above 0.
#if REAL_IS_FLOAT
#define row_exp_one vm_exp_below
#else
#define row_exp_one exp
#endif

// The largest element, -infinity for n = 0; a NaN may or may not be passed over.
static inline real row_max(const real *x, int64_t n)
{
    vec a = (vec){0} - INFINITY, b = a;
    int64_t i = 0;
    for (; i + 2 * VEC_WIDTH <= n; i += 2 * VEC_WIDTH) {
        a = vec_max(vec_load(x + i), a);
        b = vec_max(vec_load(x + i + VEC_WIDTH), b);
    }
    for (; i < n; i += VEC_WIDTH)
        a = vec_max(vec_load_partial(x + i, vec_count(n - i), -INFINITY), a);
    return vec_reduce_max(vec_max(a, b));
}

// n <= REDUCE_CHUNK.
static inline real row_sum(const real *x, int64_t n)
{
    vec v[4] = {{0}};
    int64_t i = 0;
    for (; i + 4 * VEC_WIDTH <= n; i += 4 * VEC_WIDTH)
        for (int j = 0; j < 4; j++)
            v[j] += vec_load(x + i + j * VEC_WIDTH);
    for (; i < n; i += VEC_WIDTH)
        v[0] += vec_load_partial(x + i, vec_count(n - i), 0);
    return vec_reduce_add((v[0] + v[1]) + (v[2] + v[3]));
}

VEC_INLINE vec vec_exp(vec x)
{
    real e[VEC_WIDTH];
    memcpy(e, &x, sizeof e);
    for (int j = 0; j < VEC_WIDTH; j++)
        e[j] = row_exp_one(e[j]);
    return vec_load(e);
}

// The sum of exp(x - shift), each written to y; n <= REDUCE_CHUNK.
static inline real row_exp_chunk(real *y, const real *x, real shift, int64_t n)
{
    if (n >= 64) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            y[i] = row_exp_one(x[i] - shift);
        return row_sum(y, n);
    }
    // Whole vectors, of exp(0) at the end: exp(-infinity) would underflow, which is slow.
    vec sum = {0};
    for (int64_t i = 0; i < n; i += VEC_WIDTH) {
        const int64_t count = vec_count(n - i);
        const vec e = vec_exp(vec_load_partial(x + i, count, shift) - shift);
        vec_store_partial(y + i, e, count);
        sum += vec_first(e, count);
    }
    return vec_reduce_add(sum);
}

// y may be NULL.
static inline double row_exp_sum(real *y, const real *x, real shift, int64_t n)
{
    real chunk[REDUCE_CHUNK];
    double sum = 0;
    for (int64_t i = 0; i < n; i += REDUCE_CHUNK)
        sum += (double)row_exp_chunk(y ? y + i : chunk, x + i, shift,
                                     n - i < REDUCE_CHUNK ? n - i : REDUCE_CHUNK);
    return sum;
}

// The sum of x * y.
static inline double row_dot(const real *x, const real *y, int64_t n)
{
    double sum = 0;
    for (int64_t start = 0; start < n; start += REDUCE_CHUNK) {
        const int64_t end = n - start < REDUCE_CHUNK ? n : start + REDUCE_CHUNK;
        vec v[4] = {{0}};
        int64_t i = start;
        for (; i + 4 * VEC_WIDTH <= end; i += 4 * VEC_WIDTH)
            for (int j = 0; j < 4; j++)
                v[j] += vec_load(x + i + j * VEC_WIDTH) * vec_load(y + i + j * VEC_WIDTH);
        for (; i < end; i += VEC_WIDTH) {
            const int64_t count = vec_count(end - i);
            v[0] += vec_load_partial(x + i, count, 0) * vec_load_partial(y + i, count, 0);
        }
        sum += (double)vec_reduce_add((v[0] + v[1]) + (v[2] + v[3]));
    }
    return sum;
}

static inline double row_total(const real *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i += REDUCE_CHUNK)
        sum += (double)row_sum(x + i, n - i < REDUCE_CHUNK ? n - i : REDUCE_CHUNK);
    return sum;
}

#endif
