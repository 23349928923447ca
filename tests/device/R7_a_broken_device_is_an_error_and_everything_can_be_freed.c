// SPDX-License-Identifier: Apache-2.0
// After each of the errors that are final for a device, every call that uses it is an error, none
// hangs, everything can be freed, and other devices go on. The errors are injected.
#include "failing.h"

// Errors after which a CUDA device does nothing more in this process.
static const int final_codes[] = {46, 214, 220, 221, 700, 709, 710, 714, 715, 716, 717, 718, 719};

static void a_broken_device_gives_errors_and_lets_everything_be_freed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof final_codes / sizeof *final_codes; i++) {
        tern_module *net = small_net();
        tern_optim *optim = tern_optim_adam(net);
        assert_non_null(tern_module_to(net, here));
        tern_tensor *x = tern_to(small_input(8), here), *y = tern_to(small_labels(8), here);
        assert_int_equal(failing_step(net, optim, x, y), TERN_OK);
        sim.break_device(here.index, final_codes[i]);
        for (int again = 0; again < 3; again++) {
            assert_int_not_equal(failing_step(net, optim, x, y), TERN_OK);
            assert_int_equal(tern_error_code(), TERN_ERR_DEVICE);
            assert_true(strstr(tern_error_message(), "CUDA") ||
                        strstr(tern_error_message(), "cuBLAS"));
            tern_error_clear();
            assert_true(isnan(tern_item(tern_sum(x, TERN_ALL_AXES, false))));
            tern_error_clear();
            assert_null(tern_module_to(net, tern_cpu(0)));
            tern_error_clear();
        }
        tern_optim_free(optim);
        tern_module_free(net);
        if (have_two)
            assert_tensor(tern_add_scalar(tern_ones(tern_dims(2), .device = there), 1),
                          tern_dims(2), 2, 2);
        sim.break_device(here.index, 0);
    }
}

int main(int argc, char **argv)
{
    const int nothing = choose_failing_device(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_broken_device_gives_errors_and_lets_everything_be_freed),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
