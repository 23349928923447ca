// SPDX-License-Identifier: Apache-2.0
// CUDA's bfloat16, simulated.
#ifndef TERN_SIM_CUDA_BF16_H
#define TERN_SIM_CUDA_BF16_H

#include "cuda_runtime.h"
#include "sim_half.h"

TERN_SIM_HALF_TYPE(__nv_bfloat16, __nv_bfloat162, tern_sim_bfloat16_to_float,
                   tern_sim_float_to_bfloat16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

static inline float __bfloat162float(__nv_bfloat16 value)
{
    return value;
}

static inline __nv_bfloat16 __float2bfloat16(float value)
{
    return __nv_bfloat16(value);
}

static inline __nv_bfloat16 __float2bfloat16_rn(float value)
{
    return __nv_bfloat16(value);
}

static inline __nv_bfloat16 __double2bfloat16(double value)
{
    return __nv_bfloat16(value);
}

static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value)
{
    return value.bits;
}

static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits)
{
    return tern_sim___nv_bfloat16(bits);
}

static inline float2 __bfloat1622float2(__nv_bfloat162 value)
{
    return make_float2(value.x, value.y);
}

static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return {__nv_bfloat16(x), __nv_bfloat16(y)};
}

#endif
