// SPDX-License-Identifier: Apache-2.0
// Operations with one operand in one floating type. The including source has defined `real`,
// MATH(name) as that type's function, and REAL_TABLE as the table's name.
#include "cpu/elementwise/elementwise.h"

// y = expression of v, a and b, which are the operand and the parameters.
#define BLOCK(name, out, expression)                                                               \
    static void name(void *y, const void *const *x, int64_t n, const block_params *p)              \
    {                                                                                              \
        const real a = (real)p->floating[0], b = (real)p->floating[1];                             \
        const real *from = x[0];                                                                   \
        out *to = y;                                                                               \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        ELEMENTWISE_LOOP                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const real v = from[i];                                                                \
            (void)v;                                                                               \
            to[i] = (out)(expression);                                                             \
        }                                                                                          \
    }
#define UNARY(name, expression)     BLOCK(name, real, expression)
#define PREDICATE(name, expression) BLOCK(name, uint8_t, expression)

UNARY(negate, -v)
UNARY(absolute, MATH(abs)(v))
UNARY(square_root, MATH(sqrt)(v))
UNARY(reciprocal_root, 1 / MATH(sqrt)(v))
UNARY(exponential, MATH(exp)(v))
UNARY(logarithm, MATH(log)(v))
UNARY(logarithm_1p, MATH(log1p)(v))
UNARY(hyperbolic_tangent, MATH(tanh)(v))
UNARY(sigmoid, MATH(sigmoid)(v))
UNARY(relu, v < 0 ? 0 : v)
UNARY(gelu, MATH(gelu)(v))
UNARY(gelu_tanh, MATH(gelu_tanh)(v))
UNARY(silu, MATH(silu)(v))
UNARY(leaky_relu, v > 0 ? v : v * a)
UNARY(softplus, ((a * v > b) ? v : MATH(softplus)(v, a)))
UNARY(round_even, MATH(round)(v))
UNARY(sign, v > 0 ? 1 : v < 0 ? -1 : v == 0 ? 0 : v)
UNARY(add_scalar, v + a)
UNARY(mul_scalar, (v * a))
UNARY(div_scalar, v / a)
PREDICATE(is_finite, v - v == 0)
PREDICATE(not, v == 0)
PREDICATE(eq_scalar, v == a)
PREDICATE(ne_scalar, v != a)
PREDICATE(lt_scalar, v < a)
PREDICATE(le_scalar, v <= a)
PREDICATE(gt_scalar, v > a)
PREDICATE(ge_scalar, v >= a)

static inline real clamped(real v, real low, real high)
{
    const real raised = v < low ? low : v;
    return raised > high ? high : raised;
}
UNARY(clamp, clamped(v, a, b))

UNARY(sine_in_range, MATH(sin)(v))
UNARY(cosine_in_range, MATH(cos)(v))

static void sine(void *y, const void *const *x, int64_t n, const block_params *p)
{
    const real *from = x[0];
    real *to = y;
    if (MATH(trig_in_range)(from, n)) {
        sine_in_range(y, x, n, p);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = (real)sin((double)from[i]);
}

static void cosine(void *y, const void *const *x, int64_t n, const block_params *p)
{
    const real *from = x[0];
    real *to = y;
    if (MATH(trig_in_range)(from, n)) {
        cosine_in_range(y, x, n, p);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = (real)cos((double)from[i]);
}

UNARY(power_0, 1)
UNARY(power_1, v)
UNARY(power_2, (v * v))
UNARY(power_3, (v * v * v))
UNARY(power_minus_1, 1 / v)
UNARY(power_minus_2, ((1 / v) * (1 / v))) // v * v overflows where the result does not vanish
UNARY(power_any, MATH(pow)(v, a))

// The exponents of everyday use do not need a power.
static void power(void *y, const void *const *x, int64_t n, const block_params *p)
{
    static const struct {
        double exponent;
        block_fn *block;
    } special[] = {
        {0.0, power_0},     {1.0, power_1},        {2.0, power_2},        {3.0, power_3},
        {0.5, square_root}, {-1.0, power_minus_1}, {-2.0, power_minus_2}, {-0.5, reciprocal_root},
    };
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        if (p->floating[0] == special[i].exponent) {
            special[i].block(y, x, n, p);
            return;
        }
    }
    power_any(y, x, n, p);
}

block_fn *const REAL_TABLE[TERN_UNARY_COUNT] = {
    [TERN_UNARY_NEG] = negate,
    [TERN_UNARY_ABS] = absolute,
    [TERN_UNARY_SQRT] = square_root,
    [TERN_UNARY_RSQRT] = reciprocal_root,
    [TERN_UNARY_EXP] = exponential,
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
    [TERN_UNARY_ROUND] = round_even,
    [TERN_UNARY_SIGN] = sign,
    [TERN_UNARY_ADD_SCALAR] = add_scalar,
    [TERN_UNARY_MUL_SCALAR] = mul_scalar,
    [TERN_UNARY_DIV_SCALAR] = div_scalar,
    [TERN_UNARY_POW_SCALAR] = power,
    [TERN_UNARY_ISFINITE] = is_finite,
    [TERN_UNARY_NOT] = not,
    [TERN_UNARY_EQ_SCALAR] = eq_scalar,
    [TERN_UNARY_NE_SCALAR] = ne_scalar,
    [TERN_UNARY_LT_SCALAR] = lt_scalar,
    [TERN_UNARY_LE_SCALAR] = le_scalar,
    [TERN_UNARY_GT_SCALAR] = gt_scalar,
    [TERN_UNARY_GE_SCALAR] = ge_scalar,
};
