// SPDX-License-Identifier: Apache-2.0
// The forward of a convolution and its gradient in the input: an implicit matrix product, and for
// one or two channels of output in a group, as in depthwise convolutions, a thread for each
// element.
#include "cuda/conv/gather.cuh"

#define DIRECT_ROWS 2

template <class T, class Tile, int RESIDENT>
__global__ void __launch_bounds__(CONV_THREADS, RESIDENT)
    conv_product(T *to, const T *from, const T *weight, const T *bias, const conv_plan plan)
{
    typedef opmath_t<T> C;
    typedef int64_t tile_offsets[Tile::columns];
    TERN_SHARED(tile_offsets, offsets);
    const conv_work work = find_work(plan, blockIdx.x);
    const int row = work.row_tile * Tile::rows;
    gather_operands<Tile, T> operands = make_gather_operands<Tile>(plan, work, row, weight, from);
    store_column_offsets<Tile>(operands.position, offsets);
    C sum[Tile::DOWN][Tile::ACROSS] = {};
    multiply_tile<false, Tile, C>(operands, operands.terms, sum);
    const int W = Tile::column_run;
#pragma unroll
    for (int i = 0; i < Tile::DOWN; i++) {
        const int mine = row + Tile::row(i);
        if (mine >= plan.rows)
            continue;
        const C add = bias ? (C)upcast(bias[work.group * plan.rows + mine]) : (C)0;
#pragma unroll
        for (int j = 0; j < Tile::ACROSS; j += W)
            store_run<W>(plan, to + mine * plan.to.channel, &offsets[Tile::column(j)], &sum[i][j],
                         add);
    }
}

// Sums of one output element; rows are one a block.
template <class T>
__global__ void __launch_bounds__(CONV_THREADS)
    conv_direct(T *to, const T *from, const T *weight, const T *bias, const conv_plan plan)
{
    typedef opmath_t<T> C;
    const conv_work work = find_work(plan, blockIdx.x);
    const int64_t column = (int64_t)work.column_tile * CONV_THREADS + (int)threadIdx.x;
    const conv_position p = find_position(plan, work, column);
    if (!p.inside)
        return;
    weight += work.group * plan.group_weights + work.row_tile * plan.weight.image;
    C sum = 0;
    conv_term term = {};
    for (term.channel = 0; term.channel < plan.channels; term.channel++)
        for (term.tap[0] = 0; term.tap[0] < (int)work.axis[0].taps.size; term.tap[0]++)
            for (term.tap[1] = 0; term.tap[1] < (int)work.axis[1].taps.size; term.tap[1]++)
                for (term.tap[2] = 0; term.tap[2] < (int)work.axis[2].taps.size; term.tap[2]++) {
                    const int64_t offset = element_offset(plan, work, p, term);
                    if (offset >= 0 || plan.padded)
                        sum = real_fma(offset >= 0 ? (C)upcast(from[offset]) : (C)0,
                                       (C)upcast(weight[weight_offset(plan, work, term)]), sum);
                }
    const C add = bias ? (C)upcast(bias[work.group * plan.rows + work.row_tile]) : (C)0;
    to += p.to + work.row_tile * plan.to.channel;
    *to = apply_epilogue<T, C>(plan, sum, add, plan.accumulate ? *to : T());
}

// ---- launchers ----------------------------------------------------------------------------------

typedef struct conv_call {
    const tern_exec *exec;
    const tern_conv_args *args;
    bool backward;
    conv_plan plan;
} conv_call;

static const char *op_name(const conv_call *c)
{
    return c->backward ? "conv_grad_input" : "conv";
}

template <class T, class Tile, int RESIDENT> static tern_status launch_product(conv_call *c)
{
    const conv_operands<T> o = make_conv_operands<T>(c->args, c->backward);
    unsigned grid = 0;
    TERN_TRY(
        conv_check_grid(op_name(c), conv_tile_blocks(&c->plan, Tile::rows, Tile::columns), &grid));
    return LAUNCH(op_name(c), (conv_product<T, Tile, RESIDENT>), grid, CONV_THREADS,
                  c->exec->stream, o.to, o.from, o.weight, o.bias, c->plan);
}

template <class T> static tern_status launch_direct(conv_call *c)
{
    const conv_operands<T> o = make_conv_operands<T>(c->args, c->backward);
    unsigned grid = 0;
    TERN_TRY(conv_check_grid(op_name(c), conv_tile_blocks(&c->plan, 1, CONV_THREADS), &grid));
    return LAUNCH(op_name(c), (conv_direct<T>), grid, CONV_THREADS, c->exec->stream, o.to, o.from,
                  o.weight, o.bias, c->plan);
}

typedef conv_tile<16, 256, 16, 4, 4> tile_16;

// 16-bit elements have more rows only where there are no tensor cores.
template <class T> struct tile_choice {
    static tern_status launch(conv_call *c)
    {
        return launch_product<T, tile_16, 2>(c);
    }
};
template <> struct tile_choice<float> {
    static tern_status launch(conv_call *c)
    {
        if (c->plan.rows > 64)
            return launch_product<float, conv_tile<128, 128, 8, 8, 8>, 2>(c);
        if (c->plan.rows > 32)
            return launch_product<float, conv_tile<64, 128, 16, 8, 4>, 2>(c);
        if (c->plan.rows > 16)
            return launch_product<float, conv_tile<32, 128, 16, 4, 4>, 3>(c);
        return launch_product<float, tile_16, 3>(c);
    }
};
template <> struct tile_choice<double> {
    static tern_status launch(conv_call *c)
    {
        if (c->plan.rows > 16)
            return launch_product<double, conv_tile<64, 64, 16, 4, 4>, 2>(c);
        return launch_product<double, conv_tile<16, 128, 16, 4, 2>, 2>(c);
    }
};

template <class T> static tern_status run(conv_call *c)
{
    return c->plan.rows <= DIRECT_ROWS ? launch_direct<T>(c) : tile_choice<T>::launch(c);
}

static tern_status run_dtype(conv_call *c)
{
    switch (c->args->x.dtype) {
        TERN_FLOATING_CASES(T, run<T>(c))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks(op_name(c), c->args->x.dtype);
}

extern "C" tern_status tern_cuda_conv_gather(const tern_exec *exec, const tern_conv_args *args,
                                             bool backward)
{
    return conv_for_phases(args, backward, [=](const conv_plan &plan) {
        conv_call call = {exec, args, backward, plan};
        return run_dtype(&call);
    });
}
