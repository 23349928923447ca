// SPDX-License-Identifier: Apache-2.0
// The gradient of a convolution in its weight on tensor cores.
#include "cuda/conv/tensor.cuh"
#include "cuda/conv/weight.cuh"

template <class T, class Tile>
__global__ void __launch_bounds__(CONV_THREADS, 2)
    conv_weight_tensor(T *weight, const T *x, const T *dy, float *partials, const conv_plan plan,
                       const split_k split)
{
#if TENSOR_CORES
    typedef conv_term tile_terms[Tile::columns];
    TERN_SHARED(tile_terms, terms);
    const weight_work w = find_weight_work(plan, split);
    const int row = w.work.row_tile * Tile::rows, all = (int)plan.weight.image;
    const int column = (int)w.work.column_tile * Tile::columns;
    find_column_terms(w.work, (uint32_t)column, all - column, terms);
    const weight_operands<Tile, T> operands = {plan, w,     dy + row * plan.to.channel,
                                               x,    terms, plan.rows - row};
    multiply_tensor<true, Tile, T>(operands, w.length, [&](int down, int across, float sum) {
        if (row + down < plan.rows && column + across < all)
            store_weight(plan, w, weight, partials, row + down, column + across, sum);
    });
#else
    __trap();
#endif
}

template <class T, class Tile> static tern_status launch(weight_call *c)
{
    const int64_t blocks = weight_tile_blocks(c, Tile::rows, Tile::columns);
    return run_split_k<float>(c, [=](float *partials) {
        unsigned grid = 0;
        TERN_TRY(conv_check_grid("conv_grad_weight", blocks, &grid));
        return LAUNCH("conv_grad_weight", (conv_weight_tensor<T, Tile>), grid, CONV_THREADS,
                      c->exec->stream, (T *)c->args->weight.data, (const T *)c->args->x.data,
                      (const T *)c->args->y.data, partials, c->plan, c->split);
    });
}

template <class T> static tern_status run_half(weight_call *c)
{
    if (c->plan.rows > 64)
        return launch<T, tensor_tile<128, 64, 32, 32, 32>>(c);
    return launch<T, tensor_tile<64, 64, 32, 16, 32>>(c);
}

extern "C" tern_status tern_cuda_conv_weight_tensor(const tern_exec *exec,
                                                    const tern_conv_args *args)
{
    weight_call call = make_weight_call(exec, args);
    if (args->y.dtype == TERN_FLOAT16)
        return run_half<__half>(&call);
    if (args->y.dtype == TERN_BFLOAT16)
        return run_half<__nv_bfloat16>(&call);
    // more rows would take more registers than there are for two blocks
    return launch<float, tensor_tile<64, 64, 16, 16, 32>>(&call);
}
