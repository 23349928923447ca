// SPDX-License-Identifier: Apache-2.0
// What the tests of convolution kernels share: a loop over all pairs that meet, and the comparison
// of every instruction set's kernels with it.
#ifndef TERN_TESTS_CPU_CONV_CHECK_H
#define TERN_TESTS_CPU_CONV_CHECK_H

#include "kernel_check.h"

#include <float.h>

enum { MOST = 6000, SHAPES = 150, BIASES = 128 };

// Sums, and those of absolute values, by which rounding errors are measured.
typedef struct sums {
    double value[MOST], magnitude[MOST];
} sums;

static double x[MOST], weight[MOST], y[MOST], bias[BIASES];
static sums expected_x, expected_weight, expected_y;
static _Alignas(64) unsigned char memory[4][(MOST + 1) * 8];

static tern_conv_args shape_of(const int64_t *in, const int64_t *kernel)
{
    tern_conv_args a = {.groups = 1};
    for (int d = 0; d < 3; d++) {
        a.stride[d] = a.dilation[d] = 1;
        a.x.size[d + 2] = in[d];
        a.weight.size[d + 2] = kernel[d];
    }
    return a;
}

static void settle(tern_strided *view, void *data, tern_dtype dtype)
{
    int64_t stride = 1;
    view->data = data;
    view->dtype = dtype;
    view->rank = 5;
    for (int d = 4; d >= 0; d--) {
        view->stride[d] = stride;
        stride *= view->size[d];
    }
}

// The sizes of y, where there is a convolution that is not too large.
static bool make_result(tern_conv_args *a)
{
    for (int d = 0; d < 3; d++) {
        const int64_t behind = random_below(2) ? a->padding[d] : random_below(3);
        const int64_t reach = a->dilation[d] * (a->weight.size[d + 2] - 1);
        const int64_t room = a->x.size[d + 2] + a->padding[d] + behind - reach - 1;
        if (room < 0)
            return false;
        a->y.size[d + 2] = room / a->stride[d] + 1;
    }
    a->x.rank = a->y.rank = a->weight.rank = 5;
    return tern_strided_numel(&a->x) <= MOST && tern_strided_numel(&a->y) <= MOST &&
           tern_strided_numel(&a->weight) <= MOST;
}

static void unpack(int64_t i, const tern_strided *view, int64_t *index)
{
    for (int d = 4; d >= 0; d--) {
        index[d] = i % view->size[d];
        i /= view->size[d];
    }
}

static void add_term(sums *to, int64_t at, double term)
{
    to->value[at] += term;
    to->magnitude[at] += fabs(term);
}

// What one element of y and one of a filter add: they meet in one element of x, or outside.
static void add_pair(const tern_conv_args *a, int64_t out, int64_t tap)
{
    int64_t o[5], t[5], at = 0;
    unpack(out, &a->y, o);
    unpack(tap, &a->weight, t);
    const int64_t each = a->weight.size[0] / a->groups;
    if (t[0] != o[1])
        return;
    at = o[0] * a->x.size[1] + o[1] / each * a->weight.size[1] + t[1];
    for (int d = 0; d < 3; d++) {
        const int64_t i = o[d + 2] * a->stride[d] - a->padding[d] + t[d + 2] * a->dilation[d];
        if (i < 0 || i >= a->x.size[d + 2])
            return;
        at = at * a->x.size[d + 2] + i;
    }
    add_term(&expected_y, out, x[at] * weight[tap]);
    add_term(&expected_x, at, y[out] * weight[tap]);
    add_term(&expected_weight, tap, x[at] * y[out]);
}

static void expect(const tern_conv_args *a)
{
    memset(&expected_x, 0, sizeof expected_x);
    memset(&expected_weight, 0, sizeof expected_weight);
    memset(&expected_y, 0, sizeof expected_y);
    const int64_t filter = tern_strided_numel(&a->weight) / a->weight.size[0];
    int64_t o[5];
    for (int64_t out = 0; out < tern_strided_numel(&a->y); out++) {
        unpack(out, &a->y, o);
        for (int64_t i = 0; i < filter; i++)
            add_pair(a, out, o[1] * filter + i);
    }
}

static void put(void *to, tern_dtype dtype, const double *from, int64_t count)
{
    for (int64_t i = 0; i <= count; i++) { // one more, which must stay
        if (dtype == TERN_FLOAT64)
            ((double *)to)[i] = from[i % MOST];
        else
            ((float *)to)[i] = (float)from[i % MOST];
    }
}

static double get(const void *from, tern_dtype dtype, int64_t i)
{
    return dtype == TERN_FLOAT64 ? ((const double *)from)[i] : ((const float *)from)[i];
}

// base[i] (or 0) + bias of its channel (or 0) + the sum, relu applied when asked.
static void compare(const tern_kernels *kernels, const tern_conv_args *a, const tern_strided *got,
                    const sums *want, const double *base, int64_t behind)
{
    const double unit = got->dtype == TERN_FLOAT64 ? DBL_EPSILON : FLT_EPSILON;
    const int64_t count = tern_strided_numel(got);
    int64_t index[5];
    for (int64_t i = 0; i < count; i++) {
        unpack(i, got, index);
        const double first = a->accumulate ? base[i] : a->bias ? bias[index[1]] : 0;
        double value = first + want->value[i];
        const double magnitude = fabs(first) + want->magnitude[i];
        if (a->relu && value < 0)
            value = 0;
        assert_within(get(got->data, got->dtype, i), value, unit * (16 * magnitude + 1e-6),
                      kernels);
    }
    assert_true(get(got->data, got->dtype, count) ==
                base[behind % MOST]); // nothing behind is written
}

static void check_all(const tern_kernels *kernels, tern_conv_args *a, tern_dtype dtype, bool plain)
{
    const int64_t nx = tern_strided_numel(&a->x), ny = tern_strided_numel(&a->y);
    const int64_t nw = tern_strided_numel(&a->weight);
    const tern_strided bias_view = VIEW(memory[3], dtype, BIASES);
    put(memory[3], dtype, bias, BIASES - 1);
    settle(&a->x, memory[0], dtype);
    settle(&a->y, memory[1], dtype);
    settle(&a->weight, memory[2], dtype);
    a->accumulate = !plain;
    a->bias = plain ? &bias_view : NULL;
    a->relu = plain && (a->stride[2] == 1 || a->stride[2] == a->weight.size[4]);
    for (int kernel = 0; kernel < 3; kernel++) {
        put(memory[0], dtype, x, nx);
        put(memory[1], dtype, y, ny);
        put(memory[2], dtype, weight, nw);
        if (kernel == 0) {
            assert_int_equal(kernels->conv(&kernel_exec, a), TERN_OK);
            compare(kernels, a, &a->y, &expected_y, y, ny);
        } else if (kernel == 1) {
            assert_int_equal(kernels->conv_grad_input(&kernel_exec, a), TERN_OK);
            compare(kernels, a, &a->x, &expected_x, x, nx);
        } else {
            a->bias = NULL;
            a->relu = false;
            assert_int_equal(kernels->conv_grad_weight(&kernel_exec, a), TERN_OK);
            compare(kernels, a, &a->weight, &expected_weight, weight, nw);
        }
    }
}

static void fill_inputs(void)
{
    for (int64_t i = 0; i < MOST; i++) {
        x[i] = random_value();
        weight[i] = random_value();
        y[i] = random_value();
    }
    for (int i = 0; i < BIASES; i++)
        bias[i] = random_value();
}

static void check_shapes(bool (*make)(tern_conv_args *a))
{
    fill_inputs();
    for (int shape = 0; shape < SHAPES;) {
        tern_conv_args a;
        if (!make(&a))
            continue;
        settle(&a.x, x, TERN_FLOAT64); // for the strides
        expect(&a);
        FOR_EACH_TABLE(kernels)
        {
            check_all(kernels, &a, TERN_FLOAT32, shape % 2 == 0);
            check_all(kernels, &a, shape % 3 ? TERN_FLOAT32 : TERN_FLOAT64, shape % 2 != 0);
        }
        shape++;
    }
}

static float *numbers(int64_t count, int step)
{
    float *to = malloc((size_t)count * sizeof *to);
    for (int64_t i = 0; i < count; i++)
        to[i] = (float)(i * step % 17 - 8);
    return to;
}

#endif
