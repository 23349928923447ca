// SPDX-License-Identifier: Apache-2.0
// The one header that a .cu file includes first: the device language in the subset that the
// simulated device runs too, and element types.
//
// Rules for kernels: launch through LAUNCH of launch.cuh, a template's name in parentheses; shared
// memory through TERN_SHARED and TERN_DYN_SHARED; barriers and shuffles are reached by every thread
// of the block or warp (guard the body, do not return early); TERN_ASSUME_GLOBAL says that a
// pointer read from memory is one to global memory, or its loads are generic ones; no inline PTX,
// no cooperative groups, no cudaMemcpyToSymbol; no float atomics, so that results repeat.
#ifndef TERN_SRC_CUDA_TERN_CU_H
#define TERN_SRC_CUDA_TERN_CU_H

#include <math.h>
#include <stdint.h>
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "base/error.h"
#include "cuda/host/launch.h"
#include "cuda/kernels.h"
#include "device/kernel_dtype.h"

#ifndef TERN_CUDA_SIM
#define TERN_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                \
    kernel<<<(grid), (block), (shared_bytes), (cudaStream_t)(stream)>>>(__VA_ARGS__)
#define TERN_SHARED(type, name, ...) __shared__ type name __VA_ARGS__
#define TERN_DYN_SHARED(type, name)                                                                \
    extern __shared__ __align__(16) unsigned char tern_dynamic_shared_[];                          \
    type *name = reinterpret_cast<type *>(tern_dynamic_shared_)
#define TERN_ASSUME_GLOBAL(pointer) __builtin_assume(__isGlobal(pointer))
#endif

// ---- element types ------------------------------------------------------------------------------

// The type that an element is computed in: float for 16-bit ones, else its own.
template <class T> struct opmath {
    typedef T type;
};
template <> struct opmath<__half> {
    typedef float type;
};
template <> struct opmath<__nv_bfloat16> {
    typedef float type;
};
template <class T> using opmath_t = typename opmath<T>::type;

__device__ __forceinline__ float upcast(__half x)
{
    return __half2float(x);
}
__device__ __forceinline__ float upcast(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}
template <class T> __device__ __forceinline__ T upcast(T x)
{
    return x;
}

// Rounded once, to nearest even.
template <class T> struct downcast_rounding {
    template <class C> static __device__ __forceinline__ T from(C x)
    {
        return (T)x;
    }
};
template <> struct downcast_rounding<__half> {
    static __device__ __forceinline__ __half from(float x)
    {
        return __float2half(x);
    }
};
template <> struct downcast_rounding<__nv_bfloat16> {
    static __device__ __forceinline__ __nv_bfloat16 from(float x)
    {
        return __float2bfloat16(x);
    }
};
template <class T, class C> __device__ __forceinline__ T downcast(C x)
{
    return downcast_rounding<T>::from(x);
}

// Cases of a switch over a dtype, in launchers: the C type is called T in what they return.
//     switch (y->dtype) {
//         TERN_FLOATING_CASES(T, run<T>(exec, y))
//         TERN_NOT_FLOATING_CASES
//     }
//     return tern_kernel_lacks("softmax", y->dtype);
#define TERN_DTYPE_CASE(dtype_, type_, T, ...)                                                     \
    case dtype_: {                                                                                 \
        typedef type_ T;                                                                           \
        return __VA_ARGS__;                                                                        \
    }
#define TERN_FLOATING_CASES(T, ...)                                                                \
    TERN_DTYPE_CASE(TERN_FLOAT32, float, T, __VA_ARGS__)                                           \
    TERN_DTYPE_CASE(TERN_FLOAT64, double, T, __VA_ARGS__)                                          \
    TERN_DTYPE_CASE(TERN_FLOAT16, __half, T, __VA_ARGS__)                                          \
    TERN_DTYPE_CASE(TERN_BFLOAT16, __nv_bfloat16, T, __VA_ARGS__)
#define TERN_INTEGER_CASES(T, ...)                                                                 \
    TERN_DTYPE_CASE(TERN_INT64, int64_t, T, __VA_ARGS__)                                           \
    TERN_DTYPE_CASE(TERN_INT32, int32_t, T, __VA_ARGS__)                                           \
    TERN_DTYPE_CASE(TERN_UINT8, uint8_t, T, __VA_ARGS__)
// For dtypes that the kernel lacks: goes on behind the switch.
#define TERN_NOT_FLOATING_CASES                                                                    \
    case TERN_INT64:                                                                               \
    case TERN_INT32:                                                                               \
    case TERN_UINT8:                                                                               \
    case TERN_BOOL:                                                                                \
    case TERN_DTYPE_UNSPECIFIED:                                                                   \
        break;

#endif
