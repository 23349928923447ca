// SPDX-License-Identifier: Apache-2.0
// The gradient of a convolution in its weight: an implicit matrix product, and for one or two
// channels of output in a group, as in depthwise convolutions, a block for a few sums.
#include "cuda/block.cuh"
#include "cuda/conv/weight.cuh"

#define DIRECT_ROWS  2
#define DIRECT_TERMS 9 // sums of a block: a kernel of 3 x 3
#define SUM_THREADS  256

template <class T, class Tile, int RESIDENT>
__global__ void __launch_bounds__(CONV_THREADS, RESIDENT)
    conv_weight_product(T *weight, const T *x, const T *dy, opmath_t<T> *partials,
                        const conv_plan plan, const split_k split)
{
    typedef opmath_t<T> C;
    typedef conv_term tile_terms[Tile::columns];
    TERN_SHARED(tile_terms, terms);
    const weight_work w = find_weight_work(plan, split);
    const int row = w.work.row_tile * Tile::rows, all = (int)plan.weight.image;
    const int column = (int)w.work.column_tile * Tile::columns;
    find_column_terms(w.work, (uint32_t)column, all - column, terms);
    weight_operands<Tile, T> operands = {plan, w,     dy + row * plan.to.channel,
                                         x,    terms, plan.rows - row};
    C sum[Tile::DOWN][Tile::ACROSS] = {};
    multiply_tile<true, Tile, C>(operands, w.length, sum);
#pragma unroll
    for (int i = 0; i < Tile::DOWN; i++)
#pragma unroll
        for (int j = 0; j < Tile::ACROSS; j++)
            if (row + Tile::row(i) < plan.rows && column + Tile::column(j) < all)
                store_weight(plan, w, weight, partials, row + Tile::row(i),
                             column + Tile::column(j), sum[i][j]);
}

// A block has one row.
template <class T>
__global__ void __launch_bounds__(CONV_THREADS)
    conv_weight_direct(T *weight, const T *x, const T *dy, opmath_t<T> *partials,
                       const conv_plan plan, const split_k split)
{
    typedef opmath_t<T> C;
    typedef conv_term block_terms[DIRECT_TERMS];
    TERN_SHARED(block_terms, terms);
    const weight_work w = find_weight_work(plan, split);
    const int column = (int)w.work.column_tile * DIRECT_TERMS, all = (int)plan.weight.image;
    find_column_terms(w.work, (uint32_t)column, all - column, terms);
    C sum[DIRECT_TERMS] = {};
    for (int k = (int)threadIdx.x; k < w.length; k += CONV_THREADS) {
        const conv_position p = find_position(plan, w.work, w.begin + k);
        const C slope = upcast(dy[p.to + w.work.row_tile * plan.to.channel]);
#pragma unroll
        for (int i = 0; i < DIRECT_TERMS; i++)
            sum[i] = real_fma(slope, load_element<C>(plan, w.work, p, terms[i], x), sum[i]);
    }
#pragma unroll
    for (int i = 0; i < DIRECT_TERMS; i++) {
        const C total = block_sum(sum[i]);
        if (threadIdx.x == 0 && column + i < all)
            store_weight(plan, w, weight, partials, w.work.row_tile, column + i, total);
    }
}

template <class T>
__global__ void __launch_bounds__(SUM_THREADS)
    conv_sum_partials(T *weight, const opmath_t<T> *partials, int64_t numel, int64_t count,
                      bool accumulate)
{
#pragma unroll 1
    for (int64_t i = (int64_t)blockIdx.x * SUM_THREADS + threadIdx.x; i < numel;
         i += (int64_t)gridDim.x * SUM_THREADS) {
        opmath_t<T> sum = 0;
        for (int64_t slice = 0; slice < count; slice++)
            sum += partials[slice * numel + i];
        weight[i] = downcast<T>(accumulate ? upcast(weight[i]) + sum : sum);
    }
}

// ---- launchers ----------------------------------------------------------------------------------

template <class T, class Tile, int RESIDENT> static tern_status launch_product(weight_call *c)
{
    const int64_t blocks = weight_tile_blocks(c, Tile::rows, Tile::columns);
    return run_split_k<opmath_t<T>>(c, [=](opmath_t<T> *partials) {
        unsigned grid = 0;
        TERN_TRY(conv_check_grid("conv_grad_weight", blocks, &grid));
        return LAUNCH("conv_grad_weight", (conv_weight_product<T, Tile, RESIDENT>), grid,
                      CONV_THREADS, c->exec->stream, (T *)c->args->weight.data,
                      (const T *)c->args->x.data, (const T *)c->args->y.data, partials, c->plan,
                      c->split);
    });
}

template <class T> static tern_status launch_direct(weight_call *c)
{
    const int64_t blocks = weight_tile_blocks(c, 1, DIRECT_TERMS);
    return run_split_k<opmath_t<T>>(c, [=](opmath_t<T> *partials) {
        unsigned grid = 0;
        TERN_TRY(conv_check_grid("conv_grad_weight", blocks, &grid));
        return LAUNCH("conv_grad_weight", (conv_weight_direct<T>), grid, CONV_THREADS,
                      c->exec->stream, (T *)c->args->weight.data, (const T *)c->args->x.data,
                      (const T *)c->args->y.data, partials, c->plan, c->split);
    });
}

typedef conv_tile<16, 64, 16, 2, 2> tile_16;

// 16-bit elements have more rows only where there are no tensor cores.
template <class T> struct tile_choice {
    static tern_status launch(weight_call *c)
    {
        return launch_product<T, tile_16, 3>(c);
    }
};
template <> struct tile_choice<float> {
    static tern_status launch(weight_call *c)
    {
        if (c->plan.rows > 64)
            return launch_product<float, conv_tile<128, 128, 8, 8, 8>, 2>(c);
        if (c->plan.rows > 16)
            return launch_product<float, conv_tile<64, 64, 16, 4, 4>, 3>(c);
        return launch_product<float, tile_16, 3>(c);
    }
};
template <> struct tile_choice<double> {
    static tern_status launch(weight_call *c)
    {
        if (c->plan.rows > 16)
            return launch_product<double, conv_tile<64, 64, 16, 4, 4>, 2>(c);
        return launch_product<double, tile_16, 2>(c);
    }
};

template <class T> static tern_status run(weight_call *c)
{
    return c->plan.rows <= DIRECT_ROWS ? launch_direct<T>(c) : tile_choice<T>::launch(c);
}

extern "C" tern_status tern_cuda_conv_weight(const tern_exec *exec, const tern_conv_args *args)
{
    weight_call call = make_weight_call(exec, args);
    switch (args->weight.dtype) {
        TERN_FLOATING_CASES(T, run<T>(&call))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("conv_grad_weight", args->weight.dtype);
}

template <class T>
static tern_status sum_partials(const tern_exec *exec, const tern_strided *weight,
                                const void *partials, int64_t count, bool accumulate)
{
    const int64_t numel = tern_strided_numel(weight);
    return LAUNCH("conv_grad_weight", (conv_sum_partials<T>),
                  grid_stride_blocks(ceil_div(numel, SUM_THREADS)), SUM_THREADS, exec->stream,
                  (T *)weight->data, (const opmath_t<T> *)partials, numel, count, accumulate);
}

extern "C" tern_status tern_cuda_conv_sum_partials(const tern_exec *exec,
                                                   const tern_strided *weight, const void *partials,
                                                   int64_t count, bool accumulate)
{
    switch (weight->dtype) {
        TERN_FLOATING_CASES(T, sum_partials<T>(exec, weight, partials, count, accumulate))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("conv_grad_weight", weight->dtype);
}
