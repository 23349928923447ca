// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic: minimum, maximum, division that rounds up, sums and products that wrap around
// as in two's complement, and how a number becomes an integer. For C, C++ and CUDA.
#ifndef TERN_SRC_BASE_INTEGER_H
#define TERN_SRC_BASE_INTEGER_H

#include <stdint.h>

#ifdef __CUDACC__
#define TERN_INTEGER_INLINE static inline __host__ __device__
#else
#define TERN_INTEGER_INLINE static inline
#endif

TERN_INTEGER_INLINE int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

TERN_INTEGER_INLINE int64_t wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

TERN_INTEGER_INLINE int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

TERN_INTEGER_INLINE int64_t min_int64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

TERN_INTEGER_INLINE int64_t max_int64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

TERN_INTEGER_INLINE int64_t clamp_int64(int64_t v, int64_t low, int64_t high)
{
    return min_int64(max_int64(v, low), high);
}

// a / b rounded up; a >= 0, b > 0.
TERN_INTEGER_INLINE int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

// base^exponent; with a negative exponent the quotient 1 / base^-exponent cut towards zero, 0 for
// base 0.
TERN_INTEGER_INLINE int64_t wrap_pow(int64_t base, int64_t exponent)
{
    if (exponent < 0)
        return base == 1 ? 1 : base != -1 ? 0 : (exponent & 1) ? -1 : 1;
    int64_t power = 1;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            power = wrap_mul(power, base);
        base = wrap_mul(base, base);
    }
    return power;
}

// x without its fraction; out of range the nearest int64, NaN gives 0.
TERN_INTEGER_INLINE int64_t truncate_to_int64(double x)
{
    if (x >= 0x1p63)
        return INT64_MAX;
    if (x < -0x1p63)
        return INT64_MIN;
    return x == x ? (int64_t)x : 0;
}

#endif
