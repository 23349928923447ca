// SPDX-License-Identifier: Apache-2.0
// How a reduction over any dimensions and strides is carried out: which dimensions are kept, which
// are reduced, and how the work is split, by shape and strides alone. Passed to kernels by value.
#ifndef TERN_SRC_CUDA_REDUCE_REDUCE_PLAN_CUH
#define TERN_SRC_CUDA_REDUCE_REDUCE_PLAN_CUH

#include "cuda/block.cuh"
#include "cuda/fast_divide.cuh"
#include "cuda/vec.cuh"

#define REDUCE_BITS         8
#define REDUCE_THREADS      (1 << REDUCE_BITS)
#define REDUCE_RESIDENT     3    // blocks on a multiprocessor: ptxas would spill for a fourth
#define REDUCE_COLUMNS      32   // side by side in a block, a warp's lanes
#define REDUCE_BLOCKS       1024 // that keep a device busy
#define REDUCE_ROW_TERMS    4096 // the minimum that is worth a block of its own
#define REDUCE_COLUMN_TERMS 128

typedef struct reduce_dim {
    int64_t size;
    int64_t x_stride;
    int64_t y_stride[2];
    int64_divisor divisor; // the size
} reduce_dim;

typedef struct reduce_plan {
    int keep_count, reduced_count;                                  // at least 1 each
    reduce_dim keep[TERN_MAX_RANK + 1], reduced[TERN_MAX_RANK + 1]; // innermost last
    int64_t outputs;                                                // product of the kept sizes
    int64_t terms;                                                  // product of the reduced sizes
    int64_t segments, segment_terms;                                // the terms may be split
    bool columns;         // the innermost kept dimension is the denser: a thread reduces a column
    int64_t units;        // of work for a block: groups of outputs, or of columns
    int64_divisor across; // columns: blocks that lie side by side
    bool vectorized;      // rows allow the widest loads
    int lane_bits;        // rows: 2^lane_bits threads for one output
} reduce_plan;

// ---- on the device ------------------------------------------------------------------------------

// Where term `term` lies in x, from the first one of its output.
__device__ __forceinline__ int64_t reduce_term(const reduce_plan &plan, int64_t term)
{
    int64_t at = 0;
    for (int d = plan.reduced_count - 1; d > 0; d--) {
        const int64_t outer = fast_divmod(&term, plan.reduced[d].divisor);
        at += term * plan.reduced[d].x_stride;
        term = outer;
    }
    return at + term * plan.reduced[0].x_stride;
}

typedef struct reduce_offsets {
    int64_t x, y[2];
} reduce_offsets;

__device__ __forceinline__ reduce_offsets reduce_output(const reduce_plan &plan, int64_t output)
{
    reduce_offsets at = {0, {0, 0}};
    for (int d = plan.keep_count - 1; d >= 0; d--) {
        const reduce_dim &dim = plan.keep[d];
        const int64_t outer = d > 0 ? fast_divmod(&output, dim.divisor) : 0;
        at.x += output * dim.x_stride;
        at.y[0] += output * dim.y_stride[0];
        at.y[1] += output * dim.y_stride[1];
        output = outer;
    }
    return at;
}

// ---- on the host --------------------------------------------------------------------------------

// Broadcasts (stride 0) outermost, then by falling stride.
static inline bool reduce_is_outside(const reduce_dim *a, const reduce_dim *b)
{
    const uint64_t sa = (uint64_t)(a->x_stride < 0 ? -a->x_stride : a->x_stride);
    const uint64_t sb = (uint64_t)(b->x_stride < 0 ? -b->x_stride : b->x_stride);
    return sa - 1 > sb - 1;
}

static inline int64_t reduce_add_dim(reduce_dim *dims, int *count, const reduce_dim &dim)
{
    dims[*count] = dim;
    dims[*count].divisor = make_int64_divisor(dim.size);
    ++*count;
    return dim.size;
}

static inline void reduce_split_dims(reduce_plan *plan, const tern_strided *x,
                                     const tern_strided *y, const tern_strided *y2)
{
    plan->outputs = plan->terms = 1;
    for (int d = 0; d < x->rank; d++) {
        reduce_dim dim = {x->size[d], x->stride[d], {0, 0}, {}};
        if (y->size[d] == 1) {
            plan->terms *= reduce_add_dim(plan->reduced, &plan->reduced_count, dim);
            continue;
        }
        dim.y_stride[0] = y->stride[d];
        dim.y_stride[1] = y2 ? y2->stride[d] : 0;
        plan->outputs *= reduce_add_dim(plan->keep, &plan->keep_count, dim);
    }
    const reduce_dim none = {1, 0, {0, 0}, {}};
    if (plan->keep_count == 0)
        reduce_add_dim(plan->keep, &plan->keep_count, none);
    if (plan->reduced_count == 0)
        reduce_add_dim(plan->reduced, &plan->reduced_count, none);
}

static inline bool reduce_is_vectorized(const reduce_plan *plan, const tern_strided *x)
{
    const int64_t size = (int64_t)tern_dtype_size(x->dtype);
    bool aligned = plan->reduced_count == 1 && plan->reduced[0].x_stride == 1;
    for (int d = 0; d < plan->keep_count; d++)
        aligned = aligned && vec_aligned(x->data, plan->keep[d].x_stride, size);
    return aligned;
}

// Blocks that would be idle take some of the terms.
static inline void reduce_split_terms(reduce_plan *plan, int64_t min_terms)
{
    const int64_t max_segments = ceil_div(plan->terms, min_terms);
    int64_t segments = min_int64(max_segments, REDUCE_BLOCKS / (plan->units > 0 ? plan->units : 1));
    segments = segments < 1 ? 1 : segments;
    // Whole vectors, so that every segment begins where a row may.
    plan->segment_terms = ceil_div(ceil_div(plan->terms, segments), 16) * 16;
    plan->segments = plan->terms > 0 ? ceil_div(plan->terms, plan->segment_terms) : 1;
}

// Where y's size is 1 x is reduced; y2 may be NULL.
static inline reduce_plan make_reduce_plan(const tern_strided *x, const tern_strided *y,
                                           const tern_strided *y2)
{
    reduce_plan plan = {};
    reduce_split_dims(&plan, x, y, y2);
    const reduce_dim *keep = &plan.keep[plan.keep_count - 1];
    const reduce_dim *reduced = &plan.reduced[plan.reduced_count - 1];
    plan.columns = keep->size > 1 && (reduced->size == 1 || reduce_is_outside(reduced, keep));
    if (plan.columns) {
        const int64_t across = ceil_div(keep->size, REDUCE_COLUMNS);
        plan.across = make_int64_divisor(across);
        plan.units = plan.outputs / keep->size * across;
        reduce_split_terms(&plan, REDUCE_COLUMN_TERMS);
        return plan;
    }
    plan.vectorized = reduce_is_vectorized(&plan, x);
    plan.lane_bits = plan.terms <= 32 ? 3 : plan.terms <= 1024 ? WARP_BITS : REDUCE_BITS;
    plan.units = ceil_div(plan.outputs, REDUCE_THREADS >> plan.lane_bits);
    reduce_split_terms(&plan, REDUCE_ROW_TERMS);
    return plan;
}

#endif
