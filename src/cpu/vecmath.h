// SPDX-License-Identifier: Apache-2.0
// Elementary functions of one float, without branches, so that a loop over them becomes vector code
// under every instruction set. Within 4 ulp everywhere, subnormals, infinities, signed zeros and
// NaN included. Coefficients are least-maximum fits of the relative error on the range named beside
// them.
//
// sin and cos are right below VM_TRIG_LIMIT; beyond, callers take the C library's in double.
#ifndef TERN_SRC_CPU_VECMATH_H
#define TERN_SRC_CPU_VECMATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "cpu/vecmath_exp.h"

// ---- logarithm ----------------------------------------------------------------------------------

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
    const float error = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);
    const int32_t k = vm_log_exponent(u);
    const float m = vm_float(vm_bits(u) - ((uint32_t)k << 23));
    // 2^-k in two factors: k is 128 where u rounds up to 2^127.5 and more.
    const float scale = vm_float((uint32_t)(126 - k) << 23) * 2.0f;
    const float f = (m - 1.0f) + (k > 60 ? 0.0f : error * scale);
    const float y = vm_log_special(u, vm_log_parts(f, (float)k));
    return vm_abs(x) < 0x1p-25f ? x : y;
}

// ---- sine and cosine ----------------------------------------------------------------------------

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

// ---- hyperbolic tangent and the logistic function -----------------------------------------------

// exp(2 |x|) - 1 keeps its bits near 0.
VM_INLINE float vm_tanh(float x)
{
    const float t = vm_abs(x), twice = 2.0f * (t > 10.0f ? 10.0f : t);
    const float shifted = vm_exp_shifted(twice, 127.0f), power = vm_float(vm_bits(shifted) << 23);
    const float excess = vm_exp_excess(vm_exp_rest(twice, shifted, 127.0f));
    const float e = VM_MADD(excess, power, power - 1.0f);
    return vm_copysign(e / (e + 2.0f), x);
}

// x - tanh(x); where that would cancel, (x cosh(x) - sinh(x)) / cosh(x) by a series of which all
// terms have one sign.
VM_INLINE float vm_tanhshrink(float x)
{
    const float z = x * x;      // |x| < 1
    float p = 1.927085260e-09f; // 2 k / (2 k + 1)!, k = 6 .. 1
    p = VM_MADD(p, z, 2.505210839e-07f);
    p = VM_MADD(p, z, 2.204585538e-05f);
    p = VM_MADD(p, z, 1.190476190e-03f);
    p = VM_MADD(p, z, 3.333333333e-02f);
    p = VM_MADD(p, z, 3.333333333e-01f);
    const float e = vm_exp(vm_abs(x)), cosh = 0.5f * (e + 1.0f / e);
    const float small = x * z * p / cosh;
    const float large = x - vm_copysign(1.0f - 2.0f / (e * e + 1.0f), x);
    return vm_abs(x) < 1.5f ? small : large;
}

// 1 / (1 + exp(-x)) by way of exp(-|x|), which does not overflow.
VM_INLINE float vm_sigmoid(float x)
{
    const float e = vm_exp_below(-vm_abs(x));
    return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

// sigmoid(x) sigmoid(-x)
VM_INLINE float vm_sigmoid_slope(float x)
{
    const float e = vm_exp_below(-vm_abs(x)), share = 1.0f / (1.0f + e);
    return e * share * share;
}

// sigmoid + x sigmoid', where x sigmoid' is 0 for large x
VM_INLINE float vm_silu_slope(float x)
{
    const float sigma = vm_sigmoid(x), bounded = x < -200.0f ? -200.0f : x > 200.0f ? 200.0f : x;
    return sigma * (1.0f + bounded * (1.0f - sigma));
}

// x sigmoid(x). Where it is subnormal, exp(x) has fewer bits still: x comes between its factors.
VM_INLINE float vm_silu(float x)
{
    const float scaled = vm_exp_below_scaled(-vm_smaller(vm_abs(x), 120.0f));
    const float share = x / (1.0f + scaled * VM_EXP_SCALE);
    const float below = x < -120.0f ? x * 0.0f : share * scaled * VM_EXP_SCALE; // -inf gives NaN
    return x < 0.0f ? below : share;
}

// tanh(log(1 + exp(x))) = n / d, and the same over exp(x) for x < 0, of e = exp(-|x|).
VM_INLINE void vm_mish_parts(float x, float e, float *n, float *d)
{
    const float below = 2.0f + e, above = 1.0f + 2.0f * e;
    *n = x < 0.0f ? below : above;
    *d = x < 0.0f ? VM_MADD(e, below, 2.0f) : VM_MADD(2.0f * e, e, above);
}

// x tanh(log(1 + exp(x))). Where it is subnormal x comes between exp(x)'s factors, as in vm_silu.
VM_INLINE float vm_mish(float x)
{
    float n, d;
    const float scaled = vm_exp_below_scaled(-vm_smaller(vm_abs(x), 120.0f));
    vm_mish_parts(x, scaled * VM_EXP_SCALE, &n, &d);
    const float share = x * (n / d);
    const float below = x < -120.0f ? x * 0.0f : share * scaled * VM_EXP_SCALE; // -inf gives NaN
    return x < 0.0f ? below : share;
}

// w + x w', w = tanh(log(1 + exp(x))); x w' is 0 for large x.
VM_INLINE float vm_mish_slope(float x)
{
    const float bounded = x < -120.0f ? -120.0f : x > 120.0f ? 120.0f : x;
    const float e = vm_exp_below(-vm_abs(bounded));
    float n, d;
    vm_mish_parts(bounded, e, &n, &d);
    const float power = bounded < 0.0f ? 1.0f : e;
    return e * (4.0f * bounded * power * (1.0f + e)) / (d * d) +
           (bounded < 0.0f ? e : 1.0f) * n / d;
}

// log(1 + exp(beta x)) / beta. What is lost in beta x shows that many times over in the result, so
// it is put back. Far below 0 the result is exp(beta x) / beta, which may be subnormal.
VM_INLINE float vm_softplus(float x, float beta)
{
    const float t = x * beta, size = vm_abs(t);
    const float error = size < 170.0f ? (float)((double)x * beta - (double)t) : 0.0f;
    const float scaled = vm_exp_below_scaled(size > 170.0f ? -170.0f : -size);
    const float e = scaled * VM_EXP_SCALE;
    const float slope = (t >= 0.0f ? 1.0f : e) / (1.0f + e);
    const float y = ((t > 0.0f ? t : 0.0f) + (vm_log1p(e) + slope * error)) / beta;
    return t < -18.0f ? (scaled + scaled * error) / beta * VM_EXP_SCALE : y;
}

// ---- the normal distribution --------------------------------------------------------------------
// P(X <= -t) = exp(-t^2 / 2) / d(t), t >= 0, where d is sqrt(2 pi) t and a part that falls from 2
// to 0: its own rounding shows little. What is lost in t^2 shows in its exponential, so it is put
// back.

// exp(-t^2 / 2) = (1 + *excess) 2^-64 times the result, a power of 2 that is 0 from VM_FAR on.
#define VM_FAR 16.28125f

VM_INLINE float vm_gauss(float t, float *excess)
{
    const float square = t * t, x = -0.5f * square, bias = 127.0f + 64.0f;
    const float shifted = vm_exp_shifted(x, bias);
    *excess = vm_exp_excess(
        VM_MADD(VM_PRODUCT_ERROR(t, t, square), -0.5f, vm_exp_rest(x, shifted, bias)));
    return vm_float(vm_bits(shifted) << 23);
}

// x P(X <= x). Where it is subnormal the factor 2^-64 comes last, so that it is rounded once.
VM_INLINE float vm_gelu(float x)
{
    float excess;
    const float t = vm_smaller(vm_abs(x), VM_FAR), power = vm_gauss(t, &excess);
    float p = 1.6419403701e-02f; // d = sqrt(2 pi) t + 2 - t p / q, t <= 14.4
    p = VM_MADD(p, t, 1.4202154696e-01f);
    p = VM_MADD(p, t, 5.2482094083e-01f);
    p = VM_MADD(p, t, 9.1082876815e-01f);
    float q = 8.2174185895e-03f;
    q = VM_MADD(q, t, 8.1164201521e-02f);
    q = VM_MADD(q, t, 3.6616717476e-01f);
    q = VM_MADD(q, t, 8.7618110311e-01f);
    q = VM_MADD(q, t, 1.0f);
#if defined(                                                                                       \
    __FMA__) // one division; without multiply-add this form is off by 4.7 ulp, with it by 3.6
    const float share = t * q / VM_MADD(VM_MADD(t, 2.506598711f, 2.0f), q, -t * p);
#else
    const float share = t / VM_MADD(t, 2.506598711f, VM_MADD(-t, p / q, 2.0f));
#endif
    const float tail = VM_MADD(share, excess, share) * power * 0x1p-64f; // t P(X <= -t)
    return x >= 0.0f ? x - tail : VM_MADD(x, 0.0f, -tail);               // -inf gives NaN
}

// P(X <= x) + x phi(x), which is exp(-t^2 / 2) (t0 - t) s(t) for x = -t and crosses 0 at -t0.
VM_INLINE float vm_gelu_slope(float x)
{
    float excess;
    const float size = vm_abs(x), t = size > VM_FAR ? VM_FAR : size; // NaN stays
    const float power = vm_gauss(t, &excess);
    float p = 8.9428750167e-03f; // s = 1 / sqrt(2 pi) + p / q, t <= 14.4
    p = VM_MADD(p, t, 6.6781299936e-02f);
    p = VM_MADD(p, t, 2.0472408610e-01f);
    p = VM_MADD(p, t, 2.6613568959e-01f);
    float q = 2.9819452304e-02f;
    q = VM_MADD(q, t, 2.3982962142e-01f);
    q = VM_MADD(q, t, 8.3556343882e-01f);
    q = VM_MADD(q, t, 1.4330160794e+00f);
    q = VM_MADD(q, t, 1.0f);
    // The last term is what t0's float lacks, times s(t0): it counts near t0 alone.
    const float share = VM_MADD(0x1.80ead2p-1f - t, 0.3989422917f + p / q, -6.93438580e-09f);
    const float tail = VM_MADD(share, excess, share) * power * 0x1p-64f;
    return x >= 0.0f ? 1.0f - tail : tail;
}

// In double, rounded at the end, from here to the power.

// exp(x), |x| <= 700, to 28 bits.
VM_INLINE double vm_exp_wide(double x)
{
    const double shifted = x * 0x1.71547652b82fep+0 + 0x1.8p52;
    const double n = shifted - 0x1.8p52;
    const double r = VM_MADDD(n, -0x1.62e42fefa39efp-1, x); // |r| <= ln 2 / 2
    double p = 1.38131443927868073e-03;
    p = VM_MADDD(p, r, 8.36941884652876722e-03);
    p = VM_MADDD(p, r, 4.16684567898055053e-02);
    p = VM_MADDD(p, r, 1.66665147912782224e-01);
    p = VM_MADDD(p, r, 4.99999930507123491e-01);
    p = VM_MADDD(p, r, 1.0);
    p = VM_MADDD(p, r, 1.0);
    return p * vm_double((vm_bits64(shifted) + 1023) << 52);
}

VM_INLINE double vm_bounded(double x, double bound)
{
    x = x > bound ? bound : x;
    return x < -bound ? -bound : x;
}

// tanh(a) = 2 sigmoid(2 a) - 1, so the tanh form is x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)).
VM_INLINE double vm_gelu_tanh_sigmoid(double x)
{
    const double a = x * VM_MADDD(0x1.2444f2a4d8b4bp-4 * x, x, 0x1.9884533d43651p0);
    return 1.0 / (1.0 + vm_exp_wide(-vm_bounded(a, 600.0)));
}

// In float as vm_gelu: of u = 2 sqrt(2 / pi) t + 0.0713548 t^3 what is lost is put back, for the
// constants too. The first one has so few bits that taking a sum with it apart is exact.
#if defined(__FMA__)
VM_INLINE float vm_gelu_tanh(float x)
{
    float r, power;
    const float t = vm_smaller(vm_abs(x), 12.0f), square = t * t, cubic = 0x1.2444f2p-4f;
    const float slope = VM_MADD(cubic, square, 0x1.98845p+0f);
    const float constants = VM_MADD(square, 0x1.49b16ap-29f, 0x1.9ea1b2p-23f);
    const float slope_error = VM_MADD(cubic, square, 0x1.98845p+0f - slope) +
                              VM_MADD(cubic, VM_PRODUCT_ERROR(t, t, square), constants);
    const float u = t * slope, error = VM_MADD(t, slope_error, VM_PRODUCT_ERROR(t, slope, u));
    vm_exp_below_factors(-u, &r, &power);
    const float scaled = vm_exp_near(r - error) * power;
    const float share = x / VM_MADD(scaled, VM_EXP_SCALE, 1.0f);
    const float below = x < -12.0f ? x * 0.0f : share * scaled * VM_EXP_SCALE; // -inf gives NaN
    return x >= 0.0f ? share : below;
}
#else
VM_INLINE float vm_gelu_tanh(float x)
{
    const double y = (double)x * vm_gelu_tanh_sigmoid(x);
    return x < -12.0f ? x * 0.0f : (float)y; // -inf gives NaN
}
#endif

VM_INLINE float vm_gelu_tanh_slope(float x)
{
    const double t = vm_bounded(x, 40.0), s = vm_gelu_tanh_sigmoid(t); // s (1 - s) is 0 beyond
    const double slope = VM_MADDD(0x1.b6676bf7450f0p-3 * t, t, 0x1.9884533d43651p0);
    return (float)VM_MADDD(t * s, (1.0 - s) * slope, s);
}

// ---- others -------------------------------------------------------------------------------------

VM_INLINE float vm_sqrt(float x)
{
    return sqrtf(x);
}

VM_INLINE float vm_rsqrt(float x)
{
    return 1.0f / sqrtf(x);
}

VM_INLINE float vm_clamp(float x, float low, float high)
{
    const float raised = x < low ? low : x; // NaN stays
    return raised > high ? high : raised;
}

// To the nearest integer, halves to even.
VM_INLINE float vm_round(float x)
{
    const float t = vm_abs(x);
    const float nearest = (t + 0x1p23f) - 0x1p23f;
    return t < 0x1p23f ? vm_copysign(nearest, x) : x;
}

// ---- power --------------------------------------------------------------------------------------

// log2(x), x > 0 and normal.
VM_INLINE double vm_log2_wide(double x)
{
    // The exponent, with an offset that keeps it positive, goes through the low bits of 2^52.
    const uint64_t root_half = vm_bits64(0x1.6a09e667f3bcdp-1);
    const uint64_t k = (vm_bits64(x) - root_half + ((uint64_t)1024 << 52)) >> 52;
    const double exponent = vm_double(k | vm_bits64(0x1p52)) - (0x1p52 + 1024.0);
    const double m = vm_double(vm_bits64(x) - ((k - 1024) << 52)); // sqrt(1/2) <= m < sqrt(2)
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 2.83129836776701893e-01;
    p = VM_MADDD(p, z, 3.19890340009696517e-01);
    p = VM_MADDD(p, z, 4.12209607718912019e-01);
    p = VM_MADDD(p, z, 5.77077939056360623e-01);
    p = VM_MADDD(p, z, 9.61796694123915441e-01);
    p = VM_MADDD(p, z, 2.88539008177784417e+00);
    return exponent + s * p;
}

// x^y, special values as the C standard (F.10.4.4) has them.
VM_INLINE float vm_pow(float x, float y)
{
    const float size = vm_abs(x), half = 0.5f * y;
    double power = vm_log2_wide(size);
    power = size == 0.0f ? -(double)INFINITY : power;
    power = size == INFINITY ? (double)INFINITY : power;
    power = size == 1.0f ? 0.0 : y * power;
    float result = (float)vm_exp_wide(vm_bounded(power, 400.0) * 0x1.62e42fefa39efp-1);
    const float whole = vm_round(y), half_whole = vm_round(half);
    const bool odd = (whole == y) & (half_whole != half);
    const bool undefined = ((x < 0.0f) & (x > -INFINITY) & (whole != y)) | (x != x);
    result = odd ? vm_copysign(result, x) : result;
    result = undefined ? NAN : result;
    return y == 0.0f ? 1.0f : result;
}

#endif
