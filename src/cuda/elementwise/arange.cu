// SPDX-License-Identifier: Apache-2.0
// y[i] = start + i * step, one thread an element
#include "cuda/element.cuh"
#include "cuda/loop.cuh"
#include "device/comparison.h"

template <class T> struct floating_sequence {
    static const int VIEWS = 1, WIDTH = 1;
    T *y;
    double start, step;

    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        y[at[0]] = downcast<T>((opmath_t<T>)(start + (double)at[0] * step));
    }
};

// Wraps around, as unsigned numbers do.
template <class T> struct integer_sequence {
    static const int VIEWS = 1, WIDTH = 1;
    T *y;
    uint64_t start, step;

    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        y[at[0]] = element<T>::store((int64_t)(start + (uint64_t)at[0] * step));
    }
};

template <class T>
static tern_status floating(const tern_exec *exec, const tern_strided *y, tern_scalar start,
                            tern_scalar step)
{
    const tern_strided *const views[] = {y};
    const floating_sequence<T> body = {(T *)y->data, scalar_floating(start, TERN_FLOAT64),
                                       scalar_floating(step, TERN_FLOAT64)};
    return loop_run(exec, "arange", views, body);
}

template <class T>
static tern_status integers(const tern_exec *exec, const tern_strided *y, tern_scalar start,
                            tern_scalar step)
{
    const tern_strided *const views[] = {y};
    const integer_sequence<T> body = {(T *)y->data, (uint64_t)scalar_integer(start),
                                      (uint64_t)scalar_integer(step)};
    return loop_run(exec, "arange", views, body);
}

extern "C" tern_status tern_cuda_arange(const tern_exec *exec, const tern_strided *y,
                                        tern_scalar start, tern_scalar step)
{
    switch (y->dtype) {
        TERN_FLOATING_CASES(T, floating<T>(exec, y, start, step))
        TERN_INTEGRAL_CASES(T, integers<T>(exec, y, start, step))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return tern_kernel_lacks("arange", y->dtype);
}
