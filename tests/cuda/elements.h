// SPDX-License-Identifier: Apache-2.0
// For tests of kernels: elements of any floating dtype as doubles, and values that are exact in
// all of them.
#ifndef TERN_TESTS_CUDA_ELEMENTS_H
#define TERN_TESTS_CUDA_ELEMENTS_H

#include "support/check.h"

// A multiple of 1/8 from -1 to 1: exact in 16 bits, and so are sums of products in float32.
static inline double exact_value(int64_t i)
{
    return (double)((i * 37 + 11) % 17 - 8) / 8; // exact in 16 bits
}

// Of a value that is exact there.
static inline uint16_t half_of(double x, tern_dtype dtype)
{
    const float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    if (dtype == TERN_BFLOAT16)
        return (uint16_t)(bits >> 16);
    const uint32_t exponent = bits >> 23 & 255;
    if (exponent == 0)
        return 0;
    return (uint16_t)((bits >> 16 & 0x8000) | (exponent - 112) << 10 | (bits >> 13 & 0x3ff));
}

static inline void store_element(void *data, tern_dtype dtype, int64_t i, double x)
{
    if (dtype == TERN_FLOAT64)
        ((double *)data)[i] = x;
    else if (dtype == TERN_FLOAT32)
        ((float *)data)[i] = (float)x;
    else
        ((uint16_t *)data)[i] = half_of(x, dtype);
}

static inline double load_element(const void *data, tern_dtype dtype, int64_t i)
{
    if (dtype == TERN_FLOAT64)
        return ((const double *)data)[i];
    if (dtype == TERN_FLOAT32)
        return ((const float *)data)[i];
    const uint16_t bits = ((const uint16_t *)data)[i];
    if (dtype == TERN_FLOAT16)
        return (bits & 0x8000 ? -1 : 1) * (bits >> 10 & 31
                                               ? ldexp(1024 + (bits & 1023), (bits >> 10 & 31) - 25)
                                               : ldexp(bits & 1023, -24));
    const uint32_t wide = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &wide, sizeof x);
    return x;
}

// Half a unit in the last place of 1, of dtypes whose results are rounded when sums are exact.
static inline double rounding_of(tern_dtype dtype)
{
    return dtype == TERN_FLOAT16 ? 0x1p-11 : dtype == TERN_BFLOAT16 ? 0x1p-8 : 0;
}

#endif
