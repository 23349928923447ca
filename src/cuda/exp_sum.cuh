// SPDX-License-Identifier: Apache-2.0
// The sum of exp(x) in one pass, kept as sum exp(x - max) with the largest x so far: what softmax
// and cross-entropy need of a row. NaN, infinity, and rows of nothing but -infinity make it NaN, as
// subtracting the largest does.
#ifndef TERN_SRC_CUDA_EXP_SUM_CUH
#define TERN_SRC_CUDA_EXP_SUM_CUH

#include <float.h>
#include "cuda/block.cuh"

__device__ __forceinline__ float exponential(float x)
{
    return expf(x);
}
__device__ __forceinline__ double exponential(double x)
{
    return exp(x);
}
__device__ __forceinline__ float logarithm(float x)
{
    return logf(x);
}
__device__ __forceinline__ double logarithm(double x)
{
    return log(x);
}

template <class C> struct exp_sum {
    C max, sum;
};

// Of nothing. A finite max, so that the difference to -infinity is a number.
template <class C> __device__ __forceinline__ exp_sum<C> exp_sum_identity()
{
    return exp_sum<C>{(C)(sizeof(C) == sizeof(float) ? -(double)FLT_MAX : -DBL_MAX), 0};
}

template <class C> __device__ __forceinline__ void exp_sum_add(exp_sum<C> &s, C x)
{
    const C above = x - s.max;
    const C small = exponential(above > 0 ? -above : above);
    s.sum = above > 0 ? s.sum * small + 1 : s.sum + small;
    s.max = above > 0 ? x : s.max;
}

struct exp_sum_combine {
    template <class C>
    __device__ __forceinline__ exp_sum<C> operator()(const exp_sum<C> &a, const exp_sum<C> &b) const
    {
        const C above = b.max - a.max;
        const C small = exponential(above > 0 ? -above : above);
        return above > 0 ? exp_sum<C>{b.max, a.sum * small + b.sum}
                         : exp_sum<C>{a.max, a.sum + b.sum * small};
    }
};

template <class C>
__device__ __forceinline__ exp_sum<C> shuffle_xor(const exp_sum<C> &value, int mask)
{
    return exp_sum<C>{shuffle_xor(value.max, mask), shuffle_xor(value.sum, mask)};
}

// When all is added.
template <class C> __device__ __forceinline__ exp_sum<C> exp_sum_finish(const exp_sum<C> &s)
{
    return isinf(s.max) ? exp_sum<C>{s.max, (C)NAN} : s;
}

#endif
