// SPDX-License-Identifier: Apache-2.0
// The largest or smallest float32 of a run, at full width; it needs no wider type.
#ifndef TERN_SRC_CPU_REDUCE_FOLD_BEST_H
#define TERN_SRC_CPU_REDUCE_FOLD_BEST_H

#include "cpu/reduce/fold_lanes.h"

VEC_INLINE fold_floats fold_best_map(fold_op op, fold_floats x)
{
    if (op == FOLD_MAX || op == FOLD_MIN)
        return x;
    return (fold_floats)((fold_ints)x & INT32_MAX);
}

VEC_INLINE fold_floats fold_best_of(fold_op op, fold_floats x, fold_floats a)
{
    return op == FOLD_MAX || op == FOLD_MAX_ABS ? fold_larger(x, a) : fold_smaller(x, a);
}

VEC_INLINE float fold_best_one(fold_op op, float x, float a)
{
    return (op == FOLD_MAX || op == FOLD_MAX_ABS ? x > a : x < a) ? x : a;
}

// NaN wins, here and wherever results are joined.
VEC_INLINE double fold_best_total(fold_op op, double a, double x)
{
    const bool better = op == FOLD_MAX || op == FOLD_MAX_ABS ? x > a : x < a;
    return (better | (x != x)) ? x : a;
}

VEC_INLINE float fold_best_lanes(fold_op op, fold_floats v)
{
    typedef float four __attribute__((vector_size(16)));
    four part[VEC_BYTES / 16];
    memcpy(part, &v, sizeof part);
    for (int half = VEC_BYTES / 32; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            for (int k = 0; k < 4; k++)
                part[i][k] = fold_best_one(op, part[i + half][k], part[i][k]);
    return fold_best_one(op, fold_best_one(op, part[0][2], part[0][0]),
                         fold_best_one(op, part[0][3], part[0][1]));
}

// n >= FOLD_WIDTH; the last vector overlaps others.
VEC_INLINE float fold_best_long(fold_op op, const float *x, int64_t n)
{
    fold_floats v[4];
    fold_nans nans;
    const fold_floats last = fold_best_map(op, fold_load(x + n - FOLD_WIDTH));
    for (int j = 0; j < 4; j++)
        v[j] = last;
    nans = fold_nans_of(last, last);
    int64_t i = 0;
    for (; i + 4 * FOLD_WIDTH <= n; i += 4 * FOLD_WIDTH)
        for (int j = 0; j < 4; j += 2) {
            const fold_floats a = fold_best_map(op, fold_load(x + i + j * FOLD_WIDTH));
            const fold_floats b = fold_best_map(op, fold_load(x + i + (j + 1) * FOLD_WIDTH));
            v[j] = fold_best_of(op, a, v[j]);
            v[j + 1] = fold_best_of(op, b, v[j + 1]);
            nans |= fold_nans_of(a, b);
        }
    for (; i + FOLD_WIDTH <= n; i += FOLD_WIDTH) {
        const fold_floats a = fold_best_map(op, fold_load(x + i));
        v[0] = fold_best_of(op, a, v[0]);
        nans |= fold_nans_of(a, a);
    }
    if (fold_any_nan(nans))
        return NAN;
    v[0] = fold_best_of(op, fold_best_of(op, v[0], v[1]), fold_best_of(op, v[2], v[3]));
    return fold_best_lanes(op, v[0]);
}

// A NaN wins; what a fold starts from for n = 0.
VEC_INLINE float fold_best_row(fold_op op, const float *x, int64_t n)
{
    if (n >= FOLD_WIDTH)
        return fold_best_long(op, x, n);
    if (n == 0)
        return op == FOLD_MAX || op == FOLD_MAX_ABS ? -INFINITY : INFINITY;
    const fold_floats v = fold_best_map(op, fold_load_part(x, n, x[0]));
    return fold_any_nan(fold_nans_of(v, v)) ? NAN : fold_best_lanes(op, v);
}

VEC_INLINE fold_floats fold_best_four(fold_op op, const float *x, int64_t stride, fold_nans *nans)
{
    const fold_floats a = fold_best_map(op, fold_load(x));
    const fold_floats b = fold_best_map(op, fold_load(x + stride));
    const fold_floats c = fold_best_map(op, fold_load(x + 2 * stride));
    const fold_floats d = fold_best_map(op, fold_load(x + 3 * stride));
    *nans |= fold_nans_of(a, b) | fold_nans_of(c, d);
    return fold_best_of(op, fold_best_of(op, d, c), fold_best_of(op, b, a));
}

VEC_INLINE void fold_best_columns_of(fold_op op, double *acc, const float *x, int64_t row_stride,
                                     int64_t rows, int64_t cols)
{
    enum { VECS = REDUCE_MAX_COLUMNS / FOLD_WIDTH };
    fold_floats best[VECS];
    fold_nans nans[VECS];
    const int64_t vecs = (cols + FOLD_WIDTH - 1) / FOLD_WIDTH, last = cols - FOLD_WIDTH;
    for (int64_t v = 0; v < vecs; v++) {
        best[v] = fold_best_map(op, fold_load(x + (v < vecs - 1 ? v * FOLD_WIDTH : last)));
        nans[v] = fold_nans_of(best[v], best[v]);
    }
    for (rows--, x += row_stride; rows >= 4; rows -= 4, x += 4 * row_stride)
        for (int64_t v = 0; v < vecs; v++) {
            const float *from = x + (v < vecs - 1 ? v * FOLD_WIDTH : last);
            best[v] = fold_best_of(op, fold_best_four(op, from, row_stride, &nans[v]), best[v]);
        }
    for (; rows > 0; rows--, x += row_stride)
        for (int64_t v = 0; v < vecs; v++) {
            const float *from = x + (v < vecs - 1 ? v * FOLD_WIDTH : last);
            const fold_floats a = fold_best_map(op, fold_load(from));
            nans[v] |= fold_nans_of(a, a);
            best[v] = fold_best_of(op, a, best[v]);
        }
    for (int64_t v = 0; v < vecs; v++) {
        double *to = acc + (v < vecs - 1 ? v * FOLD_WIDTH : last);
        const fold_floats found = fold_nan_where(nans[v], best[v]);
        for (int i = 0; i < FOLD_WIDTH; i++)
            to[i] = fold_best_total(op, to[i], (double)found[i]);
    }
}

// Combines each column of (rows, cols) with its accumulator; rows > 0 and cols from FOLD_WIDTH to
// REDUCE_MAX_COLUMNS: the last vector overlaps the one before.
static inline void fold_best_columns(fold_op op, double *acc, const float *x, int64_t row_stride,
                                     int64_t rows, int64_t cols)
{
    if (op == FOLD_MAX)
        fold_best_columns_of(FOLD_MAX, acc, x, row_stride, rows, cols);
    else if (op == FOLD_MIN)
        fold_best_columns_of(FOLD_MIN, acc, x, row_stride, rows, cols);
    else if (op == FOLD_MAX_ABS)
        fold_best_columns_of(FOLD_MAX_ABS, acc, x, row_stride, rows, cols);
    else
        fold_best_columns_of(FOLD_MIN_ABS, acc, x, row_stride, rows, cols);
}

#endif
