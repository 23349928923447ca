// SPDX-License-Identifier: Apache-2.0
// The gradient in the weight as a product: dy (rows, positions) by what the positions read
// (positions, columns), where a column is a channel of x and a tap. Positions are many and results
// few, so the positions are split into slices (split-K): blocks sum each, and the sums are added in
// order.
#ifndef TERN_SRC_CUDA_CONV_WEIGHT_CUH
#define TERN_SRC_CUDA_CONV_WEIGHT_CUH

#include "cuda/conv/gather.cuh"

#define MIN_SLICE 256 // positions that are worth a block of their own
#define MAX_DEPTH 32  // a slice is a multiple: no tile reaches into the next one

// The slices of the positions, and the blocks of each, which come as the plan says.
typedef struct split_k {
    divisor<uint32_t> blocks; // of a slice
    int64_t positions, length, count;
} split_k;

// What a block makes; the plan is the forward's.
typedef struct weight_work {
    conv_work work;
    int64_t begin; // first position
    int length;    // positions
    uint32_t slice;
} weight_work;

__device__ __forceinline__ weight_work find_weight_work(const conv_plan &plan, const split_k &split)
{
    uint32_t block = blockIdx.x;
    weight_work w;
    w.slice = fast_divmod(&block, split.blocks);
    w.work = find_work(plan, block);
    w.begin = (int64_t)w.slice * split.length;
    const int64_t left = split.positions - w.begin;
    w.length = (int)(left < split.length ? left : split.length);
    return w;
}

// What the columns of a block are; behind the last, a channel below 0.
template <int COLUMNS>
__device__ __forceinline__ void find_column_terms(const conv_work &work, uint32_t first,
                                                  int columns, conv_term (&terms)[COLUMNS])
{
    const int column = (int)threadIdx.x;
    if (column < COLUMNS) {
        conv_term term = find_term(work, first + (uint32_t)column);
        if (column >= columns)
            term.channel = -1;
        terms[column] = term;
    }
    __syncthreads();
}

template <class C, class T>
__device__ __forceinline__ C load_element(const conv_plan &plan, const conv_work &work,
                                          const conv_position &p, const conv_term &term, const T *x)
{
    const int64_t offset =
        term.channel >= 0 ? element_offset(plan, work, p, term) : (int64_t)CONV_OUTSIDE;
    return offset >= 0 ? operand<C>(x[offset]) : C();
}

template <class Tile, class T> struct weight_operands {
    const conv_plan &plan;
    const weight_work &w;
    const T *dy; // of the tile's first row
    const T *x;
    const conv_term (&terms)[Tile::columns];
    int rows; // that the tile has

    template <class C>
    __device__ __forceinline__ void load(int begin, C (&a)[Tile::a_each],
                                         C (&b)[Tile::b_each]) const
    {
        const int k = begin + Tile::load_term();
        const conv_position p = find_position(plan, w.work, w.begin + k);
#pragma unroll
        for (int i = 0; i < Tile::a_each; i++)
            a[i] = p.inside && Tile::load_row(i) < rows
                       ? operand<C>(dy[p.to + Tile::load_row(i) * plan.to.channel])
                       : C();
#pragma unroll
        for (int i = 0; i < Tile::b_each; i++)
            b[i] = load_element<C>(plan, w.work, p, terms[Tile::load_row(i)], x);
    }
};

// A sum goes to the partial sums of its slice, or where there is one slice to the weight.
template <class T, class C>
__device__ __forceinline__ void store_weight(const conv_plan &plan, const weight_work &w, T *weight,
                                             C *partials, int row, int column, C sum)
{
    const int64_t at = ((int64_t)w.work.group * plan.rows + row) * plan.weight.image + column;
    if (partials)
        partials[w.slice * ((int64_t)plan.groups * plan.rows * plan.weight.image) + at] = sum;
    else
        weight[at] = apply_epilogue<T, C>(plan, sum, (C)0, plan.accumulate ? weight[at] : T());
}

// ---- on the host --------------------------------------------------------------------------------

typedef struct weight_call {
    const tern_exec *exec;
    const tern_conv_args *args;
    conv_plan plan;
    split_k split;
} weight_call;

static inline weight_call make_weight_call(const tern_exec *exec, const tern_conv_args *args)
{
    weight_call c = {exec, args, conv_forward_plan(args), {}};
    c.plan.relu = false;
    c.split.positions = args->y.size[0] * args->y.size[2] * args->y.size[3] * args->y.size[4];
    return c;
}

// Cuts the work for tiles of this size, into as many slices as fill the device twice.
static inline int64_t weight_tile_blocks(weight_call *c, int rows, int columns)
{
    const int64_t row_tiles = ceil_div(c->plan.rows, rows);
    const int64_t column_tiles = ceil_div(c->plan.weight.image, columns);
    const int64_t blocks = row_tiles * column_tiles * c->plan.groups;
    const int64_t wanted = 4 * (int64_t)tern_cuda_multiprocessors(c->exec->device.index);
    const int64_t positions = c->split.positions;
    int64_t count = ceil_div(wanted, blocks);
    if (count > ceil_div(positions, MIN_SLICE))
        count = ceil_div(positions, MIN_SLICE);
    if (count < (positions >> 29) + 1)
        count = (positions >> 29) + 1;
    c->plan.row_tiles = conv_divisor(row_tiles);
    c->plan.column_tiles = conv_divisor(column_tiles);
    c->split.blocks = conv_divisor(blocks);
    c->split.length = ceil_div(ceil_div(positions, count), MAX_DEPTH) * MAX_DEPTH;
    c->split.count = positions > 0 ? ceil_div(positions, c->split.length) : 1;
    return blocks * c->split.count;
}

// Launches by launch(partials), NULL for one slice, and adds the partial sums.
template <class C, class Launch>
static inline tern_status run_split_k(const weight_call *c, Launch launch)
{
    const tern_strided *weight = &c->args->weight;
    scratch_memory scratch(c->exec);
    C *partials = NULL;
    if (c->split.count == 1)
        return launch(partials);
    TERN_TRY(scratch.take(c->split.count * tern_strided_numel(weight), &partials));
    TERN_TRY(launch(partials));
    return tern_cuda_conv_sum_partials(c->exec, weight, partials, c->split.count,
                                       c->args->accumulate);
}

#endif
