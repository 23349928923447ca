// SPDX-License-Identifier: Apache-2.0
// What comes after a matrix product: bias and relu in one kernel. A thread keeps its columns' bias
// and goes down the rows, several at once: their loads do not wait for each other.
#include "cuda/vec.cuh"

#define THREADS  256
#define ROWS_PER 4 // of a thread at once
#define RESIDENT 3 // blocks on a multiprocessor

template <class T, int W>
__device__ __forceinline__ vec<T, W> apply_epilogue(const vec<T, W> &line, const vec<T, W> &add,
                                                    bool biased, bool relu)
{
    typedef opmath_t<T> C;
    vec<T, W> result;
#pragma unroll
    for (int k = 0; k < W; k++) {
        const C sum = biased ? upcast(line.at[k]) + upcast(add.at[k]) : (C)upcast(line.at[k]);
        result.at[k] = downcast<T>(relu && sum < 0 ? (C)0 : sum);
    }
    return result;
}

// The block is 2^across_bits threads is_double; x counts blocks of columns, y of rows.
template <class T, int W>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    bias_relu(T *y, const T *bias, int64_t rows, int64_t cols, int across_bits, bool relu)
{
    const int thread = (int)threadIdx.x, across = 1 << across_bits, down = THREADS >> across_bits;
    const int64_t column = (((int64_t)blockIdx.x << across_bits) + (thread & (across - 1))) * W;
    if (column >= cols)
        return;
    vec<T, W> add = {}, line[ROWS_PER];
    if (bias)
        add = vec_load<W>(bias + column);
    y += column;
#pragma unroll 1
    for (int64_t row = (int64_t)blockIdx.y * down * ROWS_PER + (thread >> across_bits); row < rows;
         row += (int64_t)gridDim.y * down * ROWS_PER) {
#pragma unroll
        for (int k = 0; k < ROWS_PER; k++)
            if (row + k * down < rows)
                line[k] = vec_load<W>(y + (row + k * down) * cols);
#pragma unroll
        for (int k = 0; k < ROWS_PER; k++)
            if (row + k * down < rows)
                vec_store<W>(y + (row + k * down) * cols, apply_epilogue(line[k], add, bias, relu));
    }
}

template <class T, int W>
static tern_status launch(const tern_exec *exec, T *y, const T *bias, int64_t rows, int64_t cols,
                          bool relu)
{
    const int64_t vecs = cols / W;
    int across_bits = 0;
    while (1 << across_bits < THREADS && 1 << across_bits < vecs)
        across_bits++;
    const int64_t across = 1 << across_bits, down = THREADS / across * ROWS_PER;
    const int64_t blocks = ceil_div(rows, down);
    const dim3 grid((unsigned)(ceil_div(vecs, across)), (unsigned)min_int64(blocks, 65535));
    return LAUNCH("matmul", (bias_relu<T, W>), grid, THREADS, exec->stream, y, bias, rows, cols,
                  across_bits, relu);
}

template <class T>
static tern_status run(const tern_exec *exec, const tern_strided *view, const tern_strided *bias,
                       bool relu)
{
    const int64_t rows = view->size[0] * view->size[1], cols = view->size[2];
    T *y = (T *)view->data;
    const T *add = bias ? (const T *)bias->data : NULL;
    if (vec_aligned(y, cols, (int64_t)sizeof(T)) && vec_aligned(add, 0, 1))
        return launch<T, vec_width<T>::value>(exec, y, add, rows, cols, relu);
    return launch<T, 1>(exec, y, add, rows, cols, relu);
}

extern "C" tern_status tern_cuda_epilogue(const tern_exec *exec, const tern_strided *y,
                                          const tern_strided *bias, bool relu)
{
    if ((!bias && !relu) || tern_strided_numel(y) == 0)
        return TERN_OK;
    switch (y->dtype) {
        TERN_FLOATING_CASES(T, run<T>(exec, y, bias, relu))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("matmul", y->dtype);
}
