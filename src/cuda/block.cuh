// SPDX-License-Identifier: Apache-2.0
// Reductions over the threads of a warp or of a block: sums, extremes, any commutative operation.
// Every thread gets the result. The order depends on the block's size alone.
//
// Blocks are one-dimensional and consist of whole warps; all of their threads call.
#ifndef TERN_SRC_CUDA_BLOCK_CUH
#define TERN_SRC_CUDA_BLOCK_CUH

#include "cuda/launch.cuh"

#define WARP_BITS 5
#define WARP_SIZE (1 << WARP_BITS)
#define WARP_ALL  0xffffffffu

struct add_values {
    template <class T> __device__ __forceinline__ T operator()(T a, T b) const
    {
        return a + b;
    }
};

// A NaN if either is one.
struct nan_max {
    template <class T> __device__ __forceinline__ T operator()(T a, T b) const
    {
        return b > a || b != b ? b : a;
    }
};

// The value of the lane whose index is this one's xor `mask`; overloaded for structs.
template <class T> __device__ __forceinline__ T shuffle_xor(T value, int mask)
{
    return __shfl_xor_sync(WARP_ALL, value, mask);
}

// Reduces over each group of LANES adjacent lanes, a power of two; all lanes of the warp call.
// `combine` is commutative.
template <int LANES = WARP_SIZE, class T, class Combine>
__device__ __forceinline__ T warp_reduce(T value, Combine combine)
{
#pragma unroll
    for (int mask = LANES / 2; mask > 0; mask /= 2)
        value = combine(value, shuffle_xor(value, mask));
    return value;
}

template <class T> __device__ __forceinline__ T warp_sum(T value)
{
    return warp_reduce(value, add_values());
}

// Reduces over the block. `identity` is the identity element of `combine`.
template <class T, class Combine>
__device__ __forceinline__ T block_reduce(T value, T identity, Combine combine)
{
    TERN_SHARED(T, partial, [WARP_SIZE]);
    const int lane = (int)threadIdx.x % WARP_SIZE, warp = (int)threadIdx.x / WARP_SIZE;
    const int warps = (int)blockDim.x / WARP_SIZE;
    value = warp_reduce(value, combine);
    if (warps == 1)
        return value;
    __syncthreads(); // the previous call may still read `partial`
    if (lane == 0)
        partial[warp] = value;
    __syncthreads();
    return warp_reduce(lane < warps ? partial[lane] : identity, combine);
}

template <class T> __device__ __forceinline__ T block_sum(T value)
{
    return block_reduce(value, (T)0, add_values());
}

#endif
