// SPDX-License-Identifier: Apache-2.0
// How a reduction over any dimensions and strides is carried out: which dimensions are kept, which
// are reduced, and how the work is cut, by shape and strides alone.
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
    int64_t element;                                               // bytes
    int keep_count, reduce_count;                                  // at least 1 each
    reduce_dim keep[TERN_MAX_RANK + 1], reduce[TERN_MAX_RANK + 1]; // innermost last
    int64_t outputs;                                               // product of the kept sizes
    int64_t terms;                                                 // product of the reduced sizes
    bool columns;                    // the innermost kept dimension is the denser: reduction rows
    int64_t block, blocks;           // columns: so many side by side, so often
    int64_t units;                   // outputs, or blocks of columns
    int64_t segments, segment_terms; // the terms of a unit may be cut
    int64_t tasks, tasks_per_chunk;
} reduce_plan;

// y2 may be NULL. Where y's size is 1 x is reduced.
void TERN_ISA_NAME(reduce_make_plan)(reduce_plan *plan, const tern_strided *x,
                                     const tern_strided *y, const tern_strided *y2);

#define REDUCE_MAX_SEGMENTS 64

// Accumulators, of 8 bytes, that reduce_run needs: all segments of all outputs.
static inline int64_t reduce_slots(const reduce_plan *plan)
{
    return plan->outputs * plan->segments;
}

// Reduces x into acc: double for floating dtypes, else int64_t; the results are the first
// `outputs`, in the order of plan->keep. shift (outputs) is REDUCE_DEVIATION's, else NULL.
void TERN_ISA_NAME(reduce_run)(const reduce_plan *plan, reduce_op op, double power,
                               const double *shift, void *acc);

// Where output `index` lies in y (which = 0) or y2.
int64_t TERN_ISA_NAME(reduce_offset)(const reduce_plan *plan, int which, int64_t index);

// The p-norm is a reduction over the elements, and a function of what that gives.
static inline reduce_op reduce_norm_op(double p)
{
    if (p == 0)
        return REDUCE_NONZERO;
    if (p == 1)
        return REDUCE_ABS;
    if (p == 2)
        return REDUCE_SQUARE_WIDE;
    if (isinf(p))
        return p > 0 ? REDUCE_MAX_ABS : REDUCE_MIN_ABS;
    return REDUCE_POWER;
}

static inline double reduce_norm_result(double total, double p, int64_t terms)
{
    if (terms == 0)
        return 0;
    if (p == 2)
        return sqrt(total);
    return p == 0 || p == 1 || isinf(p) ? total : pow(total, 1 / p);
}

#define reduce_make_plan TERN_ISA_NAME(reduce_make_plan)
#define reduce_run       TERN_ISA_NAME(reduce_run)
#define reduce_offset    TERN_ISA_NAME(reduce_offset)

#endif
