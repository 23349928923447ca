// SPDX-License-Identifier: Apache-2.0
// Functions of the elementwise operations, in float and in double under one name. What a rounded
// argument loses, and the result would show many times over, is computed and put back. Over a
// library that is right to within a unit in the last place they are right to within 4; NVIDIA's
// erfcf is right to within 4 itself, and gelu in float then to within 7. Both forms of gelu have
// fewer bits where they are all but subnormal, as their factor is subnormal there.
#ifndef TERN_SRC_CUDA_REALMATH_CUH
#define TERN_SRC_CUDA_REALMATH_CUH

#include "cuda/tern_cu.h"

// What formulas of elementwise.def call.
#define R_(name)       real_##name
#define TRIG_(name, x) real_##name(x)

#define REAL_FUNCTION(name, in_float, in_double)                                                   \
    __device__ __forceinline__ float real_##name(float x)                                          \
    {                                                                                              \
        return in_float(x);                                                                        \
    }                                                                                              \
    __device__ __forceinline__ double real_##name(double x)                                        \
    {                                                                                              \
        return in_double(x);                                                                       \
    }
REAL_FUNCTION(abs, fabsf, fabs)
REAL_FUNCTION(sqrt, sqrtf, sqrt)
REAL_FUNCTION(exp, expf, exp)
REAL_FUNCTION(expm1, expm1f, expm1)
REAL_FUNCTION(cosh, coshf, cosh)
REAL_FUNCTION(log, logf, log)
REAL_FUNCTION(log1p, log1pf, log1p)
REAL_FUNCTION(sin, sinf, sin)
REAL_FUNCTION(cos, cosf, cos)
REAL_FUNCTION(tanh, tanhf, tanh)
REAL_FUNCTION(erfc, erfcf, erfc)
REAL_FUNCTION(round, rintf, rint)
#undef REAL_FUNCTION

__device__ __forceinline__ float real_rsqrt(float x)
{
    return rsqrtf(x);
}
__device__ __forceinline__ double real_rsqrt(double x)
{
    return 1 / sqrt(x);
}
__device__ __forceinline__ float real_pow(float x, float y)
{
    return powf(x, y);
}
__device__ __forceinline__ double real_pow(double x, double y)
{
    return pow(x, y);
}
__device__ __forceinline__ float real_fma(float a, float b, float c)
{
    return fmaf(a, b, c);
}
__device__ __forceinline__ double real_fma(double a, double b, double c)
{
    return fma(a, b, c);
}

// A constant as its nearest R and what is missing: `rest` is what double itself lacks.
template <class R> struct hi_lo {
    R hi, lo;
};
template <class R> __device__ __forceinline__ hi_lo<R> make_hi_lo(double number, double rest)
{
    const R value = (R)number;
    return {value, (R)((number - (double)value) + rest)};
}

template <class R> __device__ __forceinline__ R real_clamp(R x, R low, R high)
{
    const R raised = x < low ? low : x; // NaN stays
    return raised > high ? high : raised;
}

// 1 / (1 + exp(-x)) by way of exp(-|x|), which does not overflow.
template <class R> __device__ __forceinline__ R real_sigmoid(R x)
{
    const R e = real_exp(-real_abs(x));
    return (x >= 0 ? 1 : e) / (1 + e);
}

// sigmoid(x) sigmoid(-x)
template <class R> __device__ __forceinline__ R real_sigmoid_slope(R x)
{
    const R e = real_exp(-real_abs(x)), scale = 1 / (1 + e);
    return e * scale * scale;
}

// From here down exp(x) is subnormal, and has fewer bits than x exp(x) needs.
template <class R> struct exp_floor;
template <> struct exp_floor<float> {
    static __device__ __forceinline__ float value()
    {
        return -87;
    }
};
template <> struct exp_floor<double> {
    static __device__ __forceinline__ double value()
    {
        return -708;
    }
};

// x sigmoid(x); -inf gives NaN.
template <class R> __device__ __forceinline__ R real_silu(R x)
{
    const R floor_of_exp = exp_floor<R>::value();
    if (x < floor_of_exp) { // exp(x) in two steps, x between them
        const R low = x < 2 * floor_of_exp ? 2 * floor_of_exp : x;
        return (x * real_exp(low + 32)) * (R)1.26641655490941757e-14; // exp(-32)
    }
    const R e = real_exp(-real_abs(x));
    return (x >= 0 ? x : x * e) / (1 + e);
}

// sigmoid + x sigmoid', where x sigmoid' is 0 for large x
template <class R> __device__ __forceinline__ R real_silu_slope(R x)
{
    const R sigma = real_sigmoid(x);
    return sigma * (1 + real_clamp(x, (R)-1000, (R)1000) * (1 - sigma));
}

// x - tanh(x); where that would cancel, (x cosh(x) - sinh(x)) / cosh(x) by a series of which all
// terms have one sign.
template <class R> __device__ __forceinline__ R real_tanhshrink(R x)
{
    if (!(real_abs(x) < 1))
        return x - real_tanh(x);
    const R z = x * x;
    R p = (R)3.9145882126782523e-19; // 2 k / (2 k + 1)!, k = 10 .. 1
    p = p * z + (R)1.4797143443923793e-16;
    p = p * z + (R)4.498331606952833e-14;
    p = p * z + (R)1.0706029224547743e-11;
    p = p * z + (R)1.9270852604185937e-09;
    p = p * z + (R)2.505210838544172e-07;
    p = p * z + (R)2.2045855379188714e-05;
    p = p * z + (R)0.0011904761904761906;
    p = p * z + (R)0.03333333333333333;
    p = p * z + (R)0.3333333333333333;
    return x * z * p / real_cosh(x);
}

// tanh(log(1 + exp(x))) = n / d, and the same over exp(x) for x < 0, of e = exp(-|x|).
template <class R> __device__ __forceinline__ void real_mish_fraction(R x, R e, R *n, R *d)
{
    *n = x < 0 ? 2 + e : 1 + 2 * e;
    *d = x < 0 ? e * (2 + e) + 2 : 2 * e * e + (1 + 2 * e);
}

// x tanh(log(1 + exp(x))); -inf gives NaN.
template <class R> __device__ __forceinline__ R real_mish(R x)
{
    const R floor_of_exp = exp_floor<R>::value();
    if (x < floor_of_exp) { // x exp(x): as in silu
        const R low = x < 2 * floor_of_exp ? 2 * floor_of_exp : x;
        return (x * real_exp(low + 32)) * (R)1.26641655490941757e-14;
    }
    const R e = real_exp(-real_abs(x));
    R n, d;
    real_mish_fraction(x, e, &n, &d);
    return (x < 0 ? x * e : x) * (n / d);
}

// w + x w', w = tanh(log(1 + exp(x))); x w' is 0 for large x.
template <class R> __device__ __forceinline__ R real_mish_slope(R x)
{
    const R near = real_clamp(x, (R)-1000, (R)1000), e = real_exp(-real_abs(near));
    R n, d;
    real_mish_fraction(near, e, &n, &d);
    const R rise = 4 * near * e * (near < 0 ? 1 : e) * (1 + e) / (d * d);
    return rise + (near < 0 ? e : 1) * n / d;
}

// log(1 + exp(beta x)) / beta. Far below 0 that is exp(beta x) / beta, which may be subnormal.
template <class R> __device__ __forceinline__ R real_softplus(R x, R beta)
{
    const R t = x * beta;
    const R low_bits = real_abs(t) < 2000 ? real_fma(x, beta, -t) : 0;
    if (t < exp_floor<R>::value() / 4) {
        const R low = t < 3 * exp_floor<R>::value() ? 3 * exp_floor<R>::value() : t;
        const R e = real_exp(low + 32);
        return ((e + e * low_bits) / beta) * (R)1.26641655490941757e-14;
    }
    const R e = real_exp(-real_abs(t));
    const R slope = (t >= 0 ? 1 : e) / (1 + e);
    return ((t > 0 ? t : 0) + (real_log1p(e) + slope * low_bits)) / beta;
}

// P(X <= x) of the normal distribution: erfc(-x / sqrt(2)) / 2.
template <class R> __device__ __forceinline__ R real_normal_cdf(R x)
{
    const hi_lo<R> c = make_hi_lo<R>(0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55);
    const R t = -x * c.hi;
    const R low_bits = real_fma(-x, c.hi, -t) - x * c.lo;
    const R density = (R)0x1.20dd750429b6dp0 * real_exp(-t * t); // 2 / sqrt(pi) ..
    return (R)0.5 * (real_erfc(t) - (real_abs(t) < 27 ? density * low_bits : 0));
}

template <class R> __device__ __forceinline__ R real_gelu(R x)
{
    return x * real_normal_cdf(x);
}

// Phi(x) + x phi(x)
template <class R> __device__ __forceinline__ R real_gelu_slope(R x)
{
    const R near = real_clamp(x, (R)-40, (R)40); // phi is 0 there
    const R density = (R)0x1.9884533d43651p-2 * real_exp((R)-0.5 * near * near);
    return real_normal_cdf(x) + near * density;
}

// sigmoid(u), u = 2 sqrt(2 / pi) (x + 0.044715 x^3): tanh(a) = 2 sigmoid(2 a) - 1, so that the tanh
// form of gelu is x times this.
template <class R> __device__ __forceinline__ R real_gelu_tanh_sigmoid(R x)
{
    const hi_lo<R> a = make_hi_lo<R>(0x1.9884533d43651p+0, -0x1.cbc0d30ebfd15p-54);
    const hi_lo<R> b = make_hi_lo<R>(0x1.2444f2a4d8b4bp-4, -0x1.6c843a29d1c70p-61);
    const R z = x * x, z_lo = real_fma(x, x, -z);
    const R p = b.hi * z;
    const R p_lo = real_fma(b.hi, z, -p) + (b.hi * z_lo + b.lo * z);
    const R s = a.hi + p, added = s - a.hi;
    const R s_lo = (a.hi - (s - added)) + (p - added) + p_lo + a.lo;
    const R u = x * s, u_lo = real_fma(x, s, -u) + x * s_lo;
    const R y = real_sigmoid(u);
    return real_abs(u) < 800 ? y + y * (1 - y) * u_lo : y;
}

template <class R> __device__ __forceinline__ R real_gelu_tanh(R x)
{
    return x * real_gelu_tanh_sigmoid(x);
}

template <class R> __device__ __forceinline__ R real_gelu_tanh_slope(R x)
{
    const R s = real_gelu_tanh_sigmoid(x);
    const R near = real_clamp(x, (R)-40, (R)40); // s (1 - s) is 0 there
    const R slope = (R)0x1.b6676bf7450f0p-3 * near * near + (R)0x1.9884533d43651p0;
    return s + near * s * (1 - s) * slope;
}

#endif
