// SPDX-License-Identifier: Apache-2.0
// An MLP on Fashion-MNIST against PyTorch's losses and gradients, which make_mlp.py stored.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "golden_test.h"

static tern_dataset *train;

static int end_group(void **state)
{
    (void)state;
    tern_dataset_free(train);
    tern_shutdown();
    return tern_memory_live_bytes() != 0;
}

static tern_optim *make_optimizer(const char *name, tern_module *net)
{
    if (strcmp(name, "sgd") == 0)
        return tern_optim_sgd(net, .lr = 0.05, .momentum = 0.9, .nesterov = true,
                              .weight_decay = 1e-4);
    if (strcmp(name, "adam") == 0)
        return tern_optim_adam(net, .lr = 1e-3);
    if (strcmp(name, "adam_amsgrad") == 0)
        return tern_optim_adam(net, .lr = 1e-3, .weight_decay = 1e-4, .amsgrad = true);
    assert_string_equal(name, "adamw");
    return tern_optim_adamw(net, .lr = 1e-3, .weight_decay = 0.01);
}

static double sum_of(const double *value, int64_t count, bool squared)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += squared ? value[i] * value[i] : value[i];
    return sum;
}

static void check_gradient(const golden_case *c, tern_tensor *grad, double atol, double rtol)
{
    const char *name = golden_text(c, "name");
    const int64_t *at = golden_values(c, "at", TERN_INT64, 16);
    const double *expected = golden_values(c, "value", TERN_FLOAT64, 16);
    assert_fine();
    const double *value = tern_data(tern_to_dtype(grad, TERN_FLOAT64));
    int64_t count = tern_numel(grad);
    assert_near(name, -1, sqrt(sum_of(value, count, true)), golden_number(c, "norm", 0), atol,
                rtol);
    assert_near(name, -2, sum_of(value, count, false), golden_number(c, "sum", 0), atol, rtol);
    for (int k = 0; k < 16; k++)
        assert_near(name, at[k], value[at[k]], expected[k], atol, rtol);
}

// The stored gradients of this dtype.
static void check_gradients(tern_module *net, tern_dtype dtype)
{
    const golden_file *file = golden_read("mlp");
    const bool wide = dtype == TERN_FLOAT64;
    int checked = 0;
    for (int i = 0; i < file->count; i++) {
        const golden_case *c = &file->cases[i];
        if (strncmp(c->name, "gradients ", 10) != 0 ||
            golden_dtype(golden_text(c, "dtype")) != dtype)
            continue;
        check_gradient(c, tern_grad(tern_module_parameter(net, golden_text(c, "name"))),
                       wide ? 1e-12 : 1e-6, wide ? 1e-9 : 1e-5);
        checked++;
    }
    assert_int_equal(checked, tern_module_num_parameters(net));
}

// Trains as the script does. Checks the losses of `steps` steps; with `gradients` the gradients of
// the first step as well.
static void run(const golden_case *c, tern_dtype dtype, int steps, bool gradients)
{
    tern_manual_seed(0);
    tern_module *net = make_mlp();
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_loader *loader = tern_loader_new(train, .batch_size = 64, .shuffle = true);
    tern_module_to_dtype(net, dtype);
    const char *optimizer = golden_text(c, "optimizer");
    tern_optim *optim = make_optimizer(optimizer, net);
    const double *losses = dtype == TERN_FLOAT64 ? golden_values(c, "losses64", TERN_FLOAT64, 200)
                                                 : golden_values(c, "losses32", TERN_FLOAT64, 20);
    double rtol = dtype == TERN_FLOAT64 ? 1e-9 : 1e-5;
    tern_batch b;
    int step = 0;
    for (; step < steps && tern_loader_next(loader, &b); step++) {
        tern_tensor *x = tern_to_dtype(b.x, dtype);
        tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), b.y);
        tern_optim_zero_grad(optim);
        if (tern_backward(loss))
            break;
        assert_near(optimizer, step, tern_item(loss), losses[step], 0, rtol);
        if (gradients)
            check_gradients(net, dtype);
        if (tern_optim_step(optim))
            break;
    }
    assert_fine();
    assert_int_equal(step, steps);
    tern_optim_free(optim);
    tern_loader_free(loader);
    tern_module_free(criterion);
    tern_module_free(net);
}

static void gradients_of_the_first_float32_step_are_pytorchs(void **state)
{
    (void)state;
    run(golden_find("mlp", "run sgd"), TERN_FLOAT32, 1, true);
}

static void gradients_of_the_first_float64_step_are_pytorchs(void **state)
{
    (void)state;
    run(golden_find("mlp", "run sgd"), TERN_FLOAT64, 1, true);
}

static void twenty_float32_losses_are_pytorchs(void **state)
{
    run(*state, TERN_FLOAT32, 20, false);
}

static void two_hundred_float64_losses_are_pytorchs(void **state)
{
    run(*state, TERN_FLOAT64, 200, false);
}

#define RUNS 4

// Two tests for each optimizer.
static void add_runs(struct CMUnitTest *tests)
{
    static char names[2 * RUNS][96];
    static const char *const runs[RUNS] = {"run sgd", "run adam", "run adam_amsgrad", "run adamw"};
    for (int i = 0; i < RUNS; i++) {
        void *c = (void *)(uintptr_t)golden_find("mlp", runs[i]);
        snprintf(names[2 * i], sizeof names[0], "twenty_float32_losses_are_pytorchs: %s", runs[i]);
        snprintf(names[2 * i + 1], sizeof names[0], "two_hundred_float64_losses_are_pytorchs: %s",
                 runs[i]);
        tests[2 * i] = (struct CMUnitTest){names[2 * i], twenty_float32_losses_are_pytorchs, start,
                                           leaves_nothing, c};
        tests[2 * i + 1] = (struct CMUnitTest){
            names[2 * i + 1], two_hundred_float64_losses_are_pytorchs, start, leaves_nothing, c};
    }
}

int main(void)
{
    const char *home = getenv("TERN_TEST_DATA");
    if (!home || access(home, R_OK) != 0) {
        printf("skipped: no Fashion-MNIST in TERN_TEST_DATA (%s)\n", home ? home : "not set");
        return 77;
    }
    train = tern_data_mnist(home, TERN_TRAIN);
    if (!train)
        return tern_error_print(stderr);
    struct CMUnitTest tests[2 + 2 * RUNS] = {
        cmocka_unit_test_setup_teardown(gradients_of_the_first_float32_step_are_pytorchs, start,
                                        leaves_nothing),
        cmocka_unit_test_setup_teardown(gradients_of_the_first_float64_step_are_pytorchs, start,
                                        leaves_nothing),
    };
    add_runs(tests + 2);
    return cmocka_run_group_tests_name("MLP on Fashion-MNIST", tests, NULL, end_group);
}
