// SPDX-License-Identifier: Apache-2.0
// A device that runs out of memory, whose calls fail, or that breaks: one clear error, and nothing
// is lost. Failures are injected into the simulated device; running out of memory is real.
#include <time.h>
#include "devices/device_check.h"
#include "devices/sim.h"

static const enum tern_sim_call kinds[] = {
    TERN_SIM_MALLOC, TERN_SIM_HOST_ALLOC, TERN_SIM_MEMCPY,       TERN_SIM_LAUNCH,
    TERN_SIM_WAIT,   TERN_SIM_BLAS,       TERN_SIM_EVENT_CREATE, TERN_SIM_EVENT_RECORD};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int code_for(enum tern_sim_call call)
{
    if (call == TERN_SIM_MALLOC || call == TERN_SIM_HOST_ALLOC)
        return SIM_OUT_OF_MEMORY;
    return call == TERN_SIM_BLAS ? 13 : SIM_LAUNCH_FAILURE; // CUBLAS_STATUS_EXECUTION_FAILED
}

static int64_t allocated(void)
{
    tern_cuda_memory memory = {.allocated = -1};
    assert_int_equal(tern_cuda_get_memory(here.index, &memory), TERN_OK);
    return memory.allocated;
}

// ---- moves --------------------------------------------------------------------------------------

static void check_unmoved(tern_module *net, tern_tensor *copy, tern_device home)
{
    assert_true(is_on(tern_module_parameter(net, "0.weight"), home));
    assert_true(is_on(tern_module_parameter(net, "0.bias"), home));
    assert_true(is_on(tern_module_parameter(net, "2.weight"), home));
    assert_true(is_on(tern_module_parameter(net, "2.bias"), home));
    check_same(tern_module_parameter(net, "0.weight"), copy, 0);
}

// Fails each call of a kind in turn until a move goes through; how many were failed.
static int fail_moves(tern_module *net, enum tern_sim_call call, tern_device home, tern_device to)
{
    tern_tensor *copy = tern_clone(tern_detach(tern_module_parameter(net, "0.weight")));
    for (int n = 1; n < 100; n++) {
        assert_int_equal(tern_cuda_empty_cache(here.index), TERN_OK); // so that memory is asked for
        const int64_t before = allocated();
        sim.fail_nth(call, n, code_for(call));
        tern_module *moved = tern_module_to(net, to);
        sim.fail_none();
        if (moved) {
            assert_ptr_equal(tern_module_to(net, home), net);
            return n - 1;
        }
        assert_true(tern_error_pending());
        tern_error_clear();
        check_unmoved(net, copy, home);
        assert_int_equal(allocated(), before);
    }
    fail_msg("the move never went through");
    return 0;
}

static void a_move_that_fails_leaves_everything_where_it_was(void **state)
{
    (void)state;
    int failed = 0;
    tern_module *net = small_net();
    for (int i = 0; i < KINDS; i++)
        failed += fail_moves(net, kinds[i], tern_cpu(0), here);
    assert_non_null(tern_module_to(net, here));
    for (int i = 0; i < KINDS; i++)
        failed += fail_moves(net, kinds[i], here, tern_cpu(0));
    for (int i = 0; i < KINDS; i++)
        failed += have_two ? fail_moves(net, kinds[i], here, there) : 0;
    print_message("%d calls failed\n", failed);
    assert_true(failed > 10);
    tern_module_free(net);
}

// ---- steps --------------------------------------------------------------------------------------

static tern_status step(tern_module *net, tern_optim *optim, tern_tensor *x, tern_tensor *y)
{
    tern_scope scope = tern_scope_open();
    tern_optim_zero_grad(optim);
    tern_status status = tern_backward(tern_cross_entropy(tern_forward(net, x), y));
    if (!status)
        status = tern_optim_step(optim);
    if (!status)
        status = tern_synchronize(here);
    tern_scope_close(scope);
    return status;
}

// The bits of the weights after two steps without and with a failed attempt in between.
static void check_step_with(enum tern_sim_call call, int n, int *failed)
{
    tern_module *net = small_net();
    tern_optim *optim = tern_optim_adam(net, .lr = 0.05);
    tern_tensor *x = tern_to(small_input(8), here), *y = tern_to(small_labels(8), here);
    assert_non_null(tern_module_to(net, here));
    tern_tensor *weight = tern_module_parameter(net, "0.weight");
    tern_tensor *copy = tern_clone(tern_detach(weight));
    assert_int_equal(tern_cuda_empty_cache(here.index), TERN_OK);
    sim.fail_nth(call, n, code_for(call));
    tern_status status = step(net, optim, x, y);
    sim.fail_none();
    if (status) {
        tern_error_clear();
        check_same(weight, copy, 0);
        ++*failed;
        tern_optim_zero_grad(optim);
        assert_int_equal(step(net, optim, x, y), TERN_OK);
    } else {
        assert_false(tern_error_pending());
        *failed = -*failed - 1;
    }
    tern_optim_free(optim);
    tern_module_free(net);
}

static void a_step_without_memory_changes_nothing_and_can_be_repeated(void **state)
{
    (void)state;
    int total = 0;
    int failed = 0;
    for (int n = 1; failed >= 0 && n < 200; n++) {
        tern_scope scope = tern_scope_open();
        check_step_with(TERN_SIM_MALLOC, n, &failed);
        tern_scope_close(scope);
    }
    total = -failed - 1;
    print_message("%d allocations failed\n", total);
    assert_true(total > 0);
}

static void running_out_of_memory_names_what_has_it_and_a_smaller_step_goes_on(void **state)
{
    (void)state;
    assert_int_equal(tern_cuda_empty_cache(here.index), TERN_OK);
    sim.set_memory(here.index, (size_t)256 << 20);
    const int64_t before = allocated();
    int64_t rows = 1 << 20;
    tern_tensor *held = tern_zeros(tern_dims(8 << 20), .device = here); // 32 MiB
    assert_non_null(held);
    while (!tern_error_pending()) { // real doubling of a batch
        tern_scope scope = tern_scope_open();
        tern_tensor *x = tern_zeros(tern_dims(rows, 8), .device = here);
        if (x)
            (void)tern_matmul(x, tern_zeros(tern_dims(8, 8), .device = here));
        tern_scope_close(scope);
        rows *= 2;
        assert_true(rows < (int64_t)1 << 30);
    }
    assert_int_equal(tern_error_code(), TERN_ERR_NOMEM);
    const char *sentence = tern_error_message();
    static const char *const parts[] = {"no memory on cuda:0", "float32", "free", "MiB",
                                        "32.00 MiB"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(sentence, parts[i]))
            fail_msg("\"%s\" does not contain \"%s\"", sentence, parts[i]);
    tern_error_clear();
    assert_int_equal(allocated(), before + (32 << 20));
    assert_non_null(tern_zeros(tern_dims(rows / 16, 8), .device = here));
    sim.set_memory(here.index, (size_t)8 << 30);
}

// ---- a device that breaks -----------------------------------------------------------------------

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
        assert_int_equal(step(net, optim, x, y), TERN_OK);
        sim.break_device(here.index, final_codes[i]);
        const double start = seconds();
        for (int again = 0; again < 3; again++) {
            assert_int_not_equal(step(net, optim, x, y), TERN_OK);
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
        assert_true(seconds() - start < 20); // no hang
        if (have_two)
            assert_tensor(tern_add_scalar(tern_ones(tern_dims(2), .device = there), 1),
                          tern_dims(2), 2, 2);
        sim.break_device(here.index, 0);
    }
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    if (!nothing &&
        (kind != TERN_CUDA || !tern_zeros(tern_dims(1), .device = here) || !sim_begin())) {
        puts("skipped: failures are injected into the simulated device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_move_that_fails_leaves_everything_where_it_was),
        CHECK_TEST(a_step_without_memory_changes_nothing_and_can_be_repeated),
        CHECK_TEST(running_out_of_memory_names_what_has_it_and_a_smaller_step_goes_on),
        CHECK_TEST(a_broken_device_gives_errors_and_lets_everything_be_freed),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
