// SPDX-License-Identifier: Apache-2.0
// The functions of vecmath.h in double, from the C library.
#ifndef TERN_SRC_CPU_VECMATH_DOUBLE_H
#define TERN_SRC_CPU_VECMATH_DOUBLE_H

#include "cpu/vecmath.h"

VM_INLINE double vd_abs(double x)
{
    return fabs(x);
}

VM_INLINE double vd_sqrt(double x)
{
    return sqrt(x);
}

VM_INLINE double vd_rsqrt(double x)
{
    return 1.0 / sqrt(x);
}

VM_INLINE double vd_clamp(double x, double low, double high)
{
    const double raised = x < low ? low : x;
    return raised > high ? high : raised;
}

VM_INLINE double vd_exp(double x)
{
    return exp(x);
}

VM_INLINE double vd_expm1(double x)
{
    return expm1(x);
}

VM_INLINE double vd_log(double x)
{
    return log(x);
}

VM_INLINE double vd_log1p(double x)
{
    return log1p(x);
}

VM_INLINE double vd_sin(double x)
{
    return sin(x);
}

VM_INLINE double vd_cos(double x)
{
    return cos(x);
}

VM_INLINE double vd_tanh(double x)
{
    return tanh(x);
}

// As in vecmath.h.
VM_INLINE double vd_tanhshrink(double x)
{
    const double z = x * x;            // |x| < 1
    double p = 3.9145882126782523e-19; // 2 k / (2 k + 1)!, k = 10 .. 1
    p = p * z + 1.4797143443923793e-16;
    p = p * z + 4.498331606952833e-14;
    p = p * z + 1.0706029224547743e-11;
    p = p * z + 1.9270852604185937e-09;
    p = p * z + 2.505210838544172e-07;
    p = p * z + 2.2045855379188714e-05;
    p = p * z + 0.0011904761904761906;
    p = p * z + 0.03333333333333333;
    p = p * z + 0.3333333333333333;
    return fabs(x) < 1.0 ? x * z * p / cosh(x) : x - tanh(x);
}

VM_INLINE double vd_pow(double x, double y)
{
    return pow(x, y);
}

VM_INLINE double vd_sigmoid(double x)
{
    const double e = exp(-fabs(x));
    return (x >= 0.0 ? 1.0 : e) / (1.0 + e);
}

// As in vecmath.h.
VM_INLINE double vd_sigmoid_slope(double x)
{
    const double e = exp(-fabs(x)), share = 1.0 / (1.0 + e);
    return e * share * share;
}

// As in vecmath.h.
VM_INLINE double vd_silu_slope(double x)
{
    const double sigma = vd_sigmoid(x), bounded = x < -200.0 ? -200.0 : x > 200.0 ? 200.0 : x;
    return sigma * (1.0 + bounded * (1.0 - sigma));
}

// As in vecmath.h. exp(x / 2) is never subnormal where x exp(x) is not 0.
VM_INLINE double vd_silu(double x)
{
    const double root = exp(0.5 * (x > -800.0 ? x : -800.0)), e = exp(-fabs(x));
    const double below = x < -800.0 ? x * 0.0 : x * root * root;
    return x < -700.0 ? below : (x >= 0.0 ? x : x * e) / (1.0 + e);
}

// As in vecmath.h.
VM_INLINE void vd_mish_parts(double x, double e, double *n, double *d)
{
    const double below = 2.0 + e, above = 1.0 + 2.0 * e;
    *n = x < 0.0 ? below : above;
    *d = x < 0.0 ? e * below + 2.0 : 2.0 * e * e + above;
}

// As in vecmath.h; exp(x) in two factors as in vd_silu.
VM_INLINE double vd_mish(double x)
{
    const double root = exp(0.5 * (x > -800.0 ? x : -800.0));
    double n, d;
    vd_mish_parts(x, exp(-fabs(x)), &n, &d);
    const double share = x * (n / d), below = x < -800.0 ? x * 0.0 : share * root * root;
    return x < 0.0 ? below : share;
}

// As in vecmath.h.
VM_INLINE double vd_mish_slope(double x)
{
    const double bounded = x < -800.0 ? -800.0 : x > 800.0 ? 800.0 : x, e = exp(-fabs(bounded));
    double n, d;
    vd_mish_parts(bounded, e, &n, &d);
    const double rise = 4.0 * bounded * e * (bounded < 0.0 ? 1.0 : e) * (1.0 + e) / (d * d);
    return rise + (bounded < 0.0 ? e : 1.0) * n / d;
}

// As in vecmath.h.
VM_INLINE double vd_softplus(double x, double beta)
{
    const double t = x * beta, error = fabs(t) < 2000.0 ? fma(x, beta, -t) : 0.0;
    const double root = exp(0.5 * t), e = exp(-fabs(t));
    const double slope = (t >= 0.0 ? 1.0 : e) / (1.0 + e);
    const double y = ((t > 0.0 ? t : 0.0) + (log1p(e) + slope * error)) / beta;
    return t < -40.0 ? (root + root * error) / beta * root : y;
}

// What is lost in the argument of erfc shows x^2 times over in the result, so it is put back.
VM_INLINE double vd_normal_cdf(double x)
{
    const double t = -x * 0x1.6a09e667f3bcdp-1;
    const double error = fma(-x, 0x1.6a09e667f3bcdp-1, -t) - x * -0x1.bdd3413b26456p-55;
    const double density = 0x1.20dd750429b6dp0 * exp(-t * t);
    return 0.5 * (erfc(t) - (fabs(t) < 27.0 ? density * error : 0.0));
}

VM_INLINE double vd_gelu(double x)
{
    return x * vd_normal_cdf(x);
}

// Phi(x) + x phi(x)
VM_INLINE double vd_gelu_slope(double x)
{
    const double bounded = x > 40.0 ? 40.0 : x < -40.0 ? -40.0 : x; // phi is 0 there
    const double density = 0x1.9884533d43651p-2 * exp(-0.5 * bounded * bounded);
    return vd_normal_cdf(x) + bounded * density;
}

// As in vecmath.h: sigmoid(u), u = 2 sqrt(2 / pi) (x + 0.044715 x^3). What is lost in u shows u
// times over in the result, so it is carried along.
VM_INLINE double vd_gelu_tanh_sigmoid(double x)
{
    const double a = 0x1.9884533d43651p+0, a_error = -0x1.cbc0d30ebfd15p-54;
    const double b = 0x1.2444f2a4d8b4bp-4, b_error = -0x1.6c843a29d1c70p-61;
    const double z = x * x, z_error = fma(x, x, -z);
    const double p = b * z, p_error = fma(b, z, -p) + (b * z_error + b_error * z);
    const double s = a + p, part = s - a;
    const double s_error = (a - (s - part)) + (p - part) + p_error + a_error;
    const double u = x * s, u_error = fma(x, s, -u) + x * s_error;
    const double y = vd_sigmoid(u);
    return fabs(u) < 800.0 ? y + y * (1.0 - y) * u_error : y;
}

VM_INLINE double vd_gelu_tanh(double x)
{
    return x * vd_gelu_tanh_sigmoid(x);
}

VM_INLINE double vd_gelu_tanh_slope(double x)
{
    const double s = vd_gelu_tanh_sigmoid(x);
    const double bounded = x > 40.0 ? 40.0 : x < -40.0 ? -40.0 : x; // s (1 - s) is 0 there
    const double slope = 0x1.b6676bf7450f0p-3 * bounded * bounded + 0x1.9884533d43651p0;
    return s + bounded * s * (1.0 - s) * slope;
}

VM_INLINE double vd_round(double x)
{
    const double t = fabs(x);
    return t < 0x1p52 ? copysign((t + 0x1p52) - 0x1p52, x) : x;
}

VM_INLINE bool vd_trig_in_range(const double *x, int64_t n)
{
    (void)x;
    (void)n;
    return true;
}

#endif
