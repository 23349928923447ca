// SPDX-License-Identifier: Apache-2.0
// What comes after a matrix product: bias and relu in one kernel. A thread keeps its columns' bias
// and goes down the rows.
#include "cuda/pack.cuh"

#define THREADS  256
#define ROWS_PER 4 // of a thread, where there are enough

// The block is `across` threads wide, a power of two; x counts blocks of columns, y of rows.
template <class T, int W>
__global__ void __launch_bounds__(THREADS)
    bias_relu(T *y, const T *bias, int64_t rows, int64_t cols, int across, bool relu)
{
    typedef computed_t<T> C;
    const int64_t column = ((int64_t)blockIdx.x * across + (int)threadIdx.x % across) * W;
    const int down = THREADS / across;
    if (column >= cols)
        return;
    pack<T, W> add;
    for (int k = 0; k < W; k++)
        add.at[k] = narrow<T>((C)0);
    if (bias)
        add = pack_load<W>(bias + column);
    for (int64_t row = (int64_t)blockIdx.y * down + (int)threadIdx.x / across; row < rows;
         row += (int64_t)gridDim.y * down) {
        pack<T, W> line = pack_load<W>(y + row * cols + column);
        for (int k = 0; k < W; k++) {
            const C sum = bias ? widen(line.at[k]) + widen(add.at[k]) : (C)widen(line.at[k]);
            line.at[k] = narrow<T>(relu && sum < 0 ? (C)0 : sum);
        }
        pack_store<W>(y + row * cols + column, line);
    }
}

template <class T, int W>
static tern_status launch(const tern_exec *exec, T *y, const T *bias, int64_t rows, int64_t cols,
                          bool relu)
{
    const int64_t packs = cols / W;
    int across = 1;
    while (across < THREADS && across < packs)
        across *= 2;
    const int64_t down = THREADS / across * ROWS_PER, blocks = (rows + down - 1) / down;
    const dim3 grid((unsigned)((packs + across - 1) / across),
                    (unsigned)(blocks < 65535 ? blocks : 65535));
    TERN_LAUNCH((bias_relu<T, W>), grid, THREADS, 0, exec->stream, y, bias, rows, cols, across,
                relu);
    return tern_cuda_launched("matmul");
}

template <class T>
static tern_status run(const tern_exec *exec, const tern_strided *view, const tern_strided *bias,
                       bool relu)
{
    const int64_t rows = view->size[0] * view->size[1], cols = view->size[2];
    T *y = (T *)view->data;
    const T *add = bias ? (const T *)bias->data : NULL;
    if (pack_aligned(y, cols, (int64_t)sizeof(T)) && pack_aligned(add, 0, 1))
        return launch<T, pack_width<T>::value>(exec, y, add, rows, cols, relu);
    return launch<T, 1>(exec, y, add, rows, cols, relu);
}

extern "C" tern_status tern_cuda_epilogue(const tern_exec *exec, const tern_strided *y,
                                          const tern_strided *bias, bool relu)
{
    if ((!bias && !relu) || tern_strided_numel(y) == 0)
        return TERN_OK;
    switch (y->dtype) {
        TERN_FLOATING_CASES(T, run<T>(exec, y, bias, relu))
    default:
        return TERN_OK;
    }
}
