// SPDX-License-Identifier: Apache-2.0
// The forward of a convolution and its gradient in the input on tensor cores.
#include "cuda/conv/gather.cuh"
#include "cuda/conv/tensor.cuh"

template <class T, class Tile>
__global__ void __launch_bounds__(CONV_THREADS, 2)
    conv_tensor(T *to, const T *from, const T *weight, const T *bias, const conv_plan plan)
{
#if TENSOR_CORES
    typedef int64_t tile_offsets[Tile::columns];
    TERN_SHARED(tile_offsets, offsets);
    const conv_work work = find_work(plan, blockIdx.x);
    const int row = work.row_tile * Tile::rows;
    const gather_operands<Tile, T> operands =
        make_gather_operands<Tile>(plan, work, row, weight, from);
    store_column_offsets<Tile>(operands.position, offsets);
    multiply_tensor<false, Tile, T>(operands, operands.terms, [&](int down, int across, float sum) {
        const int mine = row + down;
        if (mine < plan.rows)
            store_run<1>(plan, to + mine * plan.to.channel, &offsets[across], &sum,
                         bias ? (float)upcast(bias[work.group * plan.rows + mine]) : 0.0f);
    });
#else
    __trap();
#endif
}

template <class T, class Tile>
static tern_status launch(const tern_exec *exec, const char *name, conv_plan plan,
                          const conv_operands<T> &o)
{
    unsigned grid = 0;
    TERN_TRY(conv_check_grid(name, conv_tile_blocks(&plan, Tile::rows, Tile::columns), &grid));
    return LAUNCH(name, (conv_tensor<T, Tile>), grid, CONV_THREADS, exec->stream, o.to, o.from,
                  o.weight, o.bias, plan);
}

// DEPTH: one cache line's half for each row of weights.
template <class T, int DEPTH>
static tern_status run(const tern_exec *exec, const tern_conv_args *args, bool backward)
{
    const char *name = backward ? "conv_grad_input" : "conv";
    const conv_operands<T> o = make_conv_operands<T>(args, backward);
    return conv_for_phases(args, backward, [=](const conv_plan &plan) {
        if (plan.rows > 64)
            return launch<T, tensor_tile<128, 64, DEPTH, 32, 32>>(exec, name, plan, o);
        if (plan.rows > 32)
            return launch<T, tensor_tile<64, 128, DEPTH, 32, 32>>(exec, name, plan, o);
        return launch<T, tensor_tile<32, 128, DEPTH, 32, 16>>(exec, name, plan, o);
    });
}

extern "C" tern_status tern_cuda_conv_gather_tensor(const tern_exec *exec,
                                                    const tern_conv_args *args, bool backward)
{
    if (args->y.dtype == TERN_FLOAT16)
        return run<__half, 32>(exec, args, backward);
    if (args->y.dtype == TERN_BFLOAT16)
        return run<__nv_bfloat16, 32>(exec, args, backward);
    return run<float, 16>(exec, args, backward);
}
