// SPDX-License-Identifier: Apache-2.0
// The kernels of the pointwise losses on every instruction set: weights, third inputs and values
// that are refused.
#include "kernel_check.h"
#include "support/loss_kernel.h"

static tern_status launch(const void *context, const tern_loss_args *args, int input,
                          const tern_strided *y, const tern_strided *dloss)
{
    const tern_kernels *kernels = context;
    return input < 0 ? kernels->loss(&kernel_exec, args, y)
                     : kernels->loss_grad(&kernel_exec, args, input, y, dloss);
}

static void every_loss_is_what_a_loop_in_double_gives(void **state)
{
    (void)state;
    FOR_EACH_TABLE(kernels)
    loss_check_all(launch, kernels);
}

static void the_gaussian_loss_has_pytorchs_numbers(void **state)
{
    (void)state;
    FOR_EACH_TABLE(kernels)
    loss_check_gaussian(launch, kernels);
}

static void of_values_that_are_refused_the_first_is_named(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        FOR_EACH_TABLE(kernels)
        {
            kernel_fault = (tern_fault){0};
            loss_run_with_faults(launch, kernels, k ? TERN_REDUCTION_NONE : TERN_REDUCTION_MEAN);
            assert_int_equal(kernel_fault.set, 1);
            assert_int_equal(kernel_fault.location, 7);
            assert_int_equal(kernel_fault.element, 20000);
        }
    }
}

static void a_loss_that_does_not_exist_is_an_error(void **state)
{
    (void)state;
    float x[4] = {0};
    const tern_strided view = VIEW(x, TERN_FLOAT32, 4);
    const tern_loss_args args = {.code = (tern_loss_code)99, .x = view, .t = view};
    FOR_EACH_TABLE(kernels)
    {
        assert_int_not_equal(launch(kernels, &args, -1, &view, NULL), TERN_OK);
        assert_int_not_equal(launch(kernels, &args, 0, &view, &view), TERN_OK);
        tern_error_clear();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_loss_is_what_a_loop_in_double_gives),
        cmocka_unit_test(the_gaussian_loss_has_pytorchs_numbers),
        cmocka_unit_test(of_values_that_are_refused_the_first_is_named),
        cmocka_unit_test(a_loss_that_does_not_exist_is_an_error),
    };
    return cmocka_run_group_tests_name("loss_kernel", tests, kernel_setup, NULL);
}
