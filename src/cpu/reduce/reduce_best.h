// SPDX-License-Identifier: Apache-2.0
// The largest or smallest float32 of a run, at full width; it needs no wider type.
#ifndef TERN_SRC_CPU_REDUCE_REDUCE_BEST_H
#define TERN_SRC_CPU_REDUCE_REDUCE_BEST_H

#include "cpu/reduce/reduce_ops.h"

VEC_INLINE vec reduce_best_map(reduce_op op, vec x)
{
    if (op == REDUCE_MAX || op == REDUCE_MIN)
        return x;
    return (vec)((vec_mask)x & INT32_MAX);
}

VEC_INLINE vec reduce_best_of(reduce_op op, vec x, vec a)
{
    return op == REDUCE_MAX || op == REDUCE_MAX_ABS ? vec_max(x, a) : vec_min(x, a);
}

VEC_INLINE float reduce_best_one(reduce_op op, float x, float a)
{
    return (op == REDUCE_MAX || op == REDUCE_MAX_ABS ? x > a : x < a) ? x : a;
}

// NaN wins, here and wherever results are joined.
VEC_INLINE double reduce_best_total(reduce_op op, double a, double x)
{
    const bool better = op == REDUCE_MAX || op == REDUCE_MAX_ABS ? x > a : x < a;
    return (better | (x != x)) ? x : a;
}

VEC_INLINE float reduce_best_lanes(reduce_op op, vec v)
{
    typedef float four __attribute__((vector_size(16)));
    four part[VEC_BYTES / 16];
    memcpy(part, &v, sizeof part);
    for (int half = VEC_BYTES / 32; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            for (int k = 0; k < 4; k++)
                part[i][k] = reduce_best_one(op, part[i + half][k], part[i][k]);
    return reduce_best_one(op, reduce_best_one(op, part[0][2], part[0][0]),
                           reduce_best_one(op, part[0][3], part[0][1]));
}

// n >= VEC_WIDTH; the last vector overlaps others.
VEC_INLINE float reduce_best_long(reduce_op op, const float *x, int64_t n)
{
    vec v[4];
    vec_nans nans;
    const vec last = reduce_best_map(op, vec_load(x + n - VEC_WIDTH));
    for (int j = 0; j < 4; j++)
        v[j] = last;
    nans = vec_find_nans(last, last);
    int64_t i = 0;
    for (; i + 4 * VEC_WIDTH <= n; i += 4 * VEC_WIDTH)
        for (int j = 0; j < 4; j += 2) {
            const vec a = reduce_best_map(op, vec_load(x + i + j * VEC_WIDTH));
            const vec b = reduce_best_map(op, vec_load(x + i + (j + 1) * VEC_WIDTH));
            v[j] = reduce_best_of(op, a, v[j]);
            v[j + 1] = reduce_best_of(op, b, v[j + 1]);
            nans |= vec_find_nans(a, b);
        }
    for (; i + VEC_WIDTH <= n; i += VEC_WIDTH) {
        const vec a = reduce_best_map(op, vec_load(x + i));
        v[0] = reduce_best_of(op, a, v[0]);
        nans |= vec_find_nans(a, a);
    }
    if (vec_any_nan(nans))
        return NAN;
    v[0] = reduce_best_of(op, reduce_best_of(op, v[0], v[1]), reduce_best_of(op, v[2], v[3]));
    return reduce_best_lanes(op, v[0]);
}

// A NaN wins; what a reduction starts from for n = 0.
VEC_INLINE float reduce_best_row(reduce_op op, const float *x, int64_t n)
{
    if (n >= VEC_WIDTH)
        return reduce_best_long(op, x, n);
    if (n == 0)
        return op == REDUCE_MAX || op == REDUCE_MAX_ABS ? -INFINITY : INFINITY;
    const vec v = reduce_best_map(op, vec_load_partial(x, n, x[0]));
    return vec_any_nan(vec_find_nans(v, v)) ? NAN : reduce_best_lanes(op, v);
}

VEC_INLINE vec reduce_best_four(reduce_op op, const float *x, int64_t stride, vec_nans *nans)
{
    const vec a = reduce_best_map(op, vec_load(x));
    const vec b = reduce_best_map(op, vec_load(x + stride));
    const vec c = reduce_best_map(op, vec_load(x + 2 * stride));
    const vec d = reduce_best_map(op, vec_load(x + 3 * stride));
    *nans |= vec_find_nans(a, b) | vec_find_nans(c, d);
    return reduce_best_of(op, reduce_best_of(op, d, c), reduce_best_of(op, b, a));
}

VEC_INLINE void reduce_best_columns_of(reduce_op op, double *acc, const float *x,
                                       int64_t row_stride, int64_t rows, int64_t cols)
{
    enum { VECS = REDUCE_MAX_COLUMNS / VEC_WIDTH };
    vec best[VECS];
    vec_nans nans[VECS];
    const int64_t vecs = (cols + VEC_WIDTH - 1) / VEC_WIDTH, last = cols - VEC_WIDTH;
    for (int64_t v = 0; v < vecs; v++) {
        best[v] = reduce_best_map(op, vec_load(x + (v < vecs - 1 ? v * VEC_WIDTH : last)));
        nans[v] = vec_find_nans(best[v], best[v]);
    }
    for (rows--, x += row_stride; rows >= 4; rows -= 4, x += 4 * row_stride)
        for (int64_t v = 0; v < vecs; v++) {
            const float *from = x + (v < vecs - 1 ? v * VEC_WIDTH : last);
            best[v] = reduce_best_of(op, reduce_best_four(op, from, row_stride, &nans[v]), best[v]);
        }
    for (; rows > 0; rows--, x += row_stride)
        for (int64_t v = 0; v < vecs; v++) {
            const float *from = x + (v < vecs - 1 ? v * VEC_WIDTH : last);
            const vec a = reduce_best_map(op, vec_load(from));
            nans[v] |= vec_find_nans(a, a);
            best[v] = reduce_best_of(op, a, best[v]);
        }
    for (int64_t v = 0; v < vecs; v++) {
        double *to = acc + (v < vecs - 1 ? v * VEC_WIDTH : last);
        const vec found = vec_set_nans(nans[v], best[v]);
        for (int i = 0; i < VEC_WIDTH; i++)
            to[i] = reduce_best_total(op, to[i], (double)found[i]);
    }
}

// Combines each column of (rows, cols) with its accumulator; rows > 0 and cols from VEC_WIDTH to
// REDUCE_MAX_COLUMNS: the last vector overlaps the one before.
static inline void reduce_best_columns(reduce_op op, double *acc, const float *x,
                                       int64_t row_stride, int64_t rows, int64_t cols)
{
    if (op == REDUCE_MAX)
        reduce_best_columns_of(REDUCE_MAX, acc, x, row_stride, rows, cols);
    else if (op == REDUCE_MIN)
        reduce_best_columns_of(REDUCE_MIN, acc, x, row_stride, rows, cols);
    else if (op == REDUCE_MAX_ABS)
        reduce_best_columns_of(REDUCE_MAX_ABS, acc, x, row_stride, rows, cols);
    else
        reduce_best_columns_of(REDUCE_MIN_ABS, acc, x, row_stride, rows, cols);
}

#endif
