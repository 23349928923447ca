// SPDX-License-Identifier: Apache-2.0
// Division of places, shorter than the 64-bit one.
#ifndef TERN_SRC_CUDA_DIVIDE_CUH
#define TERN_SRC_CUDA_DIVIDE_CUH

#include "cuda/tern_cu.h"

// *a / size, where inverse is 1 / size; the rest goes to *a. Exact for 0 <= *a < 2^52, which is
// more than memory holds.
__device__ __forceinline__ int64_t place_divide(int64_t *a, int64_t size, double inverse)
{
    int64_t quotient = (int64_t)((double)*a * inverse);
    int64_t rest = *a - quotient * size;
    if (rest < 0) {
        quotient--;
        rest += size;
    } else if (rest >= size) {
        quotient++;
        rest -= size;
    }
    *a = rest;
    return quotient;
}

#endif
