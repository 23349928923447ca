// SPDX-License-Identifier: Apache-2.0
// Operations that look at many elements for one: reductions, and those along a dimension.
#include "conformance.h"

#include <math.h>

#define S(...)                                                                                     \
    {                                                                                              \
        (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                                 \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define A(...)                                                                                     \
    {                                                                                              \
        (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)),                                         \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

// Axes: a count of 0 means all.
static const setup any_setups[] = {
    {.in = {{0}}},
    {.in = {S(1)}},
    {.in = {S(7)}, .keepdim = true},
    {.in = {S(5, 3)}, .axes = A(0)},
    {.in = {S(5, 3)}, .axes = A(-1), .keepdim = true},
    {.in = {S(2, 3, 4)}, .axes = A(1)},
    {.in = {S(2, 3, 4)}, .axes = A(0, 2)},
    {.in = {S(3, 1, 5, 2)}, .axes = A(-1, 1), .keepdim = true},
    {.in = {S(0, 3)}, .axes = A(1)},
    {.in = {S(1, 6, 1)}, .axes = A(0, 1, 2)},
    {.in = {S(1031)}},
    {.in = {S(70001)}},
    {.in = {S(33, 41)}, .axes = A(0)},
    {.in = {S(33, 41)}, .axes = A(1)},
    {.in = {S(3, 1031)}, .axes = A(0)}, // columns in three blocks
    {.in = {S(5, 7, 11, 3)}, .axes = A(1, 3)},
};

static const setup segment_setups[] = {{.in = {S(2203, 37)}, .axes = A(0)}};

// Only for reductions of nothing that have a value.
static const setup empty_setups[] = {
    {.in = {S(0)}},
    {.in = {S(3, 0)}, .axes = A(1)},
    {.in = {S(3, 0, 2)}, .axes = A(1), .keepdim = true},
};

static const setup dim_setups[] = {
    {.in = {{0}}, .dim = -1},
    {.in = {S(1)}},
    {.in = {S(7)}, .keepdim = true},
    {.in = {S(5, 3)}},
    {.in = {S(5, 3)}, .dim = -1},
    {.in = {S(2, 3, 4)}, .dim = 1, .keepdim = true},
    {.in = {S(0, 3)}, .dim = 1},
    {.in = {S(3, 1, 2)}, .dim = 1},
    {.in = {S(257)}},
    {.in = {S(19, 37)}, .dim = 1},
    {.in = {S(37, 19)}},
    {.in = {S(19, 1031)}, .dim = 1},
    {.in = {S(5, 70, 67)}, .dim = 1},
};

// ---- what they compute --------------------------------------------------------------------------

static real fold_sum(const real *x, int64_t n, const op_case *c, const setup *s, real *magnitude)
{
    (void)c;
    (void)s;
    real sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
        *magnitude += fabsl(x[i]);
    }
    return sum;
}

static real fold_mean(const real *x, int64_t n, const op_case *c, const setup *s, real *magnitude)
{
    real sum = fold_sum(x, n, c, s, magnitude);
    if (n)
        *magnitude /= (real)n;
    return sum / (real)n;
}

// The case's p[0] is the correction.
static real fold_var(const real *x, int64_t n, const op_case *c, const setup *s, real *magnitude)
{
    real mean = fold_mean(x, n, c, s, magnitude), sum = 0, freedom = (real)n - (real)c->p[0];
    for (int64_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    real var = sum / (freedom > 0 ? freedom : 0);
    *magnitude = isfinite(var) ? var : 0;
    return var;
}

static real fold_std(const real *x, int64_t n, const op_case *c, const setup *s, real *magnitude)
{
    real var = fold_var(x, n, c, s, magnitude);
    *magnitude = sqrtl(*magnitude);
    return sqrtl(var);
}

static bool beats(bool largest, real x, real best)
{
    return !isnan(best) && (isnan(x) || (largest ? x > best : x < best));
}

static int64_t place_of_extreme(const real *x, int64_t n, bool largest)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (beats(largest, x[i], x[best]))
            best = i;
    return best;
}

#define FOLD(name, ...)                                                                            \
    static real fold_##name(const real *x, int64_t n, const op_case *c, const setup *s,            \
                            real *magnitude)                                                       \
    {                                                                                              \
        (void)c;                                                                                   \
        (void)s;                                                                                   \
        (void)magnitude;                                                                           \
        return __VA_ARGS__;                                                                        \
    }
FOLD(amax, x[place_of_extreme(x, n, true)])
FOLD(amin, x[place_of_extreme(x, n, false)])
FOLD(argmax, (real)place_of_extreme(x, n, true))
FOLD(argmin, (real)place_of_extreme(x, n, false))

// The case's p[0] is the power.
static real fold_norm(const real *x, int64_t n, const op_case *c, const setup *s, real *magnitude)
{
    (void)s;
    real p = (real)c->p[0], sum = 0, largest = 0, smallest = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        largest = isnan(x[i]) ? x[i] : fmaxl(largest, fabsl(x[i]));
        smallest = fminl(smallest, fabsl(x[i]));
        sum += p == 0 ? x[i] != 0 : isinf(p) ? 0 : powl(fabsl(x[i]), p);
    }
    real norm = isinf(p) ? (p > 0 ? largest : smallest) : p == 0 ? sum : powl(sum, 1 / p);
    *magnitude = isfinite(norm) ? norm : 0;
    return norm;
}

static real fold_any(const real *x, int64_t n, const op_case *c, const setup *s, real *magnitude)
{
    (void)c;
    (void)s;
    (void)magnitude;
    bool any = false;
    for (int64_t i = 0; i < n; i++)
        any = any || x[i] != 0;
    return any;
}

static real fold_all(const real *x, int64_t n, const op_case *c, const setup *s, real *magnitude)
{
    (void)c;
    (void)s;
    (void)magnitude;
    bool all = true;
    for (int64_t i = 0; i < n; i++)
        all = all && x[i] != 0;
    return all;
}

static void along_cumsum(const real *x, int64_t n, real *y, real *magnitude)
{
    real sum = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        y[i] = sum += x[i];
        magnitude[i] = size += fabsl(x[i]);
    }
}

static void along_log_softmax(const real *x, int64_t n, real *y, real *magnitude)
{
    real top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        top = fmaxl(top, x[i]);
    for (int64_t i = 0; i < n; i++)
        sum += expl(x[i] - top);
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] - top - logl(sum);
        magnitude[i] = fabsl(x[i]) + fabsl(top) + logl(sum) + 1; // 1: the sum is rounded
    }
}

static void along_softmax(const real *x, int64_t n, real *y, real *magnitude)
{
    along_log_softmax(x, n, y, magnitude);
    for (int64_t i = 0; i < n; i++)
        magnitude[i] = expl(y[i]) * (1 + fabsl(y[i])); // the exponent is rounded too
    for (int64_t i = 0; i < n; i++)
        y[i] = expl(y[i]);
}

// ---- how they are called ------------------------------------------------------------------------

#define CALL(name, ...)                                                                            \
    static tern_tensor *call_##name(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        (void)c;                                                                                   \
        return __VA_ARGS__;                                                                        \
    }
CALL(sum, tern_sum(in[0], s->axes, s->keepdim))
CALL(mean, tern_mean(in[0], s->axes, s->keepdim))
CALL(amax, tern_amax(in[0], s->axes, s->keepdim))
CALL(amin, tern_amin(in[0], s->axes, s->keepdim))
CALL(any, tern_any(in[0], s->axes, s->keepdim))
CALL(all, tern_all(in[0], s->axes, s->keepdim))
CALL(var, tern_var(in[0], s->axes, (int64_t)c->p[0], s->keepdim))
CALL(std, tern_std(in[0], s->axes, (int64_t)c->p[0], s->keepdim))
CALL(norm, tern_norm(in[0], c->p[0], s->axes, s->keepdim))
CALL(max, tern_max(in[0], s->dim, s->keepdim, NULL))
CALL(min, tern_min(in[0], s->dim, s->keepdim, NULL))
CALL(argmax, tern_argmax(in[0], s->dim, s->keepdim))
CALL(argmin, tern_argmin(in[0], s->dim, s->keepdim))
CALL(cumsum, tern_cumsum(in[0], s->dim))
CALL(softmax, tern_softmax(in[0], s->dim))
CALL(log_softmax, tern_log_softmax(in[0], s->dim))

static tern_tensor *call_max_indices(tern_tensor *const *in, const op_case *c, const setup *s)
{
    (void)c;
    tern_tensor *indices = NULL;
    return tern_max(in[0], s->dim, s->keepdim, &indices) ? indices : NULL;
}

static tern_tensor *call_min_indices(tern_tensor *const *in, const op_case *c, const setup *s)
{
    (void)c;
    tern_tensor *indices = NULL;
    return tern_min(in[0], s->dim, s->keepdim, &indices) ? indices : NULL;
}

// clang-format off
#define REDUCTION(name, list, ...)                                                                 \
    {.op = #name, .call = call_##name, .reference = reference_fold, .fold = fold_##name,           \
     .setups = list, .setup_count = COUNT(list), .inputs = 1, __VA_ARGS__}
#define EXTREME(name, call_of, fold_of, ...)                                                       \
    {.op = #name, .call = call_of, .reference = reference_fold_dim, .fold = fold_of,               \
     .setups = dim_setups, .setup_count = COUNT(dim_setups), .inputs = 1, __VA_ARGS__}
#define ALONG(name, ...)                                                                           \
    {.op = #name, .call = call_##name, .reference = reference_along, .along = along_##name,        \
     .setups = dim_setups, .setup_count = COUNT(dim_setups), .inputs = 1, __VA_ARGS__}

static const op_case cases[] = {
    REDUCTION(sum, any_setups, .values = {WIDE}, .dtypes = ALL, .result = WIDENED, .ulps = 1,
              .gradients = 1),
    REDUCTION(sum, empty_setups, .note = "empty", .dtypes = ALL, .result = WIDENED,
              .gradients = 1),
    REDUCTION(sum, segment_setups, .note = "segments of columns", .values = {WIDE},
              .dtypes = ALL, .result = WIDENED, .ulps = 1, .gradients = 1),
    REDUCTION(mean, any_setups, .values = {WIDE}, .dtypes = FLOATS, .ulps = 1, .gradients = 1),
    REDUCTION(mean, empty_setups, .note = "empty", .dtypes = FLOATS, .gradients = 1),
    REDUCTION(amax, any_setups, .values = {SMALL}, .dtypes = ALL, .specials = true,
              .gradients = 1),
    REDUCTION(amax, segment_setups, .note = "segments of columns", .values = {SMALL},
              .dtypes = ALL, .specials = true, .gradients = 1),
    REDUCTION(amin, any_setups, .values = {SMALL}, .dtypes = ALL, .specials = true,
              .gradients = 1),
    REDUCTION(any, any_setups, .values = {SMALL}, .dtypes = ALL, .result = TRUTH),
    REDUCTION(any, empty_setups, .note = "empty", .dtypes = ALL, .result = TRUTH),
    REDUCTION(all, any_setups, .values = {SMALL}, .dtypes = ALL, .result = TRUTH),
    REDUCTION(all, empty_setups, .note = "empty", .dtypes = ALL, .result = TRUTH),
    REDUCTION(var, any_setups, .note = "population", .values = {ORDINARY}, .dtypes = FLOATS,
              .ulps = 2, .p = {0}, .gradients = 1),
    REDUCTION(var, segment_setups, .note = "segments of columns", .values = {ORDINARY},
              .dtypes = FLOATS, .ulps = 2, .p = {0}, .gradients = 1),
    REDUCTION(var, any_setups, .note = "unbiased", .values = {ORDINARY}, .dtypes = FLOATS,
              .ulps = 2, .p = {1}),
    REDUCTION(var, empty_setups, .note = "empty", .dtypes = FLOATS, .p = {1}),
    REDUCTION(std, any_setups, .note = "population", .values = {ORDINARY}, .dtypes = FLOATS,
              .ulps = 2, .p = {0}, .gradients = 1),
    REDUCTION(std, any_setups, .note = "unbiased", .values = {ORDINARY}, .dtypes = FLOATS,
              .ulps = 2, .p = {1}),
    REDUCTION(norm, any_setups, .note = "2", .values = {ORDINARY}, .dtypes = FLOATS, .ulps = 4,
              .p = {2}, .gradients = 1),
    REDUCTION(norm, any_setups, .note = "1", .values = {ORDINARY}, .dtypes = FLOATS, .ulps = 4,
              .p = {1}, .gradients = 1),
    REDUCTION(norm, any_setups, .note = "0", .values = {SMALL}, .dtypes = FLOATS, .p = {0},
              .gradients = 1),
    REDUCTION(norm, any_setups, .note = "3", .values = {ORDINARY}, .dtypes = FLOATS, .ulps = 4,
              .p = {3}, .gradients = 1),
    REDUCTION(norm, any_setups, .note = "1.5", .values = {ORDINARY}, .dtypes = FLOATS,
              .ulps = 4, .p = {1.5}, .gradients = 1),
    REDUCTION(norm, any_setups, .note = "0.5", .values = {NONZERO}, .dtypes = FLOATS, .ulps = 8,
              .p = {0.5}, .gradients = 1),
    REDUCTION(norm, any_setups, .note = "inf", .values = {SMALL}, .dtypes = FLOATS,
              .p = {INFINITY}, .gradients = 1),
    REDUCTION(norm, any_setups, .note = "-inf", .values = {SMALL}, .dtypes = FLOATS,
              .p = {-INFINITY}, .gradients = 1),
    REDUCTION(norm, empty_setups, .note = "empty", .dtypes = FLOATS, .p = {2}, .gradients = 1),
    EXTREME(max, call_max, fold_amax, .values = {SMALL}, .dtypes = ALL, .specials = true,
            .gradients = 1),
    EXTREME(max, call_max_indices, fold_argmax, .note = "indices", .values = {SMALL},
            .dtypes = ALL, .result = PLACES, .specials = true),
    EXTREME(min, call_min, fold_amin, .values = {SMALL}, .dtypes = ALL, .specials = true,
            .gradients = 1),
    EXTREME(min, call_min_indices, fold_argmin, .note = "indices", .values = {SMALL},
            .dtypes = ALL, .result = PLACES, .specials = true),
    EXTREME(argmax, call_argmax, fold_argmax, .values = {SMALL}, .dtypes = ALL,
            .result = PLACES, .specials = true),
    EXTREME(argmin, call_argmin, fold_argmin, .values = {SMALL}, .dtypes = ALL,
            .result = PLACES, .specials = true),
    ALONG(cumsum, .values = {ORDINARY}, .dtypes = ALL, .result = WIDENED, .ulps = 1,
          .gradients = 1),
    ALONG(softmax, .values = {ORDINARY}, .dtypes = FLOATS, .ulps = 4, .gradients = 1),
    ALONG(softmax, .note = "wide", .values = {WIDE}, .dtypes = FLOATS, .ulps = 4),
    ALONG(log_softmax, .values = {ORDINARY}, .dtypes = FLOATS, .ulps = 4, .gradients = 1),
    ALONG(log_softmax, .note = "wide", .values = {WIDE}, .dtypes = FLOATS, .ulps = 4),
};
// clang-format on

const case_list reduction_cases = {cases, COUNT(cases)};
