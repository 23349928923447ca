// SPDX-License-Identifier: Apache-2.0
// How a reduction over any dimensions and strides is carried out: which dimensions are kept, which
// are folded, and how the work is cut, by shape and strides alone.
#ifndef TERN_SRC_CPU_REDUCE_REDUCE_PLAN_H
#define TERN_SRC_CPU_REDUCE_REDUCE_PLAN_H

#include "cpu/reduce/reduce_ops.h"
#include "cpu/isa.h"

typedef struct reduce_dim {
    int64_t size;
    int64_t x_stride;
    int64_t y_stride[2];
} reduce_dim;

typedef struct reduce_plan {
    const char *x;
    tern_dtype dtype;
    int64_t element;                                             // bytes
    int keep_count, fold_count;                                  // at least 1 each
    reduce_dim keep[TERN_MAX_RANK + 1], fold[TERN_MAX_RANK + 1]; // innermost last
    int64_t outputs;                                             // product of the kept sizes
    int64_t terms;                                               // product of the folded sizes
    bool columns;                    // the innermost kept dimension is the denser: fold rows
    int64_t block, blocks;           // columns: so many side by side, so often
    int64_t units;                   // outputs, or blocks of columns
    int64_t segments, segment_terms; // the terms of a unit may be cut
    int64_t tasks, tasks_per_piece;
} reduce_plan;

// y2 may be NULL. Where y's size is 1 x is folded.
void TERN_ISA_NAME(reduce_make_plan)(reduce_plan *plan, const tern_strided *x,
                                     const tern_strided *y, const tern_strided *y2);

#define REDUCE_MAX_SEGMENTS 64

// Accumulators, of 8 bytes, that reduce_fold needs: all segments of all outputs.
static inline int64_t reduce_slots(const reduce_plan *plan)
{
    return plan->outputs * plan->segments;
}

// Folds x into acc: double for floating dtypes, else int64_t; the results are the first `outputs`,
// in the order of plan->keep. shift (outputs) is FOLD_DEVIATION's, else NULL.
void TERN_ISA_NAME(reduce_fold)(const reduce_plan *plan, fold_op op, double power,
                                const double *shift, void *acc);

// Where output `index` lies in y (which = 0) or y2.
int64_t TERN_ISA_NAME(reduce_place)(const reduce_plan *plan, int which, int64_t index);

// The p-norm is a fold over the elements, and a function of what that gives.
static inline fold_op reduce_norm_op(double p)
{
    if (p == 0)
        return FOLD_NONZERO;
    if (p == 1)
        return FOLD_ABS;
    if (p == 2)
        return FOLD_SQUARE_WIDE;
    if (isinf(p))
        return p > 0 ? FOLD_MAX_ABS : FOLD_MIN_ABS;
    return FOLD_POWER;
}

static inline double reduce_norm_of(double total, double p, int64_t terms)
{
    if (terms == 0)
        return 0;
    if (p == 2)
        return sqrt(total);
    return p == 0 || p == 1 || isinf(p) ? total : pow(total, 1 / p);
}

#define reduce_make_plan TERN_ISA_NAME(reduce_make_plan)
#define reduce_fold      TERN_ISA_NAME(reduce_fold)
#define reduce_place     TERN_ISA_NAME(reduce_place)

#endif
