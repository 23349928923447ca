// SPDX-License-Identifier: Apache-2.0
// What the kernels of normalisations share.
#ifndef TERN_SRC_CUDA_NORM_NORM_CUH
#define TERN_SRC_CUDA_NORM_NORM_CUH

#include "cuda/block.cuh"
#include "cuda/fast_divide.cuh"
#include "cuda/vec.cuh"

#define NORM_THREADS      256
#define NORM_WARPS        (NORM_THREADS / WARP_SIZE)
#define NORM_SHORT        1024 // elements that a warp does alone
#define NORM_BLOCKS       1024 // enough for every multiprocessor
#define NORM_MIN_ELEMENTS 4096 // elements that a block sums at least, where others could help

// Weights, biases, running statistics of x's type T, or of the one that it is computed in; or none.
template <class T> struct norm_param {
    typedef opmath_t<T> C;
    void *data;
    bool is_upcast;

    __device__ __forceinline__ C get(int64_t i, C absent) const
    {
        if (!data)
            return absent;
        return is_upcast ? ((const C *)data)[i] : (C)upcast(((const T *)data)[i]);
    }
    __device__ __forceinline__ void set(int64_t i, C value) const
    {
        if (data && is_upcast)
            ((C *)data)[i] = value;
        else if (data)
            ((T *)data)[i] = downcast<T>(value);
    }
};

template <class T> static norm_param<T> make_norm_param(const tern_strided *view)
{
    norm_param<T> p = {NULL, false};
    if (view)
        p.data = view->data;
    p.is_upcast = view && (view->dtype == TERN_FLOAT32 || view->dtype == TERN_FLOAT64);
    return p;
}

// The threads that share a row or a channel: a warp where it is short, else a block.
template <bool WARP> struct norm_team {
    static const int SIZE = WARP ? WARP_SIZE : NORM_THREADS;

    static __device__ __forceinline__ int64_t first(void)
    {
        const int64_t block = blockIdx.x;
        return WARP ? block * NORM_WARPS + (int)threadIdx.x / WARP_SIZE : block;
    }
    static __device__ __forceinline__ int64_t step(void)
    {
        return (int64_t)gridDim.x * (WARP ? NORM_WARPS : 1);
    }
    static __device__ __forceinline__ int member(void)
    {
        return (int)threadIdx.x % SIZE;
    }
    template <class C> static __device__ __forceinline__ C sum(C value)
    {
        return WARP ? warp_sum(value) : block_sum(value);
    }
};

// Blocks for so many of them.
template <bool WARP> static unsigned norm_team_grid(int64_t count)
{
    return grid_stride_blocks(WARP ? ceil_div(count, NORM_WARPS) : count);
}

static inline int64_t norm_segments(int64_t samples, int64_t elements, int64_t others)
{
    int64_t segments = elements / NORM_MIN_ELEMENTS + 1;
    if (segments * others > NORM_BLOCKS)
        segments = NORM_BLOCKS / others + 1;
    return segments < samples ? segments : samples < 1 ? 1 : samples;
}

#endif
