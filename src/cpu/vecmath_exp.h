// SPDX-License-Identifier: Apache-2.0
// The exponential of vecmath.h, whole and in the parts that other functions are made of, and the
// bits of a float.
#ifndef TERN_SRC_CPU_VECMATH_EXP_H
#define TERN_SRC_CPU_VECMATH_EXP_H

#include <stdint.h>
#include <string.h>

#define VM_INLINE static inline __attribute__((always_inline, unused))

// a * b + c, in one rounding where the machine has it.
#if defined(__FMA__)
#define VM_MADD(a, b, c)  __builtin_fmaf(a, b, c)
#define VM_MADDD(a, b, c) __builtin_fma(a, b, c)
#define VM_PRODUCT_ERROR(a, b, product)                                                            \
    __builtin_fmaf(a, b, -(product)) // what rounding took from a product
#else
#define VM_MADD(a, b, c)                ((a) * (b) + (c))
#define VM_MADDD(a, b, c)               ((a) * (b) + (c))
#define VM_PRODUCT_ERROR(a, b, product) ((float)((double)(a) * (b) - (double)(product)))
#endif

VM_INLINE uint32_t vm_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

VM_INLINE float vm_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

VM_INLINE uint64_t vm_bits64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

VM_INLINE double vm_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

VM_INLINE float vm_abs(float x)
{
    return vm_float(vm_bits(x) & 0x7fffffffu);
}

// |x| with the sign of s.
VM_INLINE float vm_copysign(float x, float s)
{
    return vm_float((vm_bits(x) & 0x7fffffffu) | (vm_bits(s) & 0x80000000u));
}

// The smaller of x >= 0 and bound; NaN gives bound. As integers, which compilers keep in one path.
VM_INLINE float vm_smaller(float x, float bound)
{
    const int32_t a = (int32_t)vm_bits(x), b = (int32_t)vm_bits(bound);
    return vm_float((uint32_t)(a < b ? a : b));
}

// Adding 1.5 * 2^23 + bias leaves the nearest integer n of x / ln 2, plus bias, in the low bits.
#define VM_SHIFT(bias) (0x1.8p23f + (bias))

VM_INLINE float vm_exp_shifted(float x, float bias)
{
    return VM_MADD(x, 0x1.715476p+0f, VM_SHIFT(bias));
}

// x - n ln 2
VM_INLINE float vm_exp_rest(float x, float shifted, float bias)
{
    const float n = shifted - VM_SHIFT(bias);
    const float r = VM_MADD(n, -0x1.62e4p-1f, x); // exact: 15 bits of ln 2, 8 of n
    return VM_MADD(n, -0x1.7f7d1cp-20f, r);
}

// (exp(r) - 1 - r) / r^2, |r| <= ln 2 / 2; grows with r from there.
VM_INLINE float vm_exp_series(float r)
{
    float p = 1.381314476e-03f;
    p = VM_MADD(p, r, 8.369418792e-03f);
    p = VM_MADD(p, r, 4.166845605e-02f);
    p = VM_MADD(p, r, 1.666651517e-01f);
    return VM_MADD(p, r, 4.999999404e-01f);
}

VM_INLINE float vm_exp_near(float r)
{
    return VM_MADD(VM_MADD(vm_exp_series(r), r, 1.0f), r, 1.0f);
}

// exp(r) - 1
VM_INLINE float vm_exp_excess(float r)
{
    return VM_MADD(vm_exp_series(r), r * r, r);
}

// exp(x) = exp(*r) * *a * *b, |*r| <= ln 2 / 2 and *a, *b powers of 2; -170 <= x, and infinity from
// 89 up.
VM_INLINE void vm_exp_factors(float x, float *r, float *a, float *b)
{
    // n + 254, the sum of two exponents with their bias: 2^128 has no float, nor has 2^-150.
    const float shifted = vm_smaller(vm_exp_shifted(x, 254.0f), VM_SHIFT(254.0f + 129.0f));
    const uint32_t both = vm_bits(shifted) << 23;
    const uint32_t half = (vm_bits(shifted) << 22) & 0xff800000u;
    *r = vm_exp_rest(x, shifted, 254.0f);
    *a = vm_float(half);
    *b = vm_float(both - half);
}

VM_INLINE float vm_exp(float x)
{
    float r, a, b;
    vm_exp_factors(x, &r, &a, &b);
    const float y = vm_exp_near(r) * a * b; // below -170 any number
    return x < -104.0f ? 0.0f : y;
}

// exp(x) = exp(*r) * *power * VM_EXP_SCALE, -170 <= x <= 0: one power of 2 is enough there.
#define VM_EXP_SCALE 0x1p-121f

VM_INLINE void vm_exp_below_factors(float x, float *r, float *power)
{
    const float bias = 127.0f + 121.0f, shifted = vm_exp_shifted(x, bias);
    *r = vm_exp_rest(x, shifted, bias);
    *power = vm_float(vm_bits(shifted) << 23);
}

// exp(x) / VM_EXP_SCALE, -170 <= x <= 0: the product with VM_EXP_SCALE rounds once where it is
// subnormal.
VM_INLINE float vm_exp_below_scaled(float x)
{
    float r, power;
    vm_exp_below_factors(x, &r, &power);
    return vm_exp_near(r) * power;
}

// exp(x), x <= 0; the same bits.
VM_INLINE float vm_exp_below(float x)
{
    return vm_exp_below_scaled(x < -105.0f ? -105.0f : x) * VM_EXP_SCALE; // NaN stays
}

// exp(x) - 1, exact near 0.
VM_INLINE float vm_expm1(float x)
{
    float r, a, b;
    const float bounded = x < -26.0f ? -26.0f : x > 89.0f ? 89.0f : x; // -1 and infinity from there
    vm_exp_factors(bounded, &r, &a, &b);
    const float excess = vm_exp_excess(r);
    const float near = VM_MADD(excess, a * b, a * b - 1.0f), far = (excess + 1.0f) * a * b;
    return x > 20.0f ? far : vm_copysign(near, x); // -0 stays
}

#endif
