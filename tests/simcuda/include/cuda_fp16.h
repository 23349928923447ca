// SPDX-License-Identifier: Apache-2.0
// CUDA's binary16, simulated.
#ifndef TERN_SIM_CUDA_FP16_H
#define TERN_SIM_CUDA_FP16_H

#include "cuda_runtime.h"
#include "sim_half.h"

TERN_SIM_HALF_TYPE(__half, __half2, tern_sim_half_to_float, tern_sim_float_to_half)
typedef __half half;
typedef __half2 half2;

static inline float __half2float(__half value)
{
    return value;
}

static inline __half __float2half(float value)
{
    return __half(value);
}

static inline __half __float2half_rn(float value)
{
    return __half(value);
}

static inline __half __double2half(double value)
{
    return __half(value);
}

static inline unsigned short __half_as_ushort(__half value)
{
    return value.bits;
}

static inline __half __ushort_as_half(unsigned short bits)
{
    return tern_sim___half(bits);
}

static inline float2 __half22float2(__half2 value)
{
    return make_float2(value.x, value.y);
}

static inline __half2 __floats2half2_rn(float x, float y)
{
    return {__half(x), __half(y)};
}

static inline __half2 __float22half2_rn(float2 value)
{
    return __floats2half2_rn(value.x, value.y);
}

static inline bool __hisnan(__half value)
{
    return isnan((float)value);
}

static inline int __hisinf(__half value)
{
    return isinf((float)value) ? (float)value > 0 ? 1 : -1 : 0;
}

#endif
