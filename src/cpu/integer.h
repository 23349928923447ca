// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic that wraps around, as in two's complement, without overflowing.
#ifndef TERN_SRC_CPU_INTEGER_H
#define TERN_SRC_CPU_INTEGER_H

#include <stdint.h>

static inline int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

// base^exponent; with a negative exponent the quotient 1 / base^-exponent cut towards zero, 0 for
// base 0.
static inline int64_t wrap_pow(int64_t base, int64_t exponent)
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

#endif
