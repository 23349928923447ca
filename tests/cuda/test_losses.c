// SPDX-License-Identifier: Apache-2.0
// The kernels of the pointwise losses on a CUDA device: weights, third inputs and values that are
// refused.
#include "fault_check.h"
#include "support/instrumented.h"
#include "support/loss_kernel.h"
#include "mirror.h"

static mirror mirror_of_view(const tern_strided *view)
{
    const int64_t size = (int64_t)tern_dtype_size(view->dtype), numel = tern_strided_numel(view);
    return mirror_of(view->data, numel > 0 ? numel * size : size);
}

static tern_status launch(const void *context, const tern_loss_args *args, int input,
                          const tern_strided *y, const tern_strided *dloss)
{
    (void)context;
    const tern_strided *const views[] = {y, &args->x, &args->t, args->v, args->weight, dloss};
    tern_strided on[6];
    mirror mirrors[6];
    for (int i = 0; i < 6; i++) {
        if (views[i]) {
            mirrors[i] = mirror_of_view(views[i]);
            on[i] = there(&mirrors[i], *views[i]);
        }
    }
    tern_loss_args there_args = *args;
    there_args.x = on[1];
    there_args.t = on[2];
    there_args.v = args->v ? &on[3] : NULL;
    there_args.weight = args->weight ? &on[4] : NULL;
    const tern_status status =
        input < 0 ? plugin.kernels->loss(&exec, &there_args, &on[0])
                  : plugin.kernels->loss_grad(&exec, &there_args, input, &on[0], &on[5]);
    for (int i = 0; i < 6; i++)
        if (views[i])
            mirror_end(&mirrors[i]);
    return status;
}

static void every_loss_is_what_a_loop_in_double_gives(void **state)
{
    (void)state;
    loss_check_all(launch, NULL);
}

static void the_gaussian_loss_has_pytorchs_numbers(void **state)
{
    (void)state;
    loss_check_gaussian(launch, NULL);
}

static void of_values_that_are_refused_the_first_is_named(void **state)
{
    (void)state;
    loss_run_with_faults(launch, NULL, TERN_REDUCTION_MEAN);
    expect_fault(SITE, 20000, 0);
    plugin.device->fault_clear(0);
    loss_run_with_faults(launch, NULL, TERN_REDUCTION_NONE);
    expect_fault(SITE, 20000, 0);
}

static void a_loss_that_does_not_exist_is_an_error(void **state)
{
    (void)state;
    if (INSTRUMENTED) // C++ has no such value of the enumeration, and UBSan says so
        skip();
    float x[4] = {0};
    const tern_strided view = VIEW(x, TERN_FLOAT32, 4);
    const tern_loss_args args = {.code = (tern_loss_code)99, .x = view, .t = view};
    assert_int_not_equal(launch(NULL, &args, -1, &view, NULL), TERN_OK);
    tern_error_clear();
    assert_int_not_equal(launch(NULL, &args, 0, &view, &view), TERN_OK);
    tern_error_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_loss_is_what_a_loop_in_double_gives, clean_fault),
        cmocka_unit_test_setup(the_gaussian_loss_has_pytorchs_numbers, clean_fault),
        cmocka_unit_test_setup(of_values_that_are_refused_the_first_is_named, clean_fault),
        cmocka_unit_test_setup(a_loss_that_does_not_exist_is_an_error, clean_fault),
    };
    return cmocka_run_group_tests_name("losses", tests, open_devices, NULL);
}
