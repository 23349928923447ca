// SPDX-License-Identifier: Apache-2.0
// Activations with options, dropout of channels without chance, and what is done along a dimension.
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
    {.in = {{0}}},        {.in = {S(0)}},       {.in = {S(7)}},    {.in = {S(5, 3)}},
    {.in = {S(2, 3, 4)}}, {.in = {S(1, 5, 1)}}, {.in = {S(1031)}},
};
// x and its slopes
static const setup slope_setups[] = {
    {.in = {{0}, S(1)}},        {.in = {S(7), S(1)}},       {.in = {S(5, 3), {0}}},
    {.in = {S(5, 3), S(3)}},    {.in = {S(2, 3, 4), S(3)}}, {.in = {S(2, 3, 4, 2), S(1)}},
    {.in = {S(0, 3, 2), S(3)}}, {.in = {S(4, 1, 5), S(1)}}, {.in = {S(19, 31, 29), S(31)}},
};
static const setup glu_setups[] = {
    {.in = {S(2)}, .dim = 0},       {.in = {S(4, 3)}, .dim = 0}, {.in = {S(3, 8)}, .dim = -1},
    {.in = {S(2, 6, 5)}, .dim = 1}, {.in = {S(0, 4)}, .dim = 1}, {.in = {S(3, 0)}, .dim = 1},
    {.in = {S(33, 130)}, .dim = 1},
};
static const setup along_setups[] = {
    {.in = {S(7)}},
    {.in = {S(5, 3)}, .dim = 1},
    {.in = {S(5, 3)}, .dim = 0},
    {.in = {S(2, 3, 4)}, .dim = -2},
    {.in = {S(0, 3)}, .dim = 1},
    {.in = {S(33, 65)}, .dim = 1},
};
static const setup space1_setups[] = {
    {.in = {S(3, 4)}}, {.in = {S(2, 3, 4)}}, {.in = {S(0, 3, 4)}}, {.in = {S(5, 7, 131)}}};
static const setup space2_setups[] = {
    {.in = {S(2, 3, 4, 5)}}, {.in = {S(2, 3, 1, 1)}}, {.in = {S(2, 0, 4, 5)}}};
static const setup space3_setups[] = {
    {.in = {S(3, 4, 2, 2)}}, {.in = {S(2, 3, 2, 1, 5)}}, {.in = {S(2, 3, 2, 0, 5)}}};

// ---- elementwise --------------------------------------------------------------------------------

static real clamp(real x, real low, real high)
{
    return x < low ? low : x > high ? high : x;
}

static real sigmoid(real x)
{
    return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}

// x times something that is 0 for -inf, so that it gives NaN there.
static real gelu(real x, tern_approximate approximate)
{
    const real inner = sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x);
    // 1 + tanh(u) = 2 sigmoid(2 u) keeps its digits where tanh is near -1
    return approximate == TERN_APPROXIMATE_TANH ? x * sigmoid(2 * inner)
                                                : x * erfcl(-x * sqrtl(0.5L)) / 2;
}

// The subtraction cancels near 0; there by Lambert: tanh(x) = x / (1 + x^2 / (3 + x^2 / (5 + ..))).
static real tanhshrink(real x)
{
    real fraction = 0;
    for (int odd = 41; odd > 1; odd -= 2)
        fraction = x * x / (odd + fraction);
    return fabsl(x) < 1 ? x * fraction / (1 + fraction) : x - tanhl(x);
}

// tanh(log(1 + e)) = ((1 + e)^2 - 1) / ((1 + e)^2 + 1), e = exp(x)
static real mish(real x)
{
    const real e = expl(x);
    return x > 100 ? x : x * (e * e + 2 * e) / (e * e + 2 * e + 2);
}

#define CALL(name, ...)                                                                            \
    static tern_tensor *call_##name(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        (void)c;                                                                                   \
        (void)s;                                                                                   \
        return __VA_ARGS__;                                                                        \
    }
#define EACH(name, ...)                                                                            \
    static real each_##name(const real *x, const double *p)                                        \
    {                                                                                              \
        (void)p;                                                                                   \
        return __VA_ARGS__;                                                                        \
    }
// How an activation is called, and what it computes for an element.
#define FOR_EACH_ACTIVATION(X)                                                                     \
    X(relu6, (in[0]), clamp(x[0], 0, 6))                                                           \
    X(hardsigmoid, (in[0]), clamp(x[0] + 3, 0, 6) / 6)                                             \
    X(selu, (in[0]),                                                                               \
      1.0507009873554804934193349852946L *                                                         \
          (x[0] > 0 ? x[0] : 1.6732632423543772848170429916717L * expm1l(x[0])))                   \
    X(tanhshrink, (in[0]), tanhshrink(x[0]))                                                       \
    X(softsign, (in[0]), x[0] / (1 + fabsl(x[0])))                                                 \
    X(mish, (in[0]), mish(x[0]))                                                                   \
    X(logsigmoid, (in[0]), x[0] > 0 ? -log1pl(expl(-x[0])) : x[0] - log1pl(expl(x[0])))            \
    X(gelu, (in[0], .approximate = (tern_approximate)c->p[0]), gelu(x[0], (tern_approximate)p[0])) \
    X(elu, (in[0], c->p[0]), x[0] > 0 ? x[0] : p[0] * expm1l(x[0]))                                \
    X(celu, (in[0], c->p[0]), x[0] > 0 ? x[0] : p[0] * expm1l(x[0] / p[0]))                        \
    X(hardshrink, (in[0], c->p[0]), fabsl(x[0]) <= p[0] ? 0 : x[0])                                \
    X(softshrink, (in[0], c->p[0]),                                                                \
      x[0] > p[0]    ? x[0] - p[0]                                                                 \
      : x[0] < -p[0] ? x[0] + p[0]                                                                 \
                     : 0 * x[0])                                                                   \
    X(hardtanh, (in[0], c->p[0], c->p[1]), clamp(x[0], p[0], p[1]))                                \
    X(threshold, (in[0], c->p[0], c->p[1]), x[0] <= p[0] ? p[1] : x[0])                            \
    X(rrelu, (in[0], c->p[0], c->p[1], .training = c->p[2] != 0),                                  \
      x[0] > 0 ? x[0] : x[0] * (p[0] + p[1]) / 2)                                                  \
    X(dropout1d, (in[0], c->p[0], c->p[1] != 0), p[1] != 0 && p[0] == 1 ? 0 : x[0])                \
    X(dropout2d, (in[0], c->p[0], c->p[1] != 0), p[1] != 0 && p[0] == 1 ? 0 : x[0])                \
    X(dropout3d, (in[0], c->p[0], c->p[1] != 0), p[1] != 0 && p[0] == 1 ? 0 : x[0])                \
    X(alpha_dropout, (in[0], c->p[0], c->p[1] != 0), p[1] != 0 && p[0] == 1 ? 0 : x[0])
#define ACTIVATION(name, operands, ...) CALL(name, tern_##name operands) EACH(name, __VA_ARGS__)

// ---- the others ---------------------------------------------------------------------------------

static int64_t inner_of(tern_shape shape, int dim)
{
    int64_t inner = 1;
    for (int i = dim + 1; i < shape.rank; i++)
        inner *= shape.dim[i];
    return inner;
}

static void reference_prelu(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)c;
    (void)s;
    const array *x = &in[0], *weight = &in[1];
    const int64_t inner = inner_of(x->shape, 1);
    out->value = array_new(out->value.dtype, x->shape);
    for (int64_t i = 0; i < x->numel; i++) {
        const real slope = weight->data[weight->numel > 1 ? i / inner % weight->numel : 0];
        out->value.data[i] = x->data[i] > 0 ? x->data[i] : slope * x->data[i];
    }
}
CALL(prelu, tern_prelu(in[0], in[1]))

static void reference_glu(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)c;
    tern_shape shape = in[0].shape;
    const int dim = (s->dim + shape.rank) % shape.rank;
    const int64_t inner = inner_of(shape, dim), half = shape.dim[dim] /= 2, run = half * inner;
    out->value = array_new(out->value.dtype, shape);
    for (int64_t i = 0; i < out->value.numel; i++) {
        const real *a = &in[0].data[i / run * 2 * run + i % run];
        out->value.data[i] = a[0] * sigmoid(a[run]);
    }
}
CALL(glu, tern_glu(in[0], s->dim))

static void along_softmin(const real *x, int64_t n, real *y, real *magnitude)
{
    real least = INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        least = fminl(least, x[i]);
    for (int64_t i = 0; i < n; i++)
        sum += expl(least - x[i]);
    for (int64_t i = 0; i < n; i++) {
        y[i] = expl(least - x[i]) / sum;
        magnitude[i] = y[i] * (1 + fabsl(x[i]) + fabsl(least));
    }
}
CALL(softmin, tern_softmin(in[0], s->dim))

#define NORMALIZED(name, start, step, end, floor)                                                  \
    static void along_##name(const real *x, int64_t n, real *y, real *magnitude)                   \
    {                                                                                              \
        real norm = start;                                                                         \
        for (int64_t i = 0; i < n; i++)                                                            \
            norm = step;                                                                           \
        for (int64_t i = 0; i < n; i++)                                                            \
            magnitude[i] = fabsl(y[i] = x[i] / fmaxl(end, floor));                                 \
    }
NORMALIZED(norm2, 0, norm + x[i] * x[i], sqrtl(norm), 1e-12L)
NORMALIZED(norm1, 0, norm + fabsl(x[i]), norm, 1e-12L)
NORMALIZED(largest, 0, fmaxl(norm, fabsl(x[i])), norm, 1e-12L)
NORMALIZED(at_least_9, 0, norm + x[i] * x[i], sqrtl(norm), 9)
CALL(normalize, tern_normalize(in[0], .dim = s->dim, .p = c->p[0], .eps = c->p[1]))

// clang-format off
FOR_EACH_ACTIVATION(ACTIVATION)

#define OVER(list, name, ...)                                                                      \
    {.op = #name, .call = call_##name, .reference = reference_each, .each = each_##name,           \
     .setups = list, .setup_count = COUNT(list), .inputs = 1, __VA_ARGS__}
#define UNARY(...) OVER(one_setups, __VA_ARGS__)
#define SPECIAL(...)                                                                         \
    UNARY(__VA_ARGS__, .values = {WIDE}, .dtypes = ALL, .result = FLOATING, .specials = true)
// Gradients on both sides of all corners, which are at integers.
#define CORNERS(...)                                                                         \
    UNARY(__VA_ARGS__, .note = "far", .values = {FAR}, .dtypes = FLOATS, .gradients = 1)
#define CHANNELS(list, name, note_, ...)                                                           \
    OVER(list, name, .note = note_, .values = {WIDE}, .dtypes = FLOATS, .gradients = 1,            \
         __VA_ARGS__)
#define ALONG(name, ...)                                                                           \
    {.op = #name, .call = call_##name, .reference = reference_along, .setups = along_setups,       \
     .setup_count = COUNT(along_setups), .inputs = 1, .dtypes = FLOATS, .ulps = 4, __VA_ARGS__}

static const op_case cases[] = {
    SPECIAL(relu6),
    CORNERS(relu6),
    SPECIAL(hardtanh, .p = {-1, 2}),
    CORNERS(hardtanh, .p = {-1, 2}),
    SPECIAL(hardsigmoid, .ulps = 4),
    CORNERS(hardsigmoid, .ulps = 4),
    SPECIAL(hardshrink, .p = {1}),
    CORNERS(hardshrink, .p = {1}),
    SPECIAL(softshrink, .p = {1}, .ulps = 1),
    CORNERS(softshrink, .p = {1}, .ulps = 1),
    SPECIAL(threshold, .p = {1, 20}),
    CORNERS(threshold, .p = {1, 20}),
    SPECIAL(gelu, .p = {TERN_APPROXIMATE_NONE}, .ulps = 4, .input_share = 1e-3, .gradients = 1),
    SPECIAL(gelu, .note = "tanh", .p = {TERN_APPROXIMATE_TANH}, .ulps = 4, .input_share = 1e-3,
            .gradients = 1),
    SPECIAL(elu, .p = {1.5}, .ulps = 4),
    CORNERS(elu, .p = {1.5}, .ulps = 4),
    UNARY(elu, .note = "falling", .values = {ORDINARY}, .dtypes = FLOATS, .p = {-0.5}, .ulps = 4,
          .gradients = 1),
    SPECIAL(celu, .p = {3}, .ulps = 4),
    CORNERS(celu, .p = {3}, .ulps = 4),
    SPECIAL(selu, .ulps = 4),
    CORNERS(selu, .ulps = 4),
    SPECIAL(tanhshrink, .ulps = 4),
    CORNERS(tanhshrink, .ulps = 4),
    SPECIAL(softsign, .ulps = 4),
    CORNERS(softsign, .ulps = 4),
    SPECIAL(mish, .ulps = 4),
    CORNERS(mish, .ulps = 4),
    SPECIAL(logsigmoid, .ulps = 4),
    CORNERS(logsigmoid, .ulps = 4),
    SPECIAL(rrelu, .note = "evaluation", .p = {0.125, 0.375, 0}, .ulps = 1),
    CORNERS(rrelu, .p = {0.125, 0.375, 0}, .ulps = 1),
    SPECIAL(rrelu, .note = "one slope", .p = {0.25, 0.25, 1}, .ulps = 1, .gradients = 1),
    {.op = "prelu", .call = call_prelu, .reference = reference_prelu, .setups = slope_setups,
     .setup_count = COUNT(slope_setups), .inputs = 2, .values = {WIDE, ORDINARY},
     .dtypes = FLOATS, .ulps = 1, .specials = true, .gradients = 3},
    {.op = "glu", .call = call_glu, .reference = reference_glu, .setups = glu_setups,
     .setup_count = COUNT(glu_setups), .inputs = 1, .values = {WIDE}, .dtypes = FLOATS, .ulps = 4,
     .gradients = 1},
    CHANNELS(space1_setups, dropout1d, "evaluation", .p = {0.7, 0}),
    CHANNELS(space1_setups, dropout1d, "all stay", .p = {0, 1}),
    CHANNELS(space1_setups, dropout1d, "none stays", .p = {1, 1}),
    CHANNELS(space2_setups, dropout2d, "evaluation", .p = {0.7, 0}),
    CHANNELS(space2_setups, dropout2d, "all stay", .p = {0, 1}),
    CHANNELS(space2_setups, dropout2d, "none stays", .p = {1, 1}),
    CHANNELS(space3_setups, dropout3d, "evaluation", .p = {0.7, 0}),
    CHANNELS(space3_setups, dropout3d, "all stay", .p = {0, 1}),
    CHANNELS(space3_setups, dropout3d, "none stays", .p = {1, 1}),
    CHANNELS(one_setups, alpha_dropout, "evaluation", .p = {0.7, 0}),
    CHANNELS(one_setups, alpha_dropout, "all stay", .p = {0, 1}),
    CHANNELS(one_setups, alpha_dropout, "none stays", .p = {1, 1}),
    ALONG(softmin, .along = along_softmin, .values = {ORDINARY}, .gradients = 1),
    ALONG(normalize, .along = along_norm2, .values = {NONZERO}, .p = {2, 1e-12}, .gradients = 1),
    ALONG(normalize, .note = "norm 1", .along = along_norm1, .values = {NONZERO}, .p = {1, 1e-12},
          .gradients = 1),
    ALONG(normalize, .note = "the largest", .along = along_largest, .values = {NONZERO},
          .p = {INFINITY, 1e-12}, .gradients = 1),
    ALONG(normalize, .note = "at least 9", .along = along_at_least_9, .values = {ORDINARY},
          .p = {2, 9}),
};
// clang-format on

const case_list activation_cases = {cases, COUNT(cases)};
