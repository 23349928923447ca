// SPDX-License-Identifier: Apache-2.0
// Compiled with the headers of the toolkit, not with the simulated ones.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "toolkit_half.h"

uint16_t toolkit_float_to_half(float x)
{
    return __half_as_ushort(__float2half(x));
}

uint16_t toolkit_double_to_half(double x)
{
    return __half_as_ushort(__double2half(x));
}

float toolkit_half_to_float(uint16_t bits)
{
    return __half2float(__ushort_as_half(bits));
}

uint16_t toolkit_float_to_bfloat16(float x)
{
    return __bfloat16_as_ushort(__float2bfloat16(x));
}

uint16_t toolkit_double_to_bfloat16(double x)
{
    return __bfloat16_as_ushort(__double2bfloat16(x));
}

float toolkit_bfloat16_to_float(uint16_t bits)
{
    return __bfloat162float(__ushort_as_bfloat16(bits));
}
