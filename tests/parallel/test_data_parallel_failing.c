// SPDX-License-Identifier: Apache-2.0
// Data parallel where devices fail: one sentence, parameters and optimizer as before, and the next
// step has the bits of a run that never failed. Failures are injected into simulated devices.
#include "device/failing.h"
#include "parallel_check.h"

#define ROWS 16

typedef struct run {
    tern_module *net, *parallel, *criterion;
    tern_optim *optim;
    tern_tensor *x, *y;
} run;

static run run_new(void)
{
    run r = {.net = tern_module_to(small_net(), devices[0])};
    r.parallel = parallel_of(r.net, device_count);
    r.criterion = tern_nn_cross_entropy_loss();
    r.optim = tern_optim_adam(r.parallel, .lr = 0.05);
    r.x = tern_to(small_input(ROWS), devices[0]);
    r.y = tern_to(small_labels(ROWS), devices[0]);
    return r;
}

static void run_free(run *r)
{
    tern_optim_free(r->optim);
    tern_module_free(r->criterion);
    tern_module_free(r->parallel);
    tern_module_free(r->net);
}

static tern_status wait_for_all(void)
{
    for (int i = 0; i < device_count; i++)
        if (tern_synchronize(devices[i]))
            return tern_error_code();
    return TERN_OK;
}

static tern_status step(run *r)
{
    tern_status status = train_step(r->parallel, r->optim, r->x, r->y);
    return status ? status : wait_for_all();
}

static void empty_caches(void)
{
    assert_int_equal(wait_for_all(), TERN_OK);
    for (int i = 0; i < device_count; i++)
        assert_int_equal(tern_cuda_empty_cache(i), TERN_OK);
}

static int64_t allocated(void)
{
    int64_t sum = 0;
    for (int i = 0; i < device_count; i++) {
        tern_cuda_memory memory = {.allocated = -1};
        assert_int_equal(tern_cuda_get_memory(i, &memory), TERN_OK);
        sum += memory.allocated;
    }
    return sum;
}

static tern_tensor *copy_of(tern_module *net, const char *name)
{
    return tern_to(tern_detach(tern_module_parameter(net, name)), tern_cpu(0));
}

// The weights after three steps, of which the n-th allocation of the second and all later ones
// failed at the first try; 0: none. False when there were not as many.
static bool train_with_failure(long n, tern_tensor **weight)
{
    tern_scope scope = tern_scope_open();
    run r = run_new();
    assert_int_equal(step(&r), TERN_OK);
    tern_tensor *before = copy_of(r.net, "0.weight");
    empty_caches();
    if (n)
        sim.fail_from(TERN_SIM_MALLOC, n, SIM_OUT_OF_MEMORY);
    const bool failed = step(&r) != TERN_OK;
    sim.fail_none();
    if (failed) {
        assert_int_equal(tern_error_code(), TERN_ERR_NOMEM);
        assert_non_null(strstr(tern_error_message(), "no memory"));
        assert_non_null(strstr(tern_error_message(), "cuda:"));
        tern_error_clear();
        check_same(tern_module_parameter(r.net, "0.weight"), before, 0);
        assert_int_equal(step(&r), TERN_OK);
    }
    assert_int_equal(step(&r), TERN_OK);
    *weight = tern_scope_close_keep(scope, copy_of(r.net, "0.weight"));
    run_free(&r);
    return failed;
}

static void an_allocation_that_fails_changes_nothing(void **state)
{
    (void)state;
    tern_tensor *expected, *weight;
    int failed = 0;
    assert_false(train_with_failure(0, &expected));
    const int64_t before = allocated();
    while (train_with_failure(failed + 1, &weight)) {
        check_same(weight, expected, 0);
        assert_int_equal(allocated(), before);
        failed++;
        assert_true(failed < 400);
    }
    print_message("%d allocations failed\n", failed);
    const char *cache = getenv("TERN_CACHE"); // without one every tensor is asked of the device
    assert_true(!cache || strcmp(cache, "0") != 0 || failed > 40);
}

// ---- memory that runs out on one device ---------------------------------------------------------

#define WIDE 4096 // 4096 x 6 floats: 96 KiB

static void the_device_without_memory_is_named(void **state)
{
    (void)state;
    const int full = device_count - 1;
    tern_module *net = tern_module_to(tern_nn_linear(6, WIDE), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    tern_tensor *x = tern_to(small_input(ROWS), devices[0]), *expected = tern_forward(net, x);
    empty_caches();
    tern_cuda_memory memory;
    assert_int_equal(tern_cuda_get_memory(full, &memory), TERN_OK);
    sim.set_memory(full, (size_t)memory.reserved); // no more than it has
    const bool fits = tern_forward(parallel, x) != NULL;
    char name[24];
    snprintf(name, sizeof name, "cuda:%d", full);
    if (!fits)
        assert_non_null(strstr(tern_error_message(), name));
    assert_false(fits);
    assert_int_equal(tern_error_code(), TERN_ERR_NOMEM);
    print_message("%s\n", tern_error_message());
    tern_error_clear();
    sim.set_memory(full, (size_t)1 << 30);
    check_same(tern_forward(parallel, x), expected, 0);
    tern_module_free(parallel);
    tern_module_free(net);
}

// ---- other calls --------------------------------------------------------------------------------

static const enum tern_sim_call kinds[] = {TERN_SIM_MEMCPY, TERN_SIM_LAUNCH, TERN_SIM_BLAS,
                                           TERN_SIM_EVENT_CREATE, TERN_SIM_EVENT_RECORD};

static int fail_forwards(run *r, enum tern_sim_call call, tern_tensor *expected)
{
    for (int n = 1; n < 200; n++) {
        tern_scope scope = tern_scope_open();
        tern_no_grad {
            (void)!tern_mul_scalar_(tern_module_parameter(r->net, "0.weight"), 1); // to be sent
        }
        const long before = sim.calls(call);
        sim.fail_nth(call, n, call == TERN_SIM_BLAS ? 13 : SIM_LAUNCH_FAILURE);
        tern_tensor *y = tern_forward(r->parallel, r->x);
        const bool reached = sim.calls(call) - before >= n;
        sim.fail_none();
        if (y)
            check_same(y, expected, 0);
        else
            assert_true(tern_error_pending());
        tern_error_clear();
        assert_non_null(y = tern_forward(r->parallel, r->x));
        check_same(y, expected, 0);
        tern_scope_close(scope);
        if (!reached)
            return n - 1;
    }
    fail_msg("a forward never went through");
    return 0;
}

static void a_call_of_cuda_that_fails_is_an_error_and_the_next_forward_is_right(void **state)
{
    (void)state;
    run r = run_new();
    tern_tensor *expected = tern_detach(tern_forward(r.parallel, r.x));
    int failed = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        failed += fail_forwards(&r, kinds[i], expected);
    print_message("%d calls failed\n", failed);
    run_free(&r);
}

int main(int argc, char **argv)
{
    const int nothing = choose_failing_device(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(an_allocation_that_fails_changes_nothing),
        CHECK_TEST(the_device_without_memory_is_named),
        CHECK_TEST(a_call_of_cuda_that_fails_is_an_error_and_the_next_forward_is_right),
    };
    if (nothing)
        return nothing;
    assert_int_equal(choose_parallel_devices(argc, argv), 0);
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
