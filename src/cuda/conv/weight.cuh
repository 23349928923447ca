// SPDX-License-Identifier: Apache-2.0
// The gradient in the weight as a product: dy (rows, positions) by what the positions read
// (positions, columns), where a column is a channel of x and a tap. Positions are many and results
// few, so the positions are cut into parts; blocks make the sums of each, which are added in order.
#ifndef TERN_SRC_CUDA_CONV_WEIGHT_CUH
#define TERN_SRC_CUDA_CONV_WEIGHT_CUH

#include "cuda/conv/gather.cuh"

#define LEAST_PART 256 // positions that are worth a block of their own
#define MOST_DEPTH 32  // a part is a multiple: no tile reaches into the next one

// The parts of a gradient, and its blocks, which come as the plan says for each part.
typedef struct weight_parts {
    divisor<uint32_t> blocks; // of a part
    int64_t positions, length, count;
} weight_parts;

// What a block makes; the plan is the forward's.
typedef struct weight_work {
    conv_work work;
    int64_t begin; // first position
    int length;    // positions
    uint32_t part;
} weight_work;

__device__ __forceinline__ weight_work weight_work_of(const conv_plan &plan,
                                                      const weight_parts &parts)
{
    uint32_t block = blockIdx.x;
    weight_work w;
    w.part = divide_by(&block, parts.blocks);
    w.work = work_of(plan, block);
    w.begin = (int64_t)w.part * parts.length;
    const int64_t left = parts.positions - w.begin;
    w.length = (int)(left < parts.length ? left : parts.length);
    return w;
}

// What the columns of a block are; behind the last, a channel below 0.
template <int COLUMNS>
__device__ __forceinline__ void note_terms(const conv_work &work, uint32_t first, int columns,
                                           conv_term (&terms)[COLUMNS])
{
    const int column = (int)threadIdx.x;
    if (column < COLUMNS) {
        conv_term term = term_of(work, first + (uint32_t)column);
        if (column >= columns)
            term.channel = -1;
        terms[column] = term;
    }
    __syncthreads();
}

template <class C, class T>
__device__ __forceinline__ C element_of(const conv_plan &plan, const conv_work &work,
                                        const conv_position &p, const conv_term &term, const T *x)
{
    const int64_t place =
        term.channel >= 0 ? element_place(plan, work, p, term) : (int64_t)CONV_OUTSIDE;
    return place >= 0 ? operand<C>(x[place]) : C();
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
        const int k = begin + Tile::share_term();
        const conv_position p = position_of(plan, w.work, w.begin + k);
#pragma unroll
        for (int i = 0; i < Tile::a_each; i++)
            a[i] = p.inside && Tile::share_row(i) < rows
                       ? operand<C>(dy[p.to + Tile::share_row(i) * plan.to.channel])
                       : C();
#pragma unroll
        for (int i = 0; i < Tile::b_each; i++)
            b[i] = element_of<C>(plan, w.work, p, terms[Tile::share_row(i)], x);
    }
};

// A sum goes to its part, or where there is one part to the weight.
template <class T, class C>
__device__ __forceinline__ void store_weight(const conv_plan &plan, const weight_work &w, T *weight,
                                             C *parts, int row, int column, C sum)
{
    const int64_t at = ((int64_t)w.work.group * plan.rows + row) * plan.weight.image + column;
    if (parts)
        parts[w.part * ((int64_t)plan.groups * plan.rows * plan.weight.image) + at] = sum;
    else
        weight[at] = finished_sum<T, C>(plan, sum, (C)0, plan.accumulate ? weight[at] : T());
}

// ---- on the host --------------------------------------------------------------------------------

typedef struct weight_call {
    const tern_exec *exec;
    const tern_conv_args *args;
    conv_plan plan;
    weight_parts parts;
} weight_call;

static inline weight_call weight_call_of(const tern_exec *exec, const tern_conv_args *args)
{
    weight_call c = {exec, args, conv_forward_plan(args), {}};
    c.plan.relu = false;
    c.parts.positions = args->y.size[0] * args->y.size[2] * args->y.size[3] * args->y.size[4];
    return c;
}

// Cuts the work for tiles of this size, into as many parts as fill the device twice.
static inline int64_t weight_cut(weight_call *c, int rows, int columns)
{
    const int64_t row_tiles = ceil_div(c->plan.rows, rows);
    const int64_t column_tiles = ceil_div(c->plan.weight.image, columns);
    const int64_t blocks = row_tiles * column_tiles * c->plan.groups;
    const int64_t wanted = 4 * (int64_t)tern_cuda_multiprocessors(c->exec->device.index);
    const int64_t positions = c->parts.positions;
    int64_t count = ceil_div(wanted, blocks);
    if (count > ceil_div(positions, LEAST_PART))
        count = ceil_div(positions, LEAST_PART);
    if (count < (positions >> 29) + 1)
        count = (positions >> 29) + 1;
    c->plan.row_tiles = conv_divisor(row_tiles);
    c->plan.column_tiles = conv_divisor(column_tiles);
    c->parts.blocks = conv_divisor(blocks);
    c->parts.length = ceil_div(ceil_div(positions, count), MOST_DEPTH) * MOST_DEPTH;
    c->parts.count = positions > 0 ? ceil_div(positions, c->parts.length) : 1;
    return blocks * c->parts.count;
}

// Launches by launch(parts), NULL for one, and adds the parts.
template <class C, class Launch>
static inline tern_status weight_in_parts(const weight_call *c, Launch launch)
{
    const tern_strided *weight = &c->args->weight;
    scratch_memory scratch(c->exec);
    C *partials = NULL;
    if (c->parts.count == 1)
        return launch(partials);
    TERN_TRY(scratch.take(c->parts.count * tern_strided_numel(weight), &partials));
    TERN_TRY(launch(partials));
    return tern_cuda_conv_join(c->exec, weight, partials, c->parts.count, c->args->accumulate);
}

#endif
