// SPDX-License-Identifier: Apache-2.0
// Kernels with one fault each, by names that kernels.py has rules for, and one without.
#include "cuda/vec.cuh"

// fault: reduce_rows, calls a 64-bit division
__global__ void reduce_rows(int64_t *y, int64_t n)
{
    y[threadIdx.x] /= n;
}

// fault: sum_pieces, spills registers
__global__ void __launch_bounds__(1024, 2) sum_pieces(float *y, const float *x)
{
    float kept[64];
#pragma unroll
    for (int i = 0; i < 64; i++)
        kept[i] = x[i * 1024 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 64; i++)
        y[i * 1024 + threadIdx.x] = kept[i] / kept[63 - i];
}

// fault: dropout, computes in double
template <class T> __global__ void dropout(T *y, double scale)
{
    y[threadIdx.x] = (T)(y[threadIdx.x] * scale);
}
template __global__ void dropout(float *, double);

// fault: bias_relu, has no load of 16 bytes
// fault: bias_relu, has no store of 16 bytes
template <class T, int W> __global__ void bias_relu(T *y)
{
    for (int k = 0; k < W; k++)
        y[threadIdx.x * W + k] += 1;
}
template __global__ void bias_relu<float, 4>(float *);

// fault: softmax_long, has no store of 16 bytes
template <class T, int W> __global__ void softmax_long(T *y, const T *x)
{
    const vec<T, W> values = vec_load<W>(x + threadIdx.x * W);
    y[threadIdx.x] = values.at[0] * values.at[1] * values.at[2] * values.at[3];
}
template __global__ void softmax_long<float, 4>(float *, const float *);

template <class T, int W> __global__ void softmax_grad_long(T *y, const T *x)
{
    vec_store<W>(y + threadIdx.x * W, vec_load<W>(x + threadIdx.x * W));
}
template __global__ void softmax_grad_long<float, 4>(float *, const float *);
