// SPDX-License-Identifier: Apache-2.0
// Elementary functions of one float, without branches, so that a loop over them becomes vector code
// under every instruction set. Within 4 ulp everywhere, subnormals, infinities, signed zeros and NaN
// included. Coefficients are least-maximum fits of the relative error on the range named beside them.
//
// sin and cos are right below VM_TRIG_LIMIT; beyond, callers take the C library's in double.
#ifndef TERN_SRC_CPU_VECMATH_H
#define TERN_SRC_CPU_VECMATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define VM_INLINE static inline __attribute__((always_inline, unused))

// a * b + c, in one rounding where the machine has it.
#if defined(__FMA__)
#define VM_MADD(a, b, c)  __builtin_fmaf(a, b, c)
#define VM_MADDD(a, b, c) __builtin_fma(a, b, c)
#else
#define VM_MADD(a, b, c)  ((a) * (b) + (c))
#define VM_MADDD(a, b, c) ((a) * (b) + (c))
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

// ---- exponential ----------------------------------------------------------------------------------

// exp(x + low), low being smaller than an ulp of x.
VM_INLINE float vm_exp_sum(float x, float low)
{
    x = x < -104.0f ? -104.0f : x; // 0 from there down
    x = x > 89.0f ? 89.0f : x;     // infinity from there up
    // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
    const float shifted = x * 0x1.715476p+0f + 0x1.8p23f;
    const float n = shifted - 0x1.8p23f;
    float r = VM_MADD(n, -0x1.62e4p-1f, x); // exact: 15 bits of ln 2, 8 of n
    r = VM_MADD(n, -0x1.7f7d1cp-20f, r) + low;
    // |r| <= ln 2 / 2
    float p = 1.381314476e-03f;
    p = VM_MADD(p, r, 8.369418792e-03f);
    p = VM_MADD(p, r, 4.166845605e-02f);
    p = VM_MADD(p, r, 1.666651517e-01f);
    p = VM_MADD(p, r, 4.999999404e-01f);
    p = VM_MADD(p, r * r, r) + 1.0f;
    // 2^n in two factors: a subnormal result is rounded once, and 2^128 has no float.
    const int32_t power = (int32_t)(vm_bits(shifted) - vm_bits(0x1.8p23f));
    const int32_t half = power >> 1;
    const float scale = vm_float((uint32_t)(half + 127) << 23);
    const float rest = vm_float((uint32_t)(power - half + 127) << 23);
    return p * scale * rest;
}

VM_INLINE float vm_exp(float x)
{
    return vm_exp_sum(x, 0.0f);
}

// ---- logarithm ------------------------------------------------------------------------------------

// log((1 + f) * 2^k), sqrt(1/2) - 1 <= f <= sqrt(2) - 1
VM_INLINE float vm_log_parts(float f, float k)
{
    float p = 6.746549904e-02f;
    p = VM_MADD(p, f, -1.167964041e-01f);
    p = VM_MADD(p, f, 1.189033911e-01f);
    p = VM_MADD(p, f, -1.240513846e-01f);
    p = VM_MADD(p, f, 1.421922296e-01f);
    p = VM_MADD(p, f, -1.666800678e-01f);
    p = VM_MADD(p, f, 2.000213414e-01f);
    p = VM_MADD(p, f, -2.500000894e-01f);
    p = VM_MADD(p, f, 3.333331347e-01f);
    const float square = f * f;
    float y = square * f * p;
    y = VM_MADD(k, 0x1.7f7d1cp-20f, y);
    y = VM_MADD(square, -0.5f, y);
    return VM_MADD(k, 0x1.62e4p-1f, f + y);
}

// The power of 2 that brings a positive normal x between sqrt(1/2) and sqrt(2), negated.
VM_INLINE int32_t vm_log_exponent(float x)
{
    return (int32_t)(vm_bits(x) - vm_bits(0x1.6a09e6p-1f)) >> 23;
}

// What a logarithm of `x` is where y, computed as if x were positive and finite, is not.
VM_INLINE float vm_log_special(float x, float y)
{
    y = x == INFINITY ? x : y;
    y = x == 0.0f ? -INFINITY : y;
    return x >= 0.0f ? y : NAN;
}

VM_INLINE float vm_log(float x)
{
    const float normal = x < 0x1p-126f ? x * 0x1p23f : x;
    const int32_t k = vm_log_exponent(normal);
    const float m = vm_float(vm_bits(normal) - ((uint32_t)k << 23));
    const float bias = x < 0x1p-126f ? 23.0f : 0.0f;
    return vm_log_special(x, vm_log_parts(m - 1.0f, (float)k - bias));
}

VM_INLINE float vm_log1p(float x)
{
    const float u = 1.0f + x;
    const float lost = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);
    const int32_t k = vm_log_exponent(u);
    const float m = vm_float(vm_bits(u) - ((uint32_t)k << 23));
    // 2^-k in two factors: k is 128 where u rounds up to 2^127.5 and more.
    const float scale = vm_float((uint32_t)(126 - k) << 23) * 2.0f;
    const float f = (m - 1.0f) + (k > 60 ? 0.0f : lost * scale);
    const float y = vm_log_special(u, vm_log_parts(f, (float)k));
    return vm_abs(x) < 0x1p-25f ? x : y;
}

// ---- sine and cosine ------------------------------------------------------------------------------

#define VM_TRIG_LIMIT 0x1p20f

// In double: then two parts of pi / 2 are enough. `quarter` is 0 for the sine, 1 for the cosine.
VM_INLINE float vm_trig(float x, uint64_t quarter)
{
    const double wide = x;
    const double shifted = wide * 0x1.45f306dc9c883p-1 + 0x1.8p52;
    const double n = shifted - 0x1.8p52;
    // Exact: 33 bits of pi / 2, 20 of n.
    const double r = wide - n * 0x1.921fb544p0 - n * 0x1.0b4611a626331p-34;
    const uint64_t q = vm_bits64(shifted) + quarter;
    const double z = r * r; // |r| <= pi / 4
    double s = -2.47611320661488245e-08;
    s = VM_MADDD(s, z, 2.75553506964624905e-06);
    s = VM_MADDD(s, z, -1.98412637903805106e-04);
    s = VM_MADDD(s, z, 8.33333332521358876e-03);
    s = VM_MADDD(s, z, -1.66666666666312829e-01);
    s = VM_MADDD(s, z, 1.0) * r;
    double c = -2.71740157264445232e-07;
    c = VM_MADDD(c, z, 2.47989500380192542e-05);
    c = VM_MADDD(c, z, -1.38888806088798694e-03);
    c = VM_MADDD(c, z, 4.16666665524950894e-02);
    c = VM_MADDD(c, z, -4.99999999994841127e-01);
    c = VM_MADDD(c, z, 1.0);
    const double y = (q & 1) ? c : s;
    return (float)vm_double(vm_bits64(y) ^ ((q & 2) << 62));
}

VM_INLINE float vm_sin(float x)
{
    return vm_trig(x, 0);
}

VM_INLINE float vm_cos(float x)
{
    return vm_trig(x, 1);
}

// Whether vm_sin and vm_cos are right for all of them.
VM_INLINE bool vm_trig_in_range(const float *x, int64_t n)
{
    uint32_t largest = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = vm_bits(x[i]) & 0x7fffffffu;
        largest = bits > largest ? bits : largest;
    }
    return largest < vm_bits(VM_TRIG_LIMIT);
}

// ---- hyperbolic tangent and the logistic function -------------------------------------------------

VM_INLINE float vm_tanh(float x)
{
    const float t = vm_abs(x);
    const float z = x * x; // |x| < 0.625
    float p = -5.704978481e-03f;
    p = VM_MADD(p, z, 2.063907869e-02f);
    p = VM_MADD(p, z, -5.373971164e-02f);
    p = VM_MADD(p, z, 1.333144158e-01f);
    p = VM_MADD(p, z, -3.333328068e-01f);
    const float small = x * VM_MADD(p, z, 1.0f);
    const float large = vm_copysign(1.0f - 2.0f / (vm_exp(2.0f * t) + 1.0f), x);
    return t < 0.625f ? small : large;
}

// 1 / (1 + exp(-x)) from e = exp(-|x|), which does not overflow.
VM_INLINE float vm_sigmoid_of(float x, float e)
{
    return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

VM_INLINE float vm_sigmoid(float x)
{
    return vm_sigmoid_of(x, vm_exp(-vm_abs(x)));
}

// log(1 + exp(x))
VM_INLINE float vm_softplus(float x)
{
    return (x > 0.0f ? x : 0.0f) + vm_log1p(vm_exp(-vm_abs(x)));
}

// ---- the normal distribution ----------------------------------------------------------------------

// exp(-t^2 / 2), t >= 0
VM_INLINE float vm_gauss(float t)
{
    t = t > 20.0f ? 20.0f : t;
    // The upper half of t has an exact square; the rest of t^2 goes in beside it.
    const float upper = vm_float(vm_bits(t) & 0xfffff000u);
    return vm_exp_sum(-0.5f * upper * upper, -0.5f * (t - upper) * (t + upper));
}

// P(X > t) for t >= 0, given gauss = exp(-t^2 / 2). With u = 1 / (1 + t / 4) it is gauss * u * p(u).
VM_INLINE float vm_normal_tail(float t, float gauss)
{
    const float u = 1.0f / VM_MADD(t, 0.25f, 1.0f);
    float p = 1.695149019e-02f; // 0 <= t <= 14.6
    p = VM_MADD(p, u, -6.486594677e-02f);
    p = VM_MADD(p, u, 5.667351186e-02f);
    p = VM_MADD(p, u, 2.152044512e-02f);
    p = VM_MADD(p, u, 1.867139898e-02f);
    p = VM_MADD(p, u, 8.333030343e-02f);
    p = VM_MADD(p, u, 7.320002466e-02f);
    p = VM_MADD(p, u, 9.524600208e-02f);
    p = VM_MADD(p, u, 9.952673316e-02f);
    p = VM_MADD(p, u, 9.974604100e-02f);
    return gauss * (u * p);
}

VM_INLINE float vm_normal_cdf(float x, float gauss)
{
    const float tail = vm_normal_tail(vm_abs(x), gauss);
    return x < 0.0f ? tail : 1.0f - tail;
}

VM_INLINE float vm_erf(float x)
{
    const float z = x * x; // |x| < 1
    float p = 7.889122935e-05f;
    p = VM_MADD(p, z, -8.020842215e-04f);
    p = VM_MADD(p, z, 5.189535674e-03f);
    p = VM_MADD(p, z, -2.685444430e-02f);
    p = VM_MADD(p, z, 1.128360033e-01f);
    p = VM_MADD(p, z, -3.761262596e-01f);
    p = VM_MADD(p, z, 1.128379107e+00f);
    const float t = vm_abs(x) * 0x1.6a09e6p0f;
    const float large = 1.0f - 2.0f * vm_normal_tail(t, vm_gauss(t));
    return vm_abs(x) < 1.0f ? x * p : vm_copysign(large, x);
}

VM_INLINE float vm_gelu(float x)
{
    return x * vm_normal_cdf(x, vm_gauss(vm_abs(x)));
}

// phi(x) x + Phi(x)
VM_INLINE float vm_gelu_slope(float x)
{
    const float gauss = vm_gauss(vm_abs(x));
    const float bounded = x > 20.0f ? 20.0f : x < -20.0f ? -20.0f : x; // gauss is 0 there
    return VM_MADD(bounded * 0x1.988454p-2f, gauss, vm_normal_cdf(x, gauss));
}

// tanh(a) = 2 sigmoid(2 a) - 1, so the tanh form is x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)). Its argument is
// formed in double, for the exponential magnifies its error.
VM_INLINE float vm_gelu_tanh_sigmoid(float x)
{
    const double wide = x;
    double a = fabs(wide * (0x1.9884533d43651p0 + 0x1.2444f2a4d8b4bp-4 * wide * wide));
    a = a > 200.0 ? 200.0 : a;
    const float upper = (float)-a;
    return vm_sigmoid_of(x, vm_exp_sum(upper, (float)(-a - upper)));
}

VM_INLINE float vm_gelu_tanh(float x)
{
    return x * vm_gelu_tanh_sigmoid(x);
}

VM_INLINE float vm_gelu_tanh_slope(float x)
{
    const float s = vm_gelu_tanh_sigmoid(x);
    const float bounded = x > 20.0f ? 20.0f : x < -20.0f ? -20.0f : x; // s (1 - s) is 0 there
    const float slope = VM_MADD(0x1.b6676cp-3f * bounded, bounded, 0x1.988454p0f);
    return VM_MADD(bounded * s, (1.0f - s) * slope, s);
}

// ---- others ---------------------------------------------------------------------------------------

VM_INLINE float vm_sqrt(float x)
{
    return sqrtf(x);
}

VM_INLINE float vm_pow(float x, float y)
{
    return (float)pow((double)x, (double)y);
}

// To the nearest integer, halves to even.
VM_INLINE float vm_round(float x)
{
    const float t = vm_abs(x);
    const float nearest = (t + 0x1p23f) - 0x1p23f;
    return t < 0x1p23f ? vm_copysign(nearest, x) : x;
}

#endif
