// SPDX-License-Identifier: Apache-2.0
// Every allocation of a step fails in turn, every call of a move does, and memory really runs out:
// one clear error, nothing is lost, and what is smaller goes on with the bits of a run that never
// failed. Failures are injected into the simulated device.
#include "failing.h"

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
        if (call == TERN_SIM_MALLOC) // one alone is tried again
            sim.fail_from(call, n, code_for(call));
        else
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

static int backwards_of_linear;

// The operation first, its module last, and that once.
static void check_sentence(void)
{
    const char *sentence = tern_error_message(), *in = strstr(sentence, " [in ");
    assert_int_equal(tern_error_code(), TERN_ERR_NOMEM);
    if (strncmp(sentence, "backward of linear: ", 20) != 0)
        return;
    static const char *const layers[] = {
        " [in 0 (Linear(in_features=6, out_features=8, bias=True))]",
        " [in 2 (Linear(in_features=8, out_features=3, bias=True))]"};
    if (!in || (strcmp(in, layers[0]) != 0 && strcmp(in, layers[1]) != 0))
        fail_msg("\"%s\" does not name the layer", sentence);
    backwards_of_linear++;
}

// The weights after two steps, on the CPU; from the n-th on the allocations of the first attempt
// fail, 0: none does. False when there were not as many.
static bool train_with_failure(long n, tern_tensor **weight)
{
    tern_scope scope = tern_scope_open();
    tern_module *net = small_net();
    tern_optim *optim = tern_optim_adam(net, .lr = 0.05);
    tern_tensor *x = tern_to(small_input(8), here), *y = tern_to(small_labels(8), here);
    assert_non_null(tern_module_to(net, here));
    tern_tensor *parameter = tern_module_parameter(net, "0.weight");
    tern_tensor *copy = tern_clone(tern_detach(parameter));
    assert_int_equal(tern_cuda_empty_cache(here.index), TERN_OK);
    if (n)
        sim.fail_from(TERN_SIM_MALLOC, n, SIM_OUT_OF_MEMORY); // one alone is tried again
    const bool failed = failing_step(net, optim, x, y) != TERN_OK;
    sim.fail_none();
    if (failed) {
        check_sentence();
        tern_error_clear();
        check_same(parameter, copy, 0);
        assert_int_equal(failing_step(net, optim, x, y), TERN_OK);
    }
    assert_int_equal(failing_step(net, optim, x, y), TERN_OK);
    *weight = tern_scope_close_keep(scope, tern_to(tern_detach(parameter), tern_cpu(0)));
    tern_optim_free(optim);
    tern_module_free(net);
    return failed;
}

static void a_step_without_memory_changes_nothing_and_can_be_repeated(void **state)
{
    (void)state;
    tern_tensor *expected, *weight;
    const int64_t before = allocated();
    assert_false(train_with_failure(0, &expected));
    int failed = 0;
    while (train_with_failure(failed + 1, &weight)) {
        check_same(weight, expected, 0);
        assert_int_equal(allocated(), before);
        failed++;
        assert_true(failed < 100);
    }
    print_message("%d allocations failed\n", failed);
    const char *cache = getenv("TERN_CACHE"); // without one every tensor is asked of the device
    const bool cached = !cache || strcmp(cache, "0") != 0;
    assert_true(cached || failed > 20);
    assert_true(cached || backwards_of_linear > 0);
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
            (void)!tern_matmul(x, tern_zeros(tern_dims(8, 8), .device = here));
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

int main(int argc, char **argv)
{
    const int nothing = choose_failing_device(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_move_that_fails_leaves_everything_where_it_was),
        CHECK_TEST(a_step_without_memory_changes_nothing_and_can_be_repeated),
        CHECK_TEST(running_out_of_memory_names_what_has_it_and_a_smaller_step_goes_on),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
