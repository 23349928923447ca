// SPDX-License-Identifier: Apache-2.0
// Reductions over any dimensions, for any operation. Rows: a group of threads reduces the terms of
// one output. Columns: a block reduces REDUCE_COLUMNS adjacent outputs, its warps share
// their terms. Few outputs of many terms are split into segments, and a second kernel combines
// them.
//
// An operation `Op` for elements T is passed by value and has
//     state, acc            types: what a thread gathers in, and what is combined
//     combine_op                 the base that combines segments and writes, or Op itself
//     state start()         before the first term
//     void add(state &, T x, int64_t term)
//     void flush(state &)    now and then: a good time to round
//     acc finish(state)
//     acc identity()            of no terms
//     acc operator()(acc, acc)    both together; the order does not matter
//     void write(acc, const int64_t y[2])    stores the result of an output
// and shuffle_xor is overloaded for acc where that is a struct.
#ifndef TERN_SRC_CUDA_REDUCE_REDUCE_CUH
#define TERN_SRC_CUDA_REDUCE_REDUCE_CUH

#include "cuda/reduce/reduce_plan.cuh"

// Of integers false.
template <class C> __device__ __forceinline__ bool real_isnan(C)
{
    return false;
}
template <> __device__ __forceinline__ bool real_isnan(float x)
{
    return x != x;
}
template <> __device__ __forceinline__ bool real_isnan(double x)
{
    return x != x;
}

// ---- rows ---------------------------------------------------------------------------------------

// The terms are counted before: of a loop whose step it does not know the compiler finds the
// iterations by a 64-bit division.
__device__ __forceinline__ int64_t reduce_iterations(int64_t first, int64_t last, int step_bits)
{
    return (last - first + (1 << step_bits) - 1) >> step_bits;
}

// Every 2^step_bits-th term from `first` on.
template <class T, class Op>
__device__ __forceinline__ void reduce_terms(const reduce_plan &plan, const Op &op,
                                             typename Op::state &state, const T *x, int64_t first,
                                             int64_t last, int step_bits)
{
    const int64_t iterations = reduce_iterations(first, last, step_bits);
    if (plan.reduced_count > 1) {
#pragma unroll 1
        for (int64_t i = 0; i < iterations; i++) {
            const int64_t term = first + (i << step_bits);
            op.add(state, x[reduce_term(plan, term)], term);
            op.flush(state);
        }
        return;
    }
    const int64_t stride = plan.reduced[0].x_stride;
#pragma unroll 4
    for (int64_t i = 0; i < iterations; i++) {
        const int64_t term = first + (i << step_bits);
        op.add(state, x[term * stride], term);
        op.flush(state);
    }
}

// The same for neighbours in memory; the terms that fill no vector come last.
template <class T, class Op>
__device__ __forceinline__ void reduce_vecs(const Op &op, typename Op::state &state, const T *x,
                                            int64_t first, int64_t last, int lane, int step_bits)
{
    enum { WIDTH = vec_width<T>::value };
    const int64_t vecs = (last - first) / WIDTH,
                  iterations = reduce_iterations(lane, vecs, step_bits);
#pragma unroll 4
    for (int64_t i = 0; i < iterations; i++) {
        const int64_t term = first + (lane + (i << step_bits)) * WIDTH;
        const vec<T, WIDTH> values = vec_load<WIDTH>(x + term);
#pragma unroll
        for (int k = 0; k < WIDTH; k++)
            op.add(state, values.at[k], term + k);
        op.flush(state);
    }
    for (int64_t term = first + vecs * WIDTH + lane; term < last; term += 1 << step_bits)
        op.add(state, x[term], term);
    op.flush(state);
}

// Over the 2^lane_bits threads of a group: a part of a warp, or the block.
template <class Acc, class Op>
__device__ __forceinline__ Acc group_reduce(Acc value, int lane_bits, const Op &op)
{
    if (lane_bits > WARP_BITS)
        return block_reduce(value, op.identity(), op);
    for (int bit = lane_bits - 1; bit >= 0; bit--)
        value = op(value, shuffle_xor(value, 1 << bit));
    return value;
}

template <class Op>
__device__ __forceinline__ void store_output(const Op &op, const typename Op::acc &result,
                                             const reduce_offsets &at, typename Op::acc *partials,
                                             int64_t index)
{
    if (partials)
        partials[index] = result;
    else
        op.write(result, at.y);
}

// partials (outputs, segments), or NULL where the terms are not split. A block's y is the segment.
template <class T, class Op>
__global__ void __launch_bounds__(REDUCE_THREADS, REDUCE_RESIDENT)
    reduce_rows(const reduce_plan plan, const Op op, const T *x, typename Op::acc *partials)
{
    const int group = (int)threadIdx.x >> plan.lane_bits;
    const int lane = (int)threadIdx.x & ((1 << plan.lane_bits) - 1);
    const int groups = REDUCE_THREADS >> plan.lane_bits;
    const int64_t first = blockIdx.y * plan.segment_terms, end = first + plan.segment_terms;
    for (int64_t base = (int64_t)blockIdx.x * groups; base < plan.outputs;
         base += (int64_t)gridDim.x * groups) {
        const int64_t output = base + group;
        const bool inside = output < plan.outputs;
        const int64_t last = !inside ? first : end < plan.terms ? end : plan.terms;
        const reduce_offsets at = reduce_output(plan, inside ? output : 0);
        typename Op::state state = op.start();
        if (plan.vectorized)
            reduce_vecs(op, state, x + at.x, first, last, lane, plan.lane_bits);
        else
            reduce_terms(plan, op, state, x + at.x, first + lane, last, plan.lane_bits);
        const typename Op::acc result = group_reduce(op.finish(state), plan.lane_bits, op);
        if (lane == 0 && inside)
            store_output(op, result, at, partials, output * plan.segments + blockIdx.y);
    }
}

// ---- columns ------------------------------------------------------------------------------------

// What the warps of a block found for the column of this lane, in the warps' order.
template <class Acc, class Op> __device__ __forceinline__ Acc combine_warps(Acc value, const Op &op)
{
    enum { WARPS = REDUCE_THREADS / REDUCE_COLUMNS };
    TERN_SHARED(Acc, partial, [WARPS][REDUCE_COLUMNS]);
    const int lane = (int)threadIdx.x % REDUCE_COLUMNS, warp = (int)threadIdx.x / REDUCE_COLUMNS;
    __syncthreads(); // `partial` may still be read from the iteration before
    partial[warp][lane] = value;
    __syncthreads();
    for (int w = 1; warp == 0 && w < WARPS; w++)
        value = op(value, partial[w][lane]);
    return value;
}

template <class T, class Op>
__global__ void __launch_bounds__(REDUCE_THREADS, REDUCE_RESIDENT)
    reduce_columns(const reduce_plan plan, const Op op, const T *x, typename Op::acc *partials)
{
    const int lane = (int)threadIdx.x % REDUCE_COLUMNS, warp = (int)threadIdx.x / REDUCE_COLUMNS;
    const int64_t inner = plan.keep[plan.keep_count - 1].size;
    const int64_t first = blockIdx.y * plan.segment_terms, end = first + plan.segment_terms;
    for (int64_t unit = blockIdx.x; unit < plan.units; unit += gridDim.x) {
        int64_t column = unit;
        const int64_t outer = fast_divmod(&column, plan.across);
        column = column * REDUCE_COLUMNS + lane;
        const int64_t output = outer * inner + column;
        const bool inside = column < inner;
        const int64_t last = !inside ? first : end < plan.terms ? end : plan.terms;
        const reduce_offsets at = reduce_output(plan, inside ? output : 0);
        typename Op::state state = op.start();
        reduce_terms(plan, op, state, x + at.x, first + warp, last, REDUCE_BITS - WARP_BITS);
        const typename Op::acc result = combine_warps(op.finish(state), op);
        if (warp == 0 && inside)
            store_output(op, result, at, partials, output * plan.segments + blockIdx.y);
    }
}

// ---- segments -----------------------------------------------------------------------------------

// A warp for each output.
template <class Op>
__global__ void __launch_bounds__(REDUCE_THREADS, REDUCE_RESIDENT)
    reduce_segments(const reduce_plan plan, const Op op, const typename Op::acc *partials)
{
    enum { GROUPS = REDUCE_THREADS / WARP_SIZE };
    const int lane = (int)threadIdx.x % WARP_SIZE, warp = (int)threadIdx.x / WARP_SIZE;
    for (int64_t base = (int64_t)blockIdx.x * GROUPS; base < plan.outputs;
         base += (int64_t)gridDim.x * GROUPS) {
        const int64_t output = base + warp;
        typename Op::acc result = op.identity();
        for (int64_t s = lane; output < plan.outputs && s < plan.segments; s += WARP_SIZE)
            result = op(result, partials[output * plan.segments + s]);
        result = warp_reduce(result, op);
        if (lane == 0 && output < plan.outputs)
            op.write(result, reduce_output(plan, output).y);
    }
}

static inline dim3 reduce_grid(int64_t blocks, int64_t segments)
{
    return dim3(grid_stride_blocks(blocks), (unsigned)segments);
}

template <class T, class Op>
static tern_status launch_reduce(const char *name, const tern_exec *exec, const reduce_plan &plan,
                                 const Op &op, const void *data, typename Op::acc *partials)
{
    // Of no terms the pointer may lead behind the memory.
    const T *x = plan.terms > 0 ? (const T *)data : NULL;
    const dim3 grid = reduce_grid(plan.units, plan.segments);
    if (plan.columns)
        return LAUNCH(name, (reduce_columns<T, Op>), grid, REDUCE_THREADS, exec->stream, plan, op,
                      x, partials);
    return LAUNCH(name, (reduce_rows<T, Op>), grid, REDUCE_THREADS, exec->stream, plan, op, x,
                  partials);
}

template <class T, class Op>
static tern_status run_reduce(const char *name, const tern_exec *exec, const reduce_plan &plan,
                              const Op &op, const void *x)
{
    typedef typename Op::acc acc;
    typedef typename Op::combine_op combine_op;
    scratch_memory scratch(exec);
    acc *partials;
    if (plan.outputs == 0)
        return TERN_OK;
    if (plan.segments == 1)
        return launch_reduce<T>(name, exec, plan, op, x, (acc *)NULL);
    TERN_TRY(scratch.take(plan.outputs * plan.segments, &partials));
    TERN_TRY(launch_reduce<T>(name, exec, plan, op, x, partials));
    const int64_t units = ceil_div(plan.outputs * WARP_SIZE, REDUCE_THREADS);
    return LAUNCH(name, (reduce_segments<combine_op>), reduce_grid(units, 1), REDUCE_THREADS,
                  exec->stream, plan, (combine_op)op, partials);
}

#endif
