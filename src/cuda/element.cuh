// SPDX-License-Identifier: Apache-2.0
// Elements of every dtype as elementwise operations compute them: 16-bit ones in float, integers
// and bool in int64_t, where arithmetic wraps around; and elements as mere bytes.
#ifndef TERN_SRC_CUDA_ELEMENT_CUH
#define TERN_SRC_CUDA_ELEMENT_CUH

#include "cuda/launch.cuh"

// An element of bool: 0 or not.
struct truth {
    uint8_t byte;
};

template <class T> struct element {
    typedef opmath_t<T> type;
    static __device__ __forceinline__ type load(T x)
    {
        return upcast(x);
    }
    static __device__ __forceinline__ T store(type x)
    {
        return downcast<T>(x);
    }
};

template <class T> struct integer_element {
    typedef int64_t type;
    static __device__ __forceinline__ int64_t load(T x)
    {
        return x;
    }
    static __device__ __forceinline__ T store(int64_t x)
    {
        return (T)x;
    }
};
template <> struct element<int64_t> : integer_element<int64_t> {
};
template <> struct element<int32_t> : integer_element<int32_t> {
};
template <> struct element<uint8_t> : integer_element<uint8_t> {
};

template <> struct element<truth> {
    typedef int64_t type;
    static __device__ __forceinline__ int64_t load(truth x)
    {
        return x.byte != 0;
    }
    template <class C> static __device__ __forceinline__ truth store(C x)
    {
        return {(uint8_t)(x != 0)};
    }
};

// Cases of a switch over the dtype of integers and bool.
#define TERN_INTEGRAL_CASES(T, ...)                                                                \
    TERN_INTEGER_CASES(T, __VA_ARGS__)                                                             \
    TERN_DTYPE_CASE(TERN_BOOL, truth, T, __VA_ARGS__)

// Cases of a switch over the size of an element, for kernels that only move it.
#define TERN_SIZE_CASES(T, ...)                                                                    \
    TERN_DTYPE_CASE(1, uint8_t, T, __VA_ARGS__)                                                    \
    TERN_DTYPE_CASE(2, uint16_t, T, __VA_ARGS__)                                                   \
    TERN_DTYPE_CASE(4, uint32_t, T, __VA_ARGS__)                                                   \
    TERN_DTYPE_CASE(8, uint64_t, T, __VA_ARGS__)

#endif
