// SPDX-License-Identifier: Apache-2.0
// What the tests of the pointwise losses' kernels share, on the CPU and on a CUDA device: inputs,
// and what a loop in double makes of them. The including test gives a `loss_launch`.
#ifndef TERN_TESTS_SUPPORT_LOSS_KERNEL_H
#define TERN_TESTS_SUPPORT_LOSS_KERNEL_H

#include <math.h>

#include "check.h"
#include "strided.h"

#define LOSS_MOST 40001

// Runs a kernel on these views of the host: forward with input < 0, else the gradient in an input.
typedef tern_status loss_launch(const void *context, const tern_loss_args *args, int input,
                                const tern_strided *y, const tern_strided *dloss);

typedef struct loss_arrays {
    double x[LOSS_MOST], t[LOSS_MOST], v[LOSS_MOST], weight[LOSS_MOST], dloss[LOSS_MOST];
    double y[LOSS_MOST]; // the result
} loss_arrays;

static loss_arrays loss_in;
static float loss_float[6][LOSS_MOST];

// Multiples of 2^-8, so exact in float32; v and weight are positive.
static inline void loss_fill(void)
{
    uint32_t random = 1;
    for (int i = 0; i < LOSS_MOST; i++) {
        double *const to[] = {&loss_in.x[i], &loss_in.t[i], &loss_in.dloss[i], &loss_in.v[i],
                              &loss_in.weight[i]};
        for (int k = 0; k < 5; k++) {
            random = random * 1664525u + 1013904223u;
            *to[k] = (double)(random >> 21) / 256 - 4;
            if (k > 2)
                *to[k] = fabs(*to[k]) + 0x1p-8;
        }
    }
    loss_in.x[3] = loss_in.t[3];
}

static inline double loss_value(const tern_loss_args *args, int i)
{
    const double d = loss_in.x[i] - loss_in.t[i], v = fmax(loss_in.v[i], args->a);
    const double value = args->code == TERN_LOSS_MSE  ? d * d
                         : args->code == TERN_LOSS_L1 ? fabs(d)
                                                      : (log(v) + d * d / v) / 2 + args->b;
    return args->weight ? value * loss_in.weight[i] : value;
}

static inline double loss_slope(const tern_loss_args *args, int input, int i)
{
    const double d = loss_in.x[i] - loss_in.t[i], v = fmax(loss_in.v[i], args->a);
    double slope = args->code == TERN_LOSS_MSE  ? 2 * d
                   : args->code == TERN_LOSS_L1 ? (d != 0 ? copysign(1, d) : 0)
                                                : d / v;
    if (input == 1)
        slope = -slope;
    if (input == 2)
        slope = 1 / (2 * v) - d * d / (2 * v * v);
    return args->weight ? slope * loss_in.weight[i] : slope;
}

static inline tern_strided loss_view(double *data, int which, tern_dtype dtype, int64_t n)
{
    if (dtype == TERN_FLOAT64)
        return VIEW(data, TERN_FLOAT64, n);
    for (int i = 0; i < n; i++)
        loss_float[which][i] = (float)data[i];
    return VIEW(loss_float[which], TERN_FLOAT32, n);
}

static inline double loss_result(tern_dtype dtype, int64_t i)
{
    return dtype == TERN_FLOAT64 ? loss_in.y[i] : (double)loss_float[5][i];
}

static inline void loss_assert(double actual, double expected, double magnitude, tern_dtype dtype)
{
    const double eps = dtype == TERN_FLOAT64 ? 0x1p-52 : 0x1p-23;
    if (!(fabs(actual - expected) <= 16 * eps * magnitude) && !(isnan(actual) && isnan(expected)))
        fail_msg("%.17g, expected %.17g", actual, expected);
}

static inline void loss_check_forward(loss_launch *launch, const void *context,
                                      const tern_loss_args *args, int64_t n)
{
    const tern_dtype dtype = args->x.dtype;
    const bool none = args->reduction == TERN_REDUCTION_NONE;
    const tern_strided y = loss_view(loss_in.y, 5, dtype, none ? n : 1);
    long double total = 0;
    double magnitude = 0;
    assert_int_equal(launch(context, args, -1, &y, NULL), TERN_OK);
    for (int i = 0; i < n; i++) {
        const double value = loss_value(args, i);
        total += (long double)value;
        magnitude += fabs(value);
        if (none)
            loss_assert(loss_result(dtype, i), value, 1 + fabs(value), dtype);
    }
    const double divisor = args->reduction == TERN_REDUCTION_SUM ? 1 : (double)n;
    if (!none)
        loss_assert(loss_result(dtype, 0), (double)total / divisor, magnitude / divisor, dtype);
}

static inline void loss_check_grad(loss_launch *launch, const void *context,
                                   const tern_loss_args *args, int64_t n)
{
    const tern_dtype dtype = args->x.dtype;
    const bool none = args->reduction == TERN_REDUCTION_NONE;
    const bool mean = !none && args->reduction != TERN_REDUCTION_SUM;
    const tern_strided dloss = loss_view(loss_in.dloss, 4, dtype, none ? n : 1);
    for (int input = 0; input < (args->v ? 3 : 2); input++) {
        const tern_strided dx = loss_view(loss_in.y, 5, dtype, n);
        assert_int_equal(launch(context, args, input, &dx, &dloss), TERN_OK);
        for (int i = 0; i < n; i++) {
            const double expected =
                loss_slope(args, input, i) * loss_in.dloss[none ? i : 0] / (mean ? (double)n : 1);
            // 1 / v and d^2 / v^2 nearly cancel where d^2 is nearly v
            const double share = input == 2 ? 1 / loss_in.v[i] / (mean ? (double)n : 1) : 0;
            loss_assert(loss_result(dtype, i), expected, fabs(expected) + 16 * share, dtype);
        }
    }
}

// Every loss, reduction and dtype, with weights and without, over lengths that fill no pack or
// chunk, and several chunks of work.
static inline void loss_check_all(loss_launch *launch, const void *context)
{
    const int64_t lengths[] = {0, 1, 7, 257, 16385, LOSS_MOST};
    const tern_loss_code codes[] = {TERN_LOSS_MSE, TERN_LOSS_L1, TERN_LOSS_GAUSSIAN_NLL};
    const tern_reduction reductions[] = {TERN_REDUCTION_MEAN, TERN_REDUCTION_SUM,
                                         TERN_REDUCTION_NONE};
    loss_fill();
    for (int k = 0; k < 3 * 3 * 2 * 2 * 6; k++) {
        const int64_t n = lengths[k % 6];
        const tern_dtype dtype = k / 6 % 2 ? TERN_FLOAT64 : TERN_FLOAT32;
        const tern_loss_code code = codes[k / 24 % 3];
        const tern_strided v = loss_view(loss_in.v, 2, dtype, n),
                           weight = loss_view(loss_in.weight, 3, dtype, n);
        const tern_loss_args args = {
            .code = code,
            .reduction = reductions[k / 72],
            .a = 0.25,
            .b = 0.5,
            .x = loss_view(loss_in.x, 0, dtype, n),
            .t = loss_view(loss_in.t, 1, dtype, n),
            .v = tern_loss_inputs(code) > 2 ? &v : NULL,
            .weight = k / 12 % 2 ? &weight : NULL,
        };
        loss_check_forward(launch, context, &args, n);
        loss_check_grad(launch, context, &args, n);
    }
}

// torch.nn.functional.gaussian_nll_loss(x, t, v, full=True, reduction='none') of torch 2.15 and the
// gradients of its sum.
static inline void loss_check_gaussian(loss_launch *launch, const void *context)
{
    static double x[] = {1, -0.5, 2, 0.25}, t[] = {0, 0.5, 2, -1}, v[] = {0, 2, 0.5, 1e-8};
    static double one[] = {1, 1, 1, 1}, y[4];
    static const double expected[4][4] = {
        {1000000, -0.5, 0, 1250000},
        {-1000000, 0.5, 0, -1250000},
        {-499999500000, 0.125, 1, -781249500000},
        {499994.01118325425, 1.5155121234846454, 0.5723649429247, 781244.0111832542},
    };
    const tern_strided vs = VIEW(v, TERN_FLOAT64, 4), to = VIEW(y, TERN_FLOAT64, 4),
                       ones = VIEW(one, TERN_FLOAT64, 4);
    const tern_loss_args args = {.code = TERN_LOSS_GAUSSIAN_NLL,
                                 .reduction = TERN_REDUCTION_NONE,
                                 .a = 1e-6,
                                 .b = log(2 * acos(-1)) / 2,
                                 .x = VIEW(x, TERN_FLOAT64, 4),
                                 .t = VIEW(t, TERN_FLOAT64, 4),
                                 .v = &vs};
    for (int input = 0; input < 4; input++) {
        assert_int_equal(launch(context, &args, input < 3 ? input : -1, &to, &ones), TERN_OK);
        for (int i = 0; i < 4; i++)
            loss_assert(y[i], expected[input][i], fabs(expected[input][i]), TERN_FLOAT64);
    }
}

// Runs a loss with negative variances at two elements; the fault record must then name the first.
static inline void loss_run_with_faults(loss_launch *launch, const void *context,
                                        tern_reduction reduction)
{
    loss_fill();
    loss_in.v[20000] = -1;
    loss_in.v[39000] = -2;
    const tern_strided v = VIEW(loss_in.v, TERN_FLOAT64, LOSS_MOST);
    const tern_loss_args args = {.code = TERN_LOSS_GAUSSIAN_NLL,
                                 .reduction = reduction,
                                 .a = 0.25,
                                 .x = VIEW(loss_in.x, TERN_FLOAT64, LOSS_MOST),
                                 .t = VIEW(loss_in.t, TERN_FLOAT64, LOSS_MOST),
                                 .v = &v};
    const int64_t n = reduction == TERN_REDUCTION_NONE ? LOSS_MOST : 1;
    const tern_strided y = VIEW(loss_in.y, TERN_FLOAT64, n);
    assert_int_equal(launch(context, &args, -1, &y, NULL), TERN_OK);
}

#endif
