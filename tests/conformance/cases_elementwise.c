// SPDX-License-Identifier: Apache-2.0
// Elementwise operations: what they compute for one element.
#include "conformance.h"

#include <math.h>

#define S(...)                                                                                     \
    {                                                                                              \
        (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                                 \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static const setup one_setups[] = {
    {.in = {{0}}},     {.in = {S(1)}},       {.in = {S(0)}},       {.in = {S(7)}},
    {.in = {S(5, 3)}}, {.in = {S(2, 3, 4)}}, {.in = {S(3, 0, 2)}}, {.in = {S(1, 5, 1)}},
    {.in = {S(1031)}}, {.in = {S(33, 65)}},  {.in = {S(17003)}},
};

static const setup two_setups[] = {
    {.in = {{0}, {0}}},
    {.in = {S(3), S(3)}},
    {.in = {S(5, 4), S(4)}},
    {.in = {S(5, 1), S(1, 4)}},
    {.in = {S(3, 1), S(2, 3, 4)}},
    {.in = {S(0, 3), S(3)}},
    {.in = {S(1), S(6)}},
    {.in = {S(2, 3), {0}}},
    {.in = {S(37, 29), S(37, 29)}},
    {.in = {S(37, 29), S(29)}},
    {.in = {S(37, 29), S(37, 1)}},
    {.in = {S(131, 137), S(137)}},
    {.in = {S(131, 137), S(131, 137)}},
    {.in = {S(600, 29), S(600, 1)}}, // short rows in three pieces
    {.in = {S(5, 2051), S(5, 1)}},   // rows that are not taken as a matrix
    {.in = {S(3, 5, 7, 29), S(5, 1, 29)}},
    {.in = {S(3, 5, 7, 67), S(3, 1, 7, 1)}},
};

static const setup three_setups[] = {
    {.in = {{0}, {0}, {0}}},
    {.in = {S(4), S(4), S(4)}},
    {.in = {S(3, 1), S(4), {0}}},
    {.in = {S(2, 3, 1), S(3, 4), S(1, 1, 4)}},
    {.in = {S(0, 3), S(3), S(1)}},
    {.in = {S(29), S(37, 29), S(37, 1)}},
    {.in = {S(600, 29), S(29), S(600, 1)}},
    {.in = {S(5, 2051), S(5, 2051), S(2051)}},
};

static const setup mask_setups[] = {
    {.in = {{0}, {0}}},
    {.in = {S(5), S(5)}},
    {.in = {S(4, 3), S(3)}},
    {.in = {S(4, 3), S(4, 1)}},
    {.in = {S(2, 0), S(2, 1)}},
    {.in = {S(37, 29), {0}}},
    {.in = {S(600, 29), S(29)}},
    {.in = {S(5, 2051), S(5, 2051)}},
    {.in = {S(5, 2051), S(5, 1)}},
};

// ---- one operand -------------------------------------------------------------------------------

#define CALL_ONE(name)                                                                             \
    static tern_tensor *call_##name(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        (void)c;                                                                                   \
        (void)s;                                                                                   \
        return tern_##name(in[0]);                                                                 \
    }
#define CALL_ONE_P(name)                                                                           \
    static tern_tensor *call_##name(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        (void)s;                                                                                   \
        return tern_##name(in[0], c->p[0]);                                                        \
    }
#define CALL_ONE_PP(name)                                                                          \
    static tern_tensor *call_##name(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        (void)s;                                                                                   \
        return tern_##name(in[0], c->p[0], c->p[1]);                                               \
    }
#define CALL_TWO(name)                                                                             \
    static tern_tensor *call_##name(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        (void)c;                                                                                   \
        (void)s;                                                                                   \
        return tern_##name(in[0], in[1]);                                                          \
    }
// What an operation computes for an element.
#define EACH(name, ...)                                                                            \
    static real each_##name(const real *x, const double *p)                                        \
    {                                                                                              \
        (void)p;                                                                                   \
        return __VA_ARGS__;                                                                        \
    }

static real sigmoid(real x)
{
    return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}

static real silu(real x)
{
    return x * sigmoid(x);
}

static real softplus(real x, real beta, real threshold)
{
    return beta * x > threshold ? x : log1pl(expl(beta * x)) / beta;
}

static real clamp(real x, real low, real high)
{
    return x < low ? low : x > high ? high : x;
}

#define FOR_ONE(X)                                                                                 \
    X(neg, -x[0])                                                                                  \
    X(abs, fabsl(x[0]))                                                                            \
    X(sqrt, sqrtl(x[0]))                                                                           \
    X(rsqrt, 1 / sqrtl(x[0]))                                                                      \
    X(exp, expl(x[0]))                                                                             \
    X(log, logl(x[0]))                                                                             \
    X(log1p, log1pl(x[0]))                                                                         \
    X(sin, sinl(x[0]))                                                                             \
    X(cos, cosl(x[0]))                                                                             \
    X(tanh, tanhl(x[0]))                                                                           \
    X(sigmoid, sigmoid(x[0]))                                                                      \
    X(relu, isnan(x[0]) ? x[0] : x[0] > 0 ? x[0] : 0)                                              \
    X(silu, silu(x[0]))                                                                            \
    X(hardswish, x[0] * clamp(x[0] + 3, 0, 6) / 6)                                                 \
    X(round, rintl(x[0]))                                                                          \
    X(isfinite, isfinite(x[0]) != 0)                                                               \
    X(logical_not, x[0] == 0)
#define FOR_ONE_P(X)                                                                               \
    X(leaky_relu, x[0] > 0 ? x[0] : x[0] * p[0])                                                   \
    X(add_scalar, x[0] + p[0])                                                                     \
    X(sub_scalar, x[0] - p[0])                                                                     \
    X(mul_scalar, x[0] * p[0])                                                                     \
    X(div_scalar, x[0] / p[0])                                                                     \
    X(pow_scalar, powl(x[0], p[0]))                                                                \
    X(eq_scalar, x[0] == p[0])                                                                     \
    X(ne_scalar, x[0] != p[0])                                                                     \
    X(lt_scalar, x[0] < p[0])                                                                      \
    X(le_scalar, x[0] <= p[0])                                                                     \
    X(gt_scalar, x[0] > p[0])                                                                      \
    X(ge_scalar, x[0] >= p[0])
#define FOR_ONE_PP(X)                                                                              \
    X(softplus, softplus(x[0], p[0], p[1]))                                                        \
    X(clamp, clamp(x[0], p[0], p[1]))
#define FOR_TWO(X)                                                                                 \
    X(add, x[0] + x[1])                                                                            \
    X(sub, x[0] - x[1])                                                                            \
    X(mul, x[0] * x[1])                                                                            \
    X(div, x[0] / x[1])                                                                            \
    X(pow, powl(x[0], x[1]))                                                                       \
    X(minimum, isnan(x[0]) || x[0] < x[1] ? x[0] : x[1])                                           \
    X(maximum, isnan(x[0]) || x[0] > x[1] ? x[0] : x[1])                                           \
    X(eq, x[0] == x[1])                                                                            \
    X(ne, x[0] != x[1])                                                                            \
    X(lt, x[0] < x[1])                                                                             \
    X(le, x[0] <= x[1])                                                                            \
    X(gt, x[0] > x[1])                                                                             \
    X(ge, x[0] >= x[1])                                                                            \
    X(logical_and, x[0] != 0 && x[1] != 0)                                                         \
    X(logical_or, x[0] != 0 || x[1] != 0)

#define ONE(name, ...)    CALL_ONE(name) EACH(name, __VA_ARGS__)
#define ONE_P(name, ...)  CALL_ONE_P(name) EACH(name, __VA_ARGS__)
#define ONE_PP(name, ...) CALL_ONE_PP(name) EACH(name, __VA_ARGS__)
#define TWO(name, ...)    CALL_TWO(name) EACH(name, __VA_ARGS__)
// clang-format off
FOR_ONE(ONE)
FOR_ONE_P(ONE_P)
FOR_ONE_PP(ONE_PP)
FOR_TWO(TWO)
// clang-format on

static tern_tensor *call_where(tern_tensor *const *in, const op_case *c, const setup *s)
{
    (void)c;
    (void)s;
    return tern_where(in[0], in[1], in[2]);
}
EACH(where, x[0] != 0 ? x[1] : x[2])

static tern_tensor *call_masked_fill(tern_tensor *const *in, const op_case *c, const setup *s)
{
    (void)s;
    return tern_masked_fill(in[0], in[1], c->p[0]);
}
EACH(masked_fill, x[1] != 0 ? p[0] : x[0])

// ---- integers that no double holds --------------------------------------------------------------

#define BEYOND INT64_C(9007199254740993) // 2^53 + 1

#define BEYOND_CASE(name, expression, ...)                                                         \
    static tern_tensor *call_beyond_##name(tern_tensor *const *in, const op_case *c,               \
                                           const setup *s)                                         \
    {                                                                                              \
        tern_tensor *x = in[0];                                                                    \
        (void)c;                                                                                   \
        (void)s;                                                                                   \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    EACH(beyond_##name, expression)

BEYOND_CASE(add_scalar, x[0] + (real)BEYOND, tern_add_scalar(x, BEYOND))
BEYOND_CASE(sub_scalar, x[0] - (real)BEYOND, tern_sub_scalar(x, BEYOND))
BEYOND_CASE(mul_scalar, x[0] * (real)BEYOND, tern_mul_scalar(x, BEYOND))
BEYOND_CASE(eq_scalar, x[0] == 1, tern_eq_scalar(tern_add_scalar(x, BEYOND - 1), BEYOND))
BEYOND_CASE(ne_scalar, x[0] != 1, tern_ne_scalar(tern_add_scalar(x, BEYOND - 1), BEYOND))
BEYOND_CASE(lt_scalar, x[0] < 1, tern_lt_scalar(tern_add_scalar(x, BEYOND - 1), BEYOND))
BEYOND_CASE(le_scalar, x[0] <= 1, tern_le_scalar(tern_add_scalar(x, BEYOND - 1), BEYOND))
BEYOND_CASE(gt_scalar, x[0] > 1, tern_gt_scalar(tern_add_scalar(x, BEYOND - 1), BEYOND))
BEYOND_CASE(ge_scalar, x[0] >= 1, tern_ge_scalar(tern_add_scalar(x, BEYOND - 1), BEYOND))
BEYOND_CASE(clamp, (real)BEYOND + clamp(x[0], -1, 1),
            tern_clamp(tern_add_scalar(x, BEYOND), BEYOND - 1, BEYOND + 1))
BEYOND_CASE(masked_fill, x[1] != 0 ? (real)BEYOND : x[0], tern_masked_fill(x, in[1], BEYOND))
BEYOND_CASE(full_like, (real)BEYOND + 0 * x[0], tern_full_like(x, BEYOND))

// A range from BEYOND, in the shape of x.
static tern_tensor *range_like(tern_tensor *x)
{
    tern_tensor *range =
        tern_arange(BEYOND, BEYOND + tern_numel(x), 1, .device = tern_device_of(x));
    return tern_reshape(range, tern_shape_of(x));
}
static tern_tensor *count_like(tern_tensor *x)
{
    tern_tensor *range = tern_arange(0, tern_numel(x), 1, .device = tern_device_of(x));
    return tern_reshape(range, tern_shape_of(x));
}
BEYOND_CASE(arange, (real)BEYOND + x[0], tern_add(x, tern_sub(range_like(x), count_like(x))))

// clang-format off
#define BEYOND_DOUBLE(name, ...)                                                                   \
    {.op = #name, .note = "beyond double", .call = call_beyond_##name,                             \
     .reference = reference_each, .each = each_beyond_##name, .setups = one_setups,                \
     .setup_count = COUNT(one_setups), .inputs = 1, .values = {SMALL}, .dtypes = I64, __VA_ARGS__}
#define UNARY(name, ...)                                                                           \
    {.op = #name, .call = call_##name, .reference = reference_each, .each = each_##name,           \
     .setups = one_setups, .setup_count = COUNT(one_setups), .inputs = 1, __VA_ARGS__}
#define BINARY(name, ...)                                                                          \
    BINARY_OVER(COUNT(two_setups), name, __VA_ARGS__)
#define BINARY_OVER(count, name, ...)                                                              \
    {.op = #name, .call = call_##name, .reference = reference_each, .each = each_##name,           \
     .setups = two_setups, .setup_count = count, .inputs = 2, __VA_ARGS__}
// The setups with so few pairs that none comes close to a tie by chance.
#define FEW (COUNT(two_setups) - 2)
#define DIFFERENTIABLE .gradients = 1
#define BOTH           .gradients = 3

static const op_case cases[] = {
    UNARY(neg, .values = {WIDE}, .dtypes = NUMBERS, .ulps = 1, .specials = true, DIFFERENTIABLE),
    UNARY(abs, .values = {WIDE}, .dtypes = NUMBERS, .ulps = 1, .specials = true, DIFFERENTIABLE),
    UNARY(sqrt, .values = {WIDE_POSITIVE}, .dtypes = ALL, .result = FLOATING, .ulps = 1,
          .specials = true, DIFFERENTIABLE),
    UNARY(rsqrt, .values = {WIDE_POSITIVE}, .dtypes = ALL, .result = FLOATING, .ulps = 4,
          .specials = true, DIFFERENTIABLE),
    UNARY(exp, .values = {ORDINARY}, .dtypes = ALL, .result = FLOATING, .ulps = 4,
          .specials = true, DIFFERENTIABLE),
    UNARY(exp, .note = "wide", .values = {WIDE}, .dtypes = FLOATS, .ulps = 4, .specials = true),
    UNARY(log, .values = {WIDE_POSITIVE}, .dtypes = ALL, .result = FLOATING, .ulps = 4,
          .specials = true, DIFFERENTIABLE),
    UNARY(log1p, .values = {WIDE_POSITIVE}, .dtypes = ALL, .result = FLOATING, .ulps = 4,
          .specials = true, DIFFERENTIABLE),
    UNARY(sin, .values = {ORDINARY}, .dtypes = ALL, .result = FLOATING, .ulps = 4,
          DIFFERENTIABLE),
    UNARY(sin, .note = "wide", .values = {WIDE}, .dtypes = FLOATS, .ulps = 4, .specials = true),
    UNARY(cos, .values = {ORDINARY}, .dtypes = ALL, .result = FLOATING, .ulps = 4,
          DIFFERENTIABLE),
    UNARY(cos, .note = "wide", .values = {WIDE}, .dtypes = FLOATS, .ulps = 4, .specials = true),
    UNARY(tanh, .values = {WIDE}, .dtypes = ALL, .result = FLOATING, .ulps = 4, .specials = true,
          DIFFERENTIABLE),
    UNARY(sigmoid, .values = {WIDE}, .dtypes = ALL, .result = FLOATING, .ulps = 4,
          .specials = true, DIFFERENTIABLE),
    UNARY(relu, .values = {WIDE}, .dtypes = NUMBERS, .specials = true, DIFFERENTIABLE),
    UNARY(silu, .values = {WIDE}, .dtypes = ALL, .result = FLOATING, .ulps = 4, .specials = true,
          DIFFERENTIABLE),
    UNARY(hardswish, .values = {WIDE}, .dtypes = ALL, .result = FLOATING, .ulps = 4,
          .specials = true),
    UNARY(hardswish, .note = "far", .values = {FAR}, .dtypes = FLOATS, .ulps = 4, DIFFERENTIABLE),
    UNARY(round, .values = {WIDE}, .dtypes = NUMBERS, .specials = true, DIFFERENTIABLE),
    UNARY(isfinite, .values = {WIDE}, .dtypes = ALL, .result = TRUTH, .specials = true),
    UNARY(logical_not, .values = {SMALL}, .dtypes = ALL, .result = TRUTH, .specials = true),
    UNARY(leaky_relu, .values = {WIDE}, .dtypes = ALL, .result = FLOATING, .ulps = 2,
          .p = {0.01}, .specials = true, DIFFERENTIABLE),
    UNARY(softplus, .values = {WIDE}, .dtypes = ALL, .result = FLOATING, .ulps = 4,
          .p = {2, 20}, .specials = true, DIFFERENTIABLE),
    UNARY(softplus, .note = "flat", .values = {WIDE}, .dtypes = FLOATS, .ulps = 4,
          .p = {0.3, 20}, .specials = true, DIFFERENTIABLE),
    UNARY(clamp, .values = {WIDE}, .dtypes = FLOATS, .ulps = 1, .p = {-1, 1},
          .specials = true, DIFFERENTIABLE),
    UNARY(clamp, .note = "integers", .values = {WIDE}, .dtypes = INTEGERS, .p = {1, 3}),
    UNARY(clamp, .note = "open below", .values = {WIDE}, .dtypes = NUMBERS, .p = {-INFINITY, 2},
          .specials = true),
    UNARY(clamp, .note = "open above", .values = {WIDE}, .dtypes = NUMBERS, .p = {1, INFINITY},
          .specials = true),
    UNARY(add_scalar, .values = {WIDE}, .dtypes = NUMBERS, .ulps = 1, .p = {3}, .specials = true,
          DIFFERENTIABLE),
    UNARY(add_scalar, .note = "a fraction", .values = {WIDE}, .dtypes = FLOATS, .ulps = 1,
          .p = {-0.75}, .specials = true, DIFFERENTIABLE),
    UNARY(sub_scalar, .values = {WIDE}, .dtypes = FLOATS | I64 | I32, .ulps = 1, .p = {3},
          .specials = true, DIFFERENTIABLE),
    UNARY(mul_scalar, .values = {WIDE}, .dtypes = NUMBERS, .ulps = 1, .p = {3}, .specials = true,
          DIFFERENTIABLE),
    UNARY(mul_scalar, .note = "a fraction", .values = {WIDE}, .dtypes = FLOATS, .ulps = 1,
          .p = {-0.75}, .specials = true, DIFFERENTIABLE),
    UNARY(div_scalar, .values = {WIDE}, .dtypes = ALL, .result = FLOATING, .ulps = 1, .p = {3},
          .specials = true, DIFFERENTIABLE),
    UNARY(pow_scalar, .note = "square", .values = {ORDINARY}, .dtypes = NUMBERS, .ulps = 4,
          .p = {2}, .specials = true, DIFFERENTIABLE),
    UNARY(pow_scalar, .note = "cube", .values = {ORDINARY}, .dtypes = FLOATS | I64 | I32,
          .ulps = 4, .p = {3}, .specials = true, DIFFERENTIABLE),
    UNARY(pow_scalar, .note = "zero", .values = {ORDINARY}, .dtypes = NUMBERS, .ulps = 4,
          .p = {0}, .specials = true, DIFFERENTIABLE),
    UNARY(pow_scalar, .note = "root", .values = {WIDE_POSITIVE}, .dtypes = FLOATS, .ulps = 4,
          .p = {0.5}, DIFFERENTIABLE),
    UNARY(pow_scalar, .note = "negative", .values = {NONZERO}, .dtypes = FLOATS, .ulps = 4,
          .p = {-1}, .specials = true, DIFFERENTIABLE),
    UNARY(pow_scalar, .note = "inverse square", .values = {NONZERO}, .dtypes = FLOATS, .ulps = 4,
          .p = {-2}, .specials = true, DIFFERENTIABLE),
    UNARY(pow_scalar, .note = "inverse root", .values = {POSITIVE}, .dtypes = FLOATS, .ulps = 4,
          .p = {-0.5}, DIFFERENTIABLE),
    UNARY(pow_scalar, .note = "2.5", .values = {POSITIVE}, .dtypes = FLOATS, .ulps = 4,
          .p = {2.5}, .specials = true, DIFFERENTIABLE),
    UNARY(eq_scalar, .values = {SMALL}, .dtypes = ALL, .result = TRUTH, .p = {1},
          .specials = true),
    UNARY(ne_scalar, .values = {SMALL}, .dtypes = ALL, .result = TRUTH, .p = {1},
          .specials = true),
    UNARY(lt_scalar, .values = {SMALL}, .dtypes = ALL, .result = TRUTH, .p = {1},
          .specials = true),
    UNARY(le_scalar, .values = {SMALL}, .dtypes = ALL, .result = TRUTH, .p = {1},
          .specials = true),
    UNARY(gt_scalar, .values = {SMALL}, .dtypes = ALL, .result = TRUTH, .p = {0.5},
          .specials = true),
    UNARY(ge_scalar, .values = {SMALL}, .dtypes = ALL, .result = TRUTH, .p = {0.5},
          .specials = true),

    BINARY(add, .values = {WIDE, WIDE}, .dtypes = NUMBERS, .ulps = 1, .specials = true, BOTH),
    BINARY(sub, .values = {WIDE, WIDE}, .dtypes = FLOATS | I64 | I32, .ulps = 1,
           .specials = true, BOTH),
    BINARY(mul, .values = {WIDE, WIDE}, .dtypes = ALL, .ulps = 1, .specials = true, BOTH),
    BINARY(div, .values = {WIDE, NONZERO}, .dtypes = ALL, .result = FLOATING, .ulps = 1,
           .specials = true, BOTH),
    BINARY(pow, .values = {POSITIVE, ORDINARY}, .dtypes = FLOATS, .ulps = 4, .specials = true,
           BOTH),
    BINARY(pow, .note = "integers", .values = {ORDINARY, POSITIVE}, .dtypes = I64 | I32),
    BINARY(minimum, .values = {SMALL, SMALL}, .dtypes = NUMBERS, .specials = true),
    BINARY_OVER(FEW, minimum, .note = "no ties", .values = {ORDINARY, UNIT}, .dtypes = FLOATS,
                BOTH),
    BINARY(maximum, .values = {SMALL, SMALL}, .dtypes = NUMBERS, .specials = true),
    BINARY_OVER(FEW, maximum, .note = "no ties", .values = {ORDINARY, UNIT}, .dtypes = FLOATS,
                BOTH),
    BINARY(eq, .values = {SMALL, SMALL}, .dtypes = ALL, .result = TRUTH, .specials = true),
    BINARY(ne, .values = {SMALL, SMALL}, .dtypes = ALL, .result = TRUTH, .specials = true),
    BINARY(lt, .values = {SMALL, SMALL}, .dtypes = ALL, .result = TRUTH, .specials = true),
    BINARY(le, .values = {SMALL, SMALL}, .dtypes = ALL, .result = TRUTH, .specials = true),
    BINARY(gt, .values = {SMALL, SMALL}, .dtypes = ALL, .result = TRUTH, .specials = true),
    BINARY(ge, .values = {SMALL, SMALL}, .dtypes = ALL, .result = TRUTH, .specials = true),
    BINARY(logical_and, .values = {SMALL, SMALL}, .dtypes = ALL, .result = TRUTH,
           .specials = true),
    BINARY(logical_or, .values = {SMALL, SMALL}, .dtypes = ALL, .result = TRUTH,
           .specials = true),

    {.op = "where", .call = call_where, .reference = reference_each, .each = each_where,
     .setups = three_setups, .setup_count = COUNT(three_setups), .inputs = 3,
     .values = {MASK, WIDE, WIDE}, .dtypes = ALL, .specials = true, .gradients = 6},
    BEYOND_DOUBLE(add_scalar, .result = SAME),
    BEYOND_DOUBLE(sub_scalar, .result = SAME),
    BEYOND_DOUBLE(mul_scalar, .result = SAME),
    BEYOND_DOUBLE(eq_scalar, .result = TRUTH),
    BEYOND_DOUBLE(ne_scalar, .result = TRUTH),
    BEYOND_DOUBLE(lt_scalar, .result = TRUTH),
    BEYOND_DOUBLE(le_scalar, .result = TRUTH),
    BEYOND_DOUBLE(gt_scalar, .result = TRUTH),
    BEYOND_DOUBLE(ge_scalar, .result = TRUTH),
    BEYOND_DOUBLE(clamp, .result = SAME),
    BEYOND_DOUBLE(full_like, .result = SAME),
    BEYOND_DOUBLE(arange, .result = SAME),
    {.op = "masked_fill", .note = "beyond double", .call = call_beyond_masked_fill,
     .reference = reference_each, .each = each_beyond_masked_fill, .setups = mask_setups,
     .setup_count = COUNT(mask_setups), .inputs = 2, .values = {SMALL, MASK}, .dtypes = I64},
    {.op = "masked_fill", .call = call_masked_fill, .reference = reference_each,
     .each = each_masked_fill, .setups = mask_setups, .setup_count = COUNT(mask_setups),
     .inputs = 2, .values = {WIDE, MASK}, .dtypes = ALL, .p = {1}, .specials = true,
     DIFFERENTIABLE},
};
// clang-format on

const case_list elementwise_cases = {cases, COUNT(cases)};
