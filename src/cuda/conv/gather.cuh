// SPDX-License-Identifier: Apache-2.0
// The forward and the gradient in the input as a product: weights (rows, terms) by what positions
// read (terms, columns), gathered from the tensor while it is multiplied.
#ifndef TERN_SRC_CUDA_CONV_GATHER_CUH
#define TERN_SRC_CUDA_CONV_GATHER_CUH

#include "cuda/conv/plan.cuh"
#include "cuda/conv/tile.cuh"

#define CONV_OUTSIDE (-1) // the offset of a position that does not exist

// An element as operands have it: as it is, or upcast.
template <class C, class T> __device__ __forceinline__ C operand(T x)
{
    return upcast(x);
}
template <> __device__ __forceinline__ __half operand<__half>(__half x)
{
    return x;
}
template <> __device__ __forceinline__ __nv_bfloat16 operand<__nv_bfloat16>(__nv_bfloat16 x)
{
    return x;
}

template <class Tile, class T> struct gather_operands {
    const conv_plan &plan;
    const conv_work &work;
    const T *weight; // of the tile's first row
    const T *from;
    conv_position position; // of this thread's column
    int rows, terms;        // rows: that the tile has

    template <class C>
    __device__ __forceinline__ void load(int begin, C (&a)[Tile::a_each],
                                         C (&b)[Tile::b_each]) const
    {
        load_weights(begin + Tile::load_term(), a);
        load_elements(begin + Tile::column_term(0), b);
    }

    template <class C>
    __device__ __forceinline__ void load_weights(int k, C (&a)[Tile::a_each]) const
    {
        const bool inside = k < terms;
        const T *column = weight;
        if (inside)
            column += weight_offset(plan, work, find_term(work, (uint32_t)k));
#pragma unroll
        for (int i = 0; i < Tile::a_each; i++)
            a[i] = inside && Tile::load_row(i) < rows
                       ? operand<C>(column[Tile::load_row(i) * plan.weight.image])
                       : C();
    }

    template <class C>
    __device__ __forceinline__ void load_elements(int k, C (&b)[Tile::b_each]) const
    {
        conv_term term = {};
        if (k < terms)
            term = find_term(work, (uint32_t)k);
#pragma unroll
        for (int i = 0; i < Tile::b_each; i++) {
            const int64_t offset =
                k + i < terms ? element_offset(plan, work, position, term) : (int64_t)CONV_OUTSIDE;
            b[i] = offset >= 0 ? operand<C>(from[offset]) : C();
            next_term(work, &term);
        }
    }
};

// Of the tile from this row on. A phase may have fewer positions than the first: its last tiles are
// empty, and have no terms.
template <class Tile, class T>
__device__ __forceinline__ gather_operands<Tile, T> make_gather_operands(const conv_plan &plan,
                                                                         const conv_work &work,
                                                                         int row, const T *weight,
                                                                         const T *from)
{
    const int64_t column = (int64_t)work.column_tile * Tile::columns;
    return gather_operands<Tile, T>{
        plan,
        work,
        weight + work.group * plan.group_weights + row * plan.weight.image,
        from,
        find_position(plan, work, column + Tile::column_index()),
        plan.rows - row,
        column < position_count(plan, work) ? term_count(plan, work) : 0};
}

// Where the columns of the tile lie in the output.
template <class Tile>
__device__ __forceinline__ void store_column_offsets(const conv_position &position,
                                                     int64_t (&offsets)[Tile::columns])
{
    if ((int)threadIdx.x < Tile::columns)
        offsets[Tile::column_index()] = position.inside ? position.to : (int64_t)CONV_OUTSIDE;
}

template <class T, class C>
__device__ __forceinline__ T apply_epilogue(const conv_plan &plan, C sum, C bias, T before)
{
    sum += bias;
    if (plan.relu && sum < 0)
        sum = 0;
    return downcast<T>(plan.accumulate ? upcast(before) + sum : sum);
}

// W neighbouring columns of one row, at once where their elements are neighbours too.
template <int W, class T, class C>
__device__ __forceinline__ void store_run(const conv_plan &plan, T *row, const int64_t *offsets,
                                          const C *sum, C bias)
{
    bool vectorized = offsets[0] >= 0 && (uintptr_t)(row + offsets[0]) % sizeof(vec<T, W>) == 0;
#pragma unroll
    for (int j = 1; j < W; j++)
        vectorized = vectorized && offsets[j] == offsets[0] + j;
    vec<T, W> run = {};
    if (vectorized) {
        if (plan.accumulate)
            run = vec_load<W>(row + offsets[0]);
#pragma unroll
        for (int j = 0; j < W; j++)
            run.at[j] = apply_epilogue<T, C>(plan, sum[j], bias, run.at[j]);
        vec_store<W>(row + offsets[0], run);
        return;
    }
#pragma unroll
    for (int j = 0; j < W; j++)
        if (offsets[j] >= 0) {
            T *to = row + offsets[j];
            *to = apply_epilogue<T, C>(plan, sum[j], bias, plan.accumulate ? *to : run.at[j]);
        }
}

#endif
