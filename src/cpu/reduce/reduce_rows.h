// SPDX-License-Identifier: Apache-2.0
// Reducing runs of elements into accumulators of 8 bytes: double, or int64_t for integers. The
// order of the additions depends on the lengths alone.
#ifndef TERN_SRC_CPU_REDUCE_REDUCE_ROWS_H
#define TERN_SRC_CPU_REDUCE_REDUCE_ROWS_H

#include "cpu/reduce/reduce_ops.h"

// What maxima and minima start from, and what sums are added in: those of integers wrap.
#if REAL_IS_INTEGER
typedef int64_t acc_type;
typedef uint64_t sum_type;
#define ACC_LOW  INT64_MIN
#define ACC_HIGH INT64_MAX
#else
typedef double acc_type;
typedef double sum_type;
#define ACC_LOW  -INFINITY
#define ACC_HIGH INFINITY
#endif

typedef acc_type acc_vec __attribute__((vector_size(VEC_BYTES)));
typedef sum_type acc_sums __attribute__((vector_size(VEC_BYTES)));
typedef int64_t acc_mask __attribute__((vector_size(VEC_BYTES)));
typedef real acc_elements __attribute__((vector_size(VEC_BYTES / sizeof(acc_type) * sizeof(real)),
                                         aligned(sizeof(real)), may_alias));

VEC_INLINE acc_type reduce_identity(reduce_op op)
{
    if (op == REDUCE_MAX || op == REDUCE_MAX_ABS)
        return ACC_LOW;
    return op == REDUCE_MIN || op == REDUCE_MIN_ABS ? ACC_HIGH : 0;
}

VEC_INLINE acc_type reduce_map(reduce_op op, acc_type x, const reduce_param *param)
{
    if (op == REDUCE_ABS || op == REDUCE_MAX_ABS || op == REDUCE_MIN_ABS)
        return x < 0 ? -x : x;
    if (op == REDUCE_SQUARE_WIDE)
        return x * x;
    if (op == REDUCE_POWER)
        return (acc_type)pow(fabs((double)x), param->power);
    if (op == REDUCE_NONZERO)
        return x != 0;
    if (op == REDUCE_DEVIATION)
        return (x - (acc_type)param->shift) * (x - (acc_type)param->shift);
    return x;
}

VEC_INLINE acc_type reduce_combine(reduce_op op, acc_type a, acc_type x)
{
    if (reduce_op_adds(op))
        return (acc_type)((sum_type)a + (sum_type)x);
    const bool better = op == REDUCE_MAX || op == REDUCE_MAX_ABS ? x > a : x < a;
    return (better | REAL_IS_NAN(x)) ? x : a;
}

VEC_INLINE acc_vec acc_select(acc_mask mask, acc_vec x, acc_vec y)
{
    return (acc_vec)(((acc_mask)x & mask) | ((acc_mask)y & ~mask));
}

VEC_INLINE acc_vec acc_map(reduce_op op, acc_vec x, const reduce_param *param)
{
    if (op == REDUCE_ABS || op == REDUCE_MAX_ABS || op == REDUCE_MIN_ABS)
        return acc_select(x < (acc_vec){0}, -x, x);
    if (op == REDUCE_SQUARE_WIDE)
        return x * x;
    if (op == REDUCE_NONZERO)
        return __builtin_convertvector((acc_mask)(x != (acc_vec){0}) & 1, acc_vec);
    if (op == REDUCE_DEVIATION) {
        const acc_vec d = x - (acc_type)param->shift;
        return d * d;
    }
    return x;
}

VEC_INLINE acc_vec acc_combine(reduce_op op, acc_vec a, acc_vec x)
{
    if (reduce_op_adds(op))
        return (acc_vec)((acc_sums)a + (acc_sums)x);
    const acc_mask better = op == REDUCE_MAX || op == REDUCE_MAX_ABS ? x > a : x < a;
    return acc_select(better | REAL_IS_NAN(x), x, a);
}

// a combined with what x is mapped to. The square of a float is exact in double, so that one
// rounding of square and sum changes nothing.
VEC_INLINE acc_vec acc_step(reduce_op op, acc_vec a, acc_vec x, const reduce_param *param)
{
#if REAL_IS_FLOAT
    if (op == REDUCE_SQUARE_WIDE)
        return vec_double_fma(x, x, a);
#endif
    return acc_combine(op, a, acc_map(op, x, param));
}

VEC_INLINE acc_vec acc_load(const real *x)
{
    return __builtin_convertvector(*(const acc_elements *)x, acc_vec);
}

VEC_INLINE acc_type reduce_row_of(reduce_op op, const reduce_param *param, const real *x, int64_t n)
{
    enum { WIDTH = VEC_BYTES / sizeof(acc_type) };
    acc_type total = reduce_identity(op);
    int64_t i = 0;
    if (op != REDUCE_POWER && n >= 4 * WIDTH) {
        acc_vec v[4];
        for (int j = 0; j < 4; j++)
            v[j] = acc_map(op, acc_load(x + j * WIDTH), param);
        for (i = 4 * WIDTH; i + 4 * WIDTH <= n; i += 4 * WIDTH)
            for (int j = 0; j < 4; j++)
                v[j] = acc_step(op, v[j], acc_load(x + i + j * WIDTH), param);
        v[0] = acc_combine(op, acc_combine(op, v[0], v[1]), acc_combine(op, v[2], v[3]));
        for (int j = 0; j < WIDTH; j++)
            total = reduce_combine(op, total, v[0][j]);
    }
    for (; i < n; i++)
        total = reduce_combine(op, total, reduce_map(op, (acc_type)x[i], param));
    return total;
}

// Reduces n elements.
static acc_type reduce_row(reduce_op op, const reduce_param *param, const real *x, int64_t n)
{
    acc_type total = 0;
#define REDUCE_ROW(constant) total = reduce_row_of(constant, param, x, n)
    REDUCE_SWITCH(op, REDUCE_ROW)
#undef REDUCE_ROW
    return total;
}

VEC_INLINE void reduce_columns_of(reduce_op op, const reduce_param *param, const double *shift,
                                  acc_type *acc, const real *x, int64_t row_stride, int64_t rows,
                                  int64_t cols)
{
    for (int64_t r = 0; r < rows; r++, x += row_stride) {
        for (int64_t c = 0; c < cols; c++) {
            reduce_param own = *param;
            if (op == REDUCE_DEVIATION)
                own.shift = shift[c];
            acc[c] = reduce_combine(op, acc[c], reduce_map(op, (acc_type)x[c], &own));
        }
    }
}

static void reduce_columns_run(reduce_op op, const reduce_param *param, const double *shift,
                               acc_type *acc, const real *x, int64_t row_stride, int64_t rows,
                               int64_t cols)
{
#define REDUCE_COLUMNS(constant)                                                                   \
    reduce_columns_of(constant, param, shift, acc, x, row_stride, rows, cols)
    REDUCE_SWITCH(op, REDUCE_COLUMNS)
#undef REDUCE_COLUMNS
}

// Reduces each column of (rows, cols) into its accumulator; `shift` (cols) stands for param->shift;
// cols <= REDUCE_MAX_COLUMNS. Many rows are added in runs, so that rounding errors stay apart.
static void reduce_columns(reduce_op op, const reduce_param *param, const double *shift,
                           acc_type *acc, const real *x, int64_t row_stride, int64_t rows,
                           int64_t cols)
{
    while (rows > REDUCE_ROWS) {
        acc_type part[REDUCE_MAX_COLUMNS];
        for (int64_t c = 0; c < cols; c++)
            part[c] = reduce_identity(op);
        reduce_columns_run(op, param, shift, part, x, row_stride, REDUCE_ROWS, cols);
        for (int64_t c = 0; c < cols; c++)
            acc[c] = reduce_combine(op, acc[c], part[c]);
        x += REDUCE_ROWS * row_stride;
        rows -= REDUCE_ROWS;
    }
    reduce_columns_run(op, param, shift, acc, x, row_stride, rows, cols);
}

#endif
