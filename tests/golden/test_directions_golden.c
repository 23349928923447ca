// SPDX-License-Identifier: Apache-2.0
// Optimizers whose directions operations make, against PyTorch's in float32, step by step.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden_optim.h"
#include "golden_test.h"

#define STEPS      20
#define MOST_NUMEL 512

static tern_device device;

static tern_shape shape_of(const golden_case *c)
{
    double sizes[TERN_MAX_RANK];
    tern_shape shape = {.rank = golden_numbers(c, "shape", sizes, TERN_MAX_RANK)};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = (int64_t)sizes[i];
    return shape;
}

static bool is_muon(const golden_case *c)
{
    return strcmp(golden_text(c, "optimizer"), "Muon") == 0;
}

// PyTorch's iterations, unlike those of golden_optim.h, are in bfloat16.
static tern_optim *make(const golden_case *c, tern_tensor *p)
{
    tern_optim *optim = golden_optim(c, &p, 1);
    if (is_muon(c))
        assert_int_equal(tern_optim_set(optim, 0, "ns_dtype", TERN_BFLOAT16), TERN_OK);
    return optim;
}

static void step(tern_optim *optim, tern_tensor *p, const float *gradient)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *g = tern_from_data(tern_shape_of(p), gradient, .device = device);
    tern_optim_zero_grad(optim);
    assert_int_equal(tern_backward(tern_sum_all(tern_mul(p, g))), TERN_OK);
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    tern_scope_close(scope);
}

// What a step of Muon moved a parameter by, as PyTorch's direction was: within two units in the
// last place of bfloat16 of a number below 1, over the rate, and the roundings of the parameter.
static double tolerance(const golden_case *c, tern_optim *optim, const tern_shape *shape)
{
    if (!is_muon(c))
        return 0;
    const double lr = tern_optim_lr(optim, 0), kind = golden_number(c, "adjust_lr_fn", 0);
    const double rows = (double)shape->dim[0], columns = (double)shape->dim[1];
    const double adjust = kind == 0   ? sqrt(fmax(1, rows / columns))
                          : kind == 1 ? 0.2 * sqrt(fmax(rows, columns))
                                      : sqrt(rows / columns);
    return lr * adjust * 2 * 0x1p-8 + 1e-6;
}

static void steps_are_pytorchs(void **state)
{
    const golden_case *c = *state;
    const tern_shape shape = shape_of(c);
    float values[MOST_NUMEL], before[MOST_NUMEL];
    tern_scope scope = tern_scope_open();
    int64_t numel = 1;
    for (int i = 0; i < shape.rank; i++)
        numel *= shape.dim[i];
    const float *first = golden_values(c, "start", TERN_FLOAT32, numel);
    tern_tensor *p = tern_from_data(shape, first, .device = device, .requires_grad = true);
    const float *gradients = golden_values(c, "gradients", TERN_FLOAT32, STEPS * numel);
    const float *after = golden_values(c, "after", TERN_FLOAT32, STEPS * numel);
    tern_optim *optim = make(c, p);
    const double atol = tolerance(c, optim, &shape);
    memcpy(before, first, sizeof(float) * (size_t)numel);
    for (int t = 0; t < STEPS; t++) {
        const float *was = t == 0 ? first : after + (t - 1) * numel, *is = after + t * numel;
        step(optim, p, gradients + t * numel);
        assert_int_equal(tern_to_host(p, values, sizeof(float) * (size_t)numel), TERN_OK);
        for (int64_t i = 0; i < numel; i++) {
            if (is_muon(c)) // each step by itself: differences of the steps before add up
                assert_near("move", i, (double)values[i] - (double)before[i],
                            (double)is[i] - (double)was[i], atol, 0);
            else
                assert_near("parameter", i, (double)values[i], (double)is[i], 1e-6, 1e-5);
        }
        memcpy(before, values, sizeof(float) * (size_t)numel);
    }
    tern_optim_free(optim);
    tern_scope_close(scope);
}

int main(int argc, char **argv)
{
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu", &device))
        return tern_error_print(stderr);
    return golden_run("directions", steps_are_pytorchs);
}
