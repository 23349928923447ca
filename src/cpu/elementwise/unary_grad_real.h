// SPDX-License-Identifier: Apache-2.0
// dx = dy * op'(s) in one floating type; s is the operation's output where tern_unary_saves_output
// says so, else its input. The including source has defined `real`, MATH(name) and REAL_TABLE as
// for unary_real.h.
#include "cpu/elementwise/elementwise.h"

// dx = expression of dy, s, a and b, a and b being the parameters.
#define GRAD(name, expression)                                                                     \
    static void name(void *y, const void *const *x, int64_t n, const block_params *p)              \
    {                                                                                              \
        const real a = (real)p->floating[0], b = (real)p->floating[1];                             \
        const real *dys = x[0], *saved = x[1];                                                     \
        real *dx = y;                                                                              \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        ELEMENTWISE_LOOP                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const real dy = dys[i], s = saved[i];                                                  \
            (void)dy;                                                                              \
            (void)s;                                                                               \
            dx[i] = (expression);                                                                  \
        }                                                                                          \
    }

GRAD(negate, -dy)
GRAD(absolute, s > 0 ? dy : s < 0 ? -dy : 0) // NaN too
GRAD(square_root, dy / (2 * s))
GRAD(reciprocal_root, (real)-0.5 * dy * (s * s * s))
GRAD(times_output, (dy * s)) // exp
GRAD(logarithm, dy / s)
GRAD(logarithm_1p, dy / (s + 1))
GRAD(hyperbolic_tangent, (dy * ((1 - s) * (1 + s))))
GRAD(sigmoid, (dy * ((1 - s) * s)))
GRAD(relu, s <= 0 ? 0 : dy)
GRAD(gelu, (dy * MATH(gelu_slope)(s)))
GRAD(gelu_tanh, (dy * MATH(gelu_tanh_slope)(s)))
GRAD(leaky_relu, s > 0 ? dy : dy * a)
GRAD(softplus, ((a * s > b) ? dy : (dy * MATH(sigmoid)(a * s))))
GRAD(clamp, ((s > a) & (s < b)) ? dy : 0)
GRAD(zero, 0) // round, sign
GRAD(same, dy)
GRAD(mul_scalar, (dy * a))
GRAD(div_scalar, dy / a)

// sigmoid + x sigmoid', where x sigmoid' is 0 for large x
static inline real silu_slope(real x)
{
    const real sigma = MATH(sigmoid)(x), bounded = x < -200 ? -200 : x > 200 ? 200 : x;
    return sigma * (1 + bounded * (1 - sigma));
}
GRAD(silu, (dy * silu_slope(s)))

GRAD(sine_in_range, (dy * MATH(cos)(s)))
GRAD(cosine_in_range, (-dy * MATH(sin)(s)))

static void sine(void *y, const void *const *x, int64_t n, const block_params *p)
{
    const real *dys = x[0], *saved = x[1];
    real *dx = y;
    if (MATH(trig_in_range)(saved, n)) {
        sine_in_range(y, x, n, p);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        dx[i] = dys[i] * (real)cos((double)saved[i]);
}

static void cosine(void *y, const void *const *x, int64_t n, const block_params *p)
{
    const real *dys = x[0], *saved = x[1];
    real *dx = y;
    if (MATH(trig_in_range)(saved, n)) {
        cosine_in_range(y, x, n, p);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        dx[i] = -dys[i] * (real)sin((double)saved[i]);
}

GRAD(power_2, (dy * (2 * s)))
GRAD(power_3, (dy * (3 * (s * s))))
GRAD(power_half, (dy * ((real)0.5 / MATH(sqrt)(s))))
GRAD(power_any, (dy * (a * MATH(pow)(s, a - 1))))

// p x^(p - 1), and 0 for p = 0 even where x^-1 is infinite.
static void power(void *y, const void *const *x, int64_t n, const block_params *p)
{
    const double exponent = p->floating[0];
    block_fn *block = exponent == 0.0   ? zero
                      : exponent == 0.5 ? power_half
                      : exponent == 1.0 ? same
                      : exponent == 2.0 ? power_2
                      : exponent == 3.0 ? power_3
                                        : power_any;
    block(y, x, n, p);
}

block_fn *const REAL_TABLE[TERN_UNARY_COUNT] = {
    [TERN_UNARY_NEG] = negate,
    [TERN_UNARY_ABS] = absolute,
    [TERN_UNARY_SQRT] = square_root,
    [TERN_UNARY_RSQRT] = reciprocal_root,
    [TERN_UNARY_EXP] = times_output,
    [TERN_UNARY_LOG] = logarithm,
    [TERN_UNARY_LOG1P] = logarithm_1p,
    [TERN_UNARY_SIN] = sine,
    [TERN_UNARY_COS] = cosine,
    [TERN_UNARY_TANH] = hyperbolic_tangent,
    [TERN_UNARY_SIGMOID] = sigmoid,
    [TERN_UNARY_RELU] = relu,
    [TERN_UNARY_GELU] = gelu,
    [TERN_UNARY_GELU_TANH] = gelu_tanh,
    [TERN_UNARY_SILU] = silu,
    [TERN_UNARY_LEAKY_RELU] = leaky_relu,
    [TERN_UNARY_SOFTPLUS] = softplus,
    [TERN_UNARY_CLAMP] = clamp,
    [TERN_UNARY_ROUND] = zero,
    [TERN_UNARY_SIGN] = zero,
    [TERN_UNARY_ADD_SCALAR] = same,
    [TERN_UNARY_MUL_SCALAR] = mul_scalar,
    [TERN_UNARY_DIV_SCALAR] = div_scalar,
    [TERN_UNARY_POW_SCALAR] = power,
};
