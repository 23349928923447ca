// SPDX-License-Identifier: Apache-2.0
#include "device/backend.h"
#include "faults.h"

static const world_parts everything = {.gradients = true, .generators = true};

static uint64_t result_of_success, state_after_success;

// What a run gives in which nothing fails.
static void learn(const operation *op)
{
    prepare_cold(op);
    if (run_operation(op))
        fail_msg("%s fails: %s", op->name, tern_error_message());
    result_of_success = w.seen;
    state_after_success = world_state(everything);
}

// ---- the state ----------------------------------------------------------------------------------

static char generator_before[8192];
static uint64_t state_before;

// What the operation promises to leave alone.
static world_parts promised(const operation *op)
{
    return (world_parts){.gradients = !op->spoils, .generators = !op->draws};
}

static void remember(const fault_trial *trial)
{
    state_before = world_state(promised(trial->op));
    assert_int_equal(tern_generator_save(tern_default_generator(tern_cpu(0)), generator_before,
                                         tern_generator_state_size()),
                     TERN_OK);
}

static void state_is_as_it_was(const fault_trial *trial)
{
    const operation *op = trial->op;
    bool began_with_nothing = !op->prepare && !op->formula && op->keeps;
    if (!op->goes_on && !began_with_nothing && world_state(promised(op)) != state_before)
        fail_trial(trial, "the state is another");
}

// ---- the retry ----------------------------------------------------------------------------------

static void retry_gives_the_same_bits(const fault_trial *trial)
{
    const operation *op = trial->op;
    tern_error_clear();
    if (op->draws)
        assert_int_equal(tern_generator_load(tern_default_generator(tern_cpu(0)), generator_before,
                                             tern_generator_state_size()),
                         TERN_OK);
    w.seen = op->goes_on ? w.seen : 0;
    if (operation_recover(op) || run_operation(op))
        fail_trial(trial, "cannot be tried again: %s", tern_error_message());
    if (w.seen != result_of_success)
        fail_trial(trial, "tried again it gives other bits");
    if (world_state(everything) != state_after_success)
        fail_trial(trial, "tried again it leaves another state");
}

static void is_as_if_never_tried(const fault_trial *trial)
{
    state_is_as_it_was(trial);
    retry_gives_the_same_bits(trial);
}

static const fault_checks as_before = {
    .first = learn, .before = remember, .after = is_as_if_never_tried};

static void one_failure_changes_nothing(void **state)
{
    (void)state;
    assert_true(fail_everything((fault_mode){.onwards = false}, &as_before) > 2000);
}

static void running_out_of_memory_changes_nothing(void **state)
{
    (void)state;
    assert_true(fail_everything((fault_mode){.onwards = true}, &as_before) > 2000);
}

// ---- steps after a failure ----------------------------------------------------------------------

static void step_is_refused_until_zero_grad(const fault_trial *trial)
{
    tern_optim *optim = tern_optim_sgd(w.net);
    assert_int_equal(tern_optim_step(optim), TERN_ERR_NOMEM); // it is pending, nobody took it
    tern_error_clear();
    uint64_t before = world_state((world_parts){0});
    if (tern_optim_step(optim) != TERN_ERR_STATE)
        fail_trial(trial, "the step was not refused");
    assert_error(TERN_ERR_STATE, "unusable");
    assert_true(world_state((world_parts){0}) == before);
    tern_optim_zero_grad(optim);
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    assert_true(world_state((world_parts){0}) == before); // there are no gradients
    tern_optim_free(optim);
}

static const fault_checks refused = {.after = step_is_refused_until_zero_grad};

static void gradients_of_a_failed_backward_are_refused_until_zero_grad(void **state)
{
    (void)state;
    int64_t failures = 0;
    for (const operation *op = operations; op->name; op++)
        if (strcmp(op->name, "backward") == 0 || strcmp(op->name, "second_backward") == 0)
            failures += fail_each_allocation(op, (fault_mode){.onwards = false}, &refused);
    assert_true(failures > 50);
}

// A script that looks once a step: the failure goes through the backward to the step.
static void no_step_follows(const fault_trial *trial)
{
    tern_optim *optim = tern_optim_sgd(w.net);
    uint64_t before = world_state(everything);
    assert_int_equal(tern_backward(w.loss), TERN_ERR_NOMEM);
    assert_int_equal(tern_optim_step(optim), TERN_ERR_NOMEM);
    tern_error_clear();
    assert_int_equal(tern_backward(w.loss), TERN_ERR_NULL); // also when somebody took the error
    assert_int_equal(tern_optim_step(optim), TERN_ERR_NULL);
    if (world_state(everything) != before)
        fail_trial(trial, "the state is another");
    tern_optim_free(optim);
}

static const fault_checks stopped = {.after = no_step_follows};

static void a_failed_forward_lets_no_step_through(void **state)
{
    (void)state;
    for (const operation *op = operations; op->name; op++)
        if (strcmp(op->name, "forward") == 0)
            assert_true(fail_each_allocation(op, (fault_mode){.onwards = false}, &stopped) > 30);
}

// What the linker puts in tern_kernels_of's place.
const tern_kernels *__real_tern_kernels_of(tern_device device);
const tern_kernels *__wrap_tern_kernels_of(tern_device device);
static const tern_kernels *kernels;
const tern_kernels *__wrap_tern_kernels_of(tern_device device)
{
    return kernels ? kernels : __real_tern_kernels_of(device);
}

static int launches;

// The CPU's launches do not fail; this stands for a device's.
static tern_status fail_the_second_launch(const tern_exec *exec, tern_step_code code,
                                          const tern_step_tensor *tensors, int64_t count)
{
    (void)exec, (void)code, (void)tensors, (void)count;
    return ++launches == 2 ? tern_error_raise(TERN_ERR_STATE, "the device is lost") : TERN_OK;
}

static void gradients_that_half_a_step_used_are_not_used_again(void **state)
{
    (void)state;
    tern_tensor *a = tern_ones(tern_dims(3), .requires_grad = true),
                *b = tern_ones(tern_dims(3), .requires_grad = true);
    w.optim = tern_optim_sgd(NULL, .params = &a, .param_count = 1);
    assert_int_equal(tern_optim_add_group(w.optim, NULL, .params = &b, .param_count = 1), TERN_OK);
    assert_int_equal(tern_optim_set(w.optim, 1, "momentum", 0.5), TERN_OK); // another formula
    assert_int_equal(tern_backward(tern_sum(tern_mul(a, b), TERN_ALL_AXES, false)), TERN_OK);
    tern_kernels losing = *tern_kernels_of(tern_cpu(0));
    losing.step = fail_the_second_launch;
    kernels = &losing;
    assert_int_equal(tern_optim_step(w.optim), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "the device is lost");
    assert_int_equal(tern_optim_step(w.optim), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "params[0] was left unusable by a failed backward or step");
    assert_int_equal(launches, 2);
    tern_optim_zero_grad(w.optim);
    assert_int_equal(tern_optim_step(w.optim), TERN_OK);
    kernels = NULL;
    world_reset();
}

int main(void)
{
    if (begin_faults())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_failure_changes_nothing),
        cmocka_unit_test(running_out_of_memory_changes_nothing),
        cmocka_unit_test(gradients_of_a_failed_backward_are_refused_until_zero_grad),
        cmocka_unit_test(a_failed_forward_lets_no_step_through),
        cmocka_unit_test(gradients_that_half_a_step_used_are_not_used_again),
    };
    return cmocka_run_group_tests_name("a failed call leaves the state as it was", tests,
                                       begin_fault_group, end_fault_group);
}
