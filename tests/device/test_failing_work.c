// SPDX-License-Identifier: Apache-2.0
// Where one call of CUDA fails: a replay is no step, an update is made or not, a load is whole or
// not there, a copy is over. Failures are injected into the simulated device.
#include "failing.h"
#include "cuda/graph_check.h"

static int64_t count_of(const run *r)
{
    return tern_optim_step_count(r->optim, 0);
}

static tern_tensor *weight_of(const run *r)
{
    return tern_to(tern_detach(tern_module_parameter(r->net, "0.weight")), tern_cpu(0));
}

// Everything a replay does before its launch, and the launch, fail in turn.
static void a_replay_that_fails_is_no_step(void **state)
{
    (void)state;
    static const enum tern_sim_call kinds[] = {TERN_SIM_GRAPH_LAUNCH, TERN_SIM_MEMCPY,
                                               TERN_SIM_LAUNCH};
    pair p = pair_new();
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, plain_step);
    int failed = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pair_fill(&p, (int)i);
        tern_tensor *before = weight_of(&p.graph);
        const int64_t count = count_of(&p.graph);
        sim.fail_nth(kinds[i], 1, SIM_LAUNCH_FAILURE);
        const tern_status status = tern_cuda_graph_replay(graph);
        sim.fail_none();
        if (status) {
            failed++;
            assert_error(TERN_ERR_DEVICE, "cudaErrorLaunchFailure");
            assert_int_equal(count_of(&p.graph), count);
            check_same(weight_of(&p.graph), before, 0);
            replay(graph);
        }
        assert_no_error();
        assert_int_equal(plain_step(&p.eager), TERN_OK);
        check_same_runs(&p.eager, &p.graph);
    }
    assert_true(failed >= 2);
    pair_free(&p, graph);
}

// A captured step of two optimizers, or twice of one: the counts of all go back.
static tern_status two_steps(run *r)
{
    tern_status status = plain_step(r);
    return status ? status : plain_step(r);
}

static void two_captured_steps_are_both_taken_back(void **state)
{
    (void)state;
    pair p = pair_new();
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, two_steps);
    pair_fill(&p, 1);
    sim.fail_nth(TERN_SIM_GRAPH_LAUNCH, 1, SIM_LAUNCH_FAILURE);
    assert_int_equal(tern_cuda_graph_replay(graph), TERN_ERR_DEVICE);
    sim.fail_none();
    tern_error_clear();
    assert_int_equal(count_of(&p.graph), WARM);
    replay(graph);
    assert_int_equal(two_steps(&p.eager), TERN_OK);
    assert_int_equal(count_of(&p.graph), WARM + 2);
    check_same_runs(&p.eager, &p.graph);
    pair_free(&p, graph);
}

// ---- dropout's numbers --------------------------------------------------------------------------

// Losses of steps with dropout, of which each launch of the first update failed once, or none.
static int losses_with_failing_updates(bool failing, float *losses, int count)
{
    run r = run_new();
    warm_up(&r);
    int failed = 0;
    for (int i = 0; i < count; i++) {
        fill_batch(&r, i);
        assert_int_equal(zero_and_learn(&r), TERN_OK);
        tern_tensor *before = weight_of(&r);
        if (failing)
            sim.fail_nth(TERN_SIM_LAUNCH, i + 1, SIM_LAUNCH_FAILURE);
        const tern_status status = update(&r);
        sim.fail_none();
        if (status) {
            failed++;
            assert_error(TERN_ERR_DEVICE, "cudaErrorLaunchFailure");
            check_same(weight_of(&r), before, 0);
            assert_int_equal(count_of(&r), WARM + i);
            assert_int_equal(update(&r), TERN_OK);
        }
        assert_no_error();
        losses[i] = loss_of(&r);
    }
    run_free(&r);
    return failed;
}

static void an_update_whose_launches_fail_is_made_or_not_and_dropout_goes_on(void **state)
{
    (void)state;
    float expected[4], losses[4];
    assert_int_equal(losses_with_failing_updates(false, expected, 4), 0);
    assert_true(losses_with_failing_updates(true, losses, 4) >= 2);
    assert_memory_equal(losses, expected, sizeof losses);
}

static float dropped(void)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_arange(0, 512, 1, .device = here);
    const double sum = tern_item(
        tern_sum(tern_dropout(tern_to_dtype(x, TERN_FLOAT32), 0.5, true), TERN_ALL_AXES, false));
    tern_scope_close(scope);
    return (float)sum;
}

static void a_seed_that_a_device_does_not_take_is_an_error(void **state)
{
    (void)state;
    unsigned char saved[8192];
    tern_generator *generator = tern_default_generator(here);
    tern_manual_seed(9);
    const float first = dropped(), second = dropped();
    tern_manual_seed(9);
    assert_near(dropped(), first, 0, 0);
    assert_true(tern_generator_state_size() <= sizeof saved);
    assert_int_equal(tern_generator_save(generator, saved, sizeof saved), TERN_OK);
    sim.fail_from(TERN_SIM_LAUNCH, 1, SIM_LAUNCH_FAILURE);
    tern_cuda_manual_seed(1);
    assert_error(TERN_ERR_DEVICE, "cudaErrorLaunchFailure");
    assert_int_equal(tern_generator_load(generator, saved, sizeof saved), TERN_ERR_DEVICE);
    sim.fail_none();
    tern_error_clear();
    assert_near(dropped(), second, 0, 0);
    assert_int_equal(tern_generator_load(generator, saved, sizeof saved), TERN_OK);
    assert_near(dropped(), second, 0, 0);
}

// ---- loads --------------------------------------------------------------------------------------

static tern_module *filled_net(double value)
{
    tern_module *net = small_net();
    assert_non_null(tern_module_to(net, here));
    tern_no_grad {
        for (int64_t i = 0; i < tern_module_num_parameters(net); i++)
            (void)!tern_fill_(tern_module_parameter_at(net, i, NULL, 0), value);
    }
    return net;
}

static void check_filled(tern_module *net, double value)
{
    for (int64_t i = 0; i < tern_module_num_parameters(net); i++) {
        tern_tensor *p = tern_detach(tern_module_parameter_at(net, i, NULL, 0));
        assert_near(tern_item(tern_amin(p, TERN_ALL_AXES, false)), value, 0, 0);
        assert_near(tern_item(tern_amax(p, TERN_ALL_AXES, false)), value, 0, 0);
    }
}

// The state is on the CPU or beside the net, of its dtype or of another one.
static int fail_loads(enum tern_sim_call call, tern_device device, tern_dtype dtype)
{
    tern_module *net = filled_net(1), *other = small_net();
    assert_non_null(tern_module_to_dtype(other, dtype));
    assert_non_null(tern_module_to(other, device));
    tern_no_grad {
        for (int64_t i = 0; i < tern_module_num_parameters(other); i++)
            (void)!tern_fill_(tern_module_parameter_at(other, i, NULL, 0), 2);
    }
    tern_state *state = tern_module_state_dict(other);
    assert_int_equal(tern_synchronize(here), TERN_OK);
    int failed = 0;
    for (tern_status status = TERN_ERR_DEVICE; status;) {
        sim.fail_nth(call, failed + 1, SIM_LAUNCH_FAILURE);
        status = tern_module_load_state_dict(net, state);
        sim.fail_none();
        if (status)
            assert_error(TERN_ERR_DEVICE, "cudaErrorLaunchFailure");
        assert_no_error();
        check_filled(net, status ? 1 : 2);
        failed += status != TERN_OK;
        assert_true(failed < 100);
    }
    tern_state_free(state);
    tern_module_free(net);
    tern_module_free(other);
    return failed;
}

static void a_load_that_fails_in_the_middle_leaves_all_as_it_was(void **state)
{
    (void)state;
    static const enum tern_sim_call kinds[] = {TERN_SIM_MEMCPY, TERN_SIM_LAUNCH, TERN_SIM_WAIT};
    int failed = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        failed += fail_loads(kinds[i], tern_cpu(0), TERN_FLOAT32);
        failed += fail_loads(kinds[i], here, TERN_FLOAT32);
        failed += fail_loads(kinds[i], here, TERN_FLOAT64);
    }
    print_message("%d calls failed\n", failed);
    assert_true(failed > 20);
}

// ---- copies -------------------------------------------------------------------------------------

static tern_tensor *filled(double value, tern_device device)
{
    return tern_full(tern_dims(1000), value, .device = device);
}

// The numbers are copied by the first call of CUDA and the fault record by the second; then the
// destination waits for both. What fails frees the memory that the first writes to.
static void a_copy_between_devices_that_fails_writes_nothing_afterwards(void **state)
{
    (void)state;
    static const enum tern_sim_call kinds[] = {TERN_SIM_MEMCPY, TERN_SIM_EVENT_RECORD};
    NEEDS_TWO_DEVICES();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        tern_tensor *x = filled(1, there);
        tern_scope scope = tern_scope_open();
        sim.fail_nth(kinds[i], 2, SIM_LAUNCH_FAILURE);
        assert_null(tern_to(x, here));
        sim.fail_none();
        tern_scope_close(scope);
        assert_error(TERN_ERR_DEVICE, "cudaErrorLaunchFailure");
        tern_tensor *y = filled(2, here);
        assert_int_equal(tern_synchronize(here), TERN_OK);
        assert_int_equal(tern_synchronize(there), TERN_OK);
        check_same(y, filled(2, tern_cpu(0)), 0);
    }
}

int main(int argc, char **argv)
{
    const int nothing = choose_failing_device(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_replay_that_fails_is_no_step),
        CHECK_TEST(two_captured_steps_are_both_taken_back),
        CHECK_TEST(an_update_whose_launches_fail_is_made_or_not_and_dropout_goes_on),
        CHECK_TEST(a_seed_that_a_device_does_not_take_is_an_error),
        CHECK_TEST(a_load_that_fails_in_the_middle_leaves_all_as_it_was),
        CHECK_TEST(a_copy_between_devices_that_fails_writes_nothing_afterwards),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
