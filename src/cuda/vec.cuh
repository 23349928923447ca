// SPDX-License-Identifier: Apache-2.0
// Vectorized loads and stores.
#ifndef TERN_SRC_CUDA_VEC_CUH
#define TERN_SRC_CUDA_VEC_CUH

#include "cuda/launch.cuh"

#define VEC_BYTES 16

// N adjacent elements, aligned to their size together.
template <class T, int N> struct alignas(sizeof(T) * N) vec {
    T at[N];
};

// The count of elements in the widest load.
template <class T> struct vec_width {
    static const int value = VEC_BYTES / (int)sizeof(T);
};

template <int N, class T> __device__ __forceinline__ vec<T, N> vec_load(const T *x)
{
    return *reinterpret_cast<const vec<T, N> *>(x);
}

template <int N, class T> __device__ __forceinline__ void vec_store(T *y, const vec<T, N> &values)
{
    *reinterpret_cast<vec<T, N> *>(y) = values;
}

// The vector at x, or the one element there broadcast to N.
template <int N, class T>
__device__ __forceinline__ vec<T, N> vec_load_or_splat(const T *x, bool splat)
{
    if (!splat)
        return vec_load<N>(x);
    vec<T, N> values;
    const T value = *x;
#pragma unroll
    for (int k = 0; k < N; k++)
        values.at[k] = value;
    return values;
}

// Whether x, and any multiple of `stride` elements of `size` bytes behind it, is aligned for the
// widest loads.
static inline bool vec_aligned(const void *x, int64_t stride, int64_t size)
{
    return (uintptr_t)x % VEC_BYTES == 0 && stride * size % VEC_BYTES == 0;
}

#endif
