// SPDX-License-Identifier: Apache-2.0
// Schedulers beside PyTorch's numbers, which tests/golden has: what they refuse, keep and leave
// alone. Where a rate is asked for, it is computed by hand.
#include <unistd.h>

#include <tern/checkpoint.h>
#include <tern/free.h>
#include <tern/io.h>
#include <tern/sched.h>

#include "optim_check.h"

static tern_tensor *params[2];

static tern_optim *make_sgd(double lr)
{
    for (int i = 0; i < 2; i++)
        params[i] = leaf(start, 2);
    return tern_optim_sgd(NULL, .lr = lr, .momentum = 0.5, .params = params, .param_count = 1);
}

static void step_optim(tern_optim *o)
{
    set_grad(params[0], 1, 1);
    assert_int_equal(tern_optim_step(o), TERN_OK);
}

static void assert_lr(const tern_optim *o, int group, double expected)
{
    assert_true(fabs(tern_optim_lr(o, group) - expected) <= 1e-15 * expected);
}

static void the_first_rate_is_there_from_construction_on(void **state)
{
    (void)state;
    tern_optim *o = make_sgd(0.5);
    assert_true(isnan(tern_optim_get(o, 0, "initial_lr")));
    assert_error(TERN_ERR_STATE, "optim_get: group 0 has no initial_lr");
    tern_sched *s = tern_sched_constant_lr(o, .factor = 0.25, .total_iters = 2);
    assert_lr(o, 0, 0.125);
    assert_true(tern_optim_get(o, 0, "initial_lr") == 0.5);
    assert_int_equal(tern_sched_last_epoch(s), 0);
    assert_true(tern_sched_last_lr(s, 0) == 0.125);
    tern_sched *second = tern_sched_step_lr(o, 1, .gamma = 0.5);
    assert_true(tern_optim_get(o, 0, "initial_lr") == 0.5);
    step_optim(o);
    assert_int_equal(tern_sched_step(second, .epoch = 2), TERN_OK); // from initial_lr
    assert_lr(o, 0, 0.125);
    tern_optim_free(o); // they hold it
    assert_int_equal(tern_sched_step(s), TERN_OK);
    assert_int_equal(tern_sched_step(s), TERN_OK);
    assert_true(tern_sched_last_lr(s, 0) == 0.5);
    tern_sched_free(s);
    tern_sched_free(second);
}

static void schedulers_multiply_and_a_rate_set_by_hand_stays(void **state)
{
    (void)state;
    tern_optim *o = make_sgd(1);
    tern_sched *halves = tern_sched_exponential_lr(o, 0.5), *tenths = tern_sched_step_lr(o, 2);
    step_optim(o);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tern_sched_step(halves), TERN_OK);
        assert_int_equal(tern_sched_step(tenths), TERN_OK);
    }
    assert_lr(o, 0, 0.25 * 0.1);
    assert_int_equal(tern_optim_set_lr(o, 0, 8), TERN_OK);
    assert_int_equal(tern_sched_step(halves), TERN_OK);
    assert_lr(o, 0, 4);
    tern_free(halves, tenths, o);
}

// ---- order --------------------------------------------------------------------------------------

static void a_step_before_the_optimizers_is_refused_once_it_would_skip_a_rate(void **state)
{
    (void)state;
    tern_optim *o = make_sgd(1);
    tern_sched *s = tern_sched_exponential_lr(o, 0.5);
    assert_status(tern_sched_step(s), TERN_ERR_STATE,
                  "sched_step: the SGD has made no step yet, so the schedule's first lr would go "
                  "unused");
    assert_lr(o, 0, 1);
    assert_int_equal(tern_sched_last_epoch(s), 0);
    assert_int_equal(tern_sched_step(s, .allow_early = true), TERN_OK);
    assert_lr(o, 0, 0.5);
    tern_sched_free(s);
    s = tern_sched_exponential_lr(o, 0.5);
    step_optim(o);
    assert_int_equal(tern_sched_step(s), TERN_OK);
    tern_free(s, o);
}

static void steps_before_the_optimizer_was_saved_count(void **state)
{
    (void)state;
    tern_optim *saved = make_sgd(1);
    tern_state *own = tern_optim_state_dict(saved), *without = tern_state_copy(own);
    step_optim(saved);
    tern_state *with = tern_optim_state_dict(saved);
    tern_optim *o = make_sgd(1);
    tern_sched *s = tern_sched_exponential_lr(o, 0.5);
    assert_int_equal(tern_optim_load_state_dict(o, without), TERN_OK);
    assert_status(tern_sched_step(s), TERN_ERR_STATE, "has made no step yet");
    assert_int_equal(tern_optim_load_state_dict(o, with), TERN_OK);
    assert_int_equal(tern_sched_step(s), TERN_OK);
    assert_lr(o, 0, 0.5);
    tern_free(s, o, with, without, own, saved);
}

static double half(int64_t epoch, int group, void *user)
{
    (void)group;
    (void)user;
    return epoch > 0 ? 0.5 : 1;
}

static void of_two_that_overwrite_the_rate_the_second_is_refused(void **state)
{
    (void)state;
    tern_optim *o = make_sgd(1);
    tern_sched *lambda = tern_sched_lambda_lr(o, half);
    tern_sched *restarts = tern_sched_cosine_annealing_warm_restarts(o, 10);
    tern_sched *factor = tern_sched_multiplicative_lr(o, half);
    step_optim(o);
    assert_int_equal(tern_sched_step(lambda), TERN_OK);
    assert_status(tern_sched_step(restarts), TERN_ERR_STATE,
                  "sched_step: CosineAnnealingWarmRestarts and LambdaLR both set the lr of this "
                  "SGD from the epoch alone");
    assert_int_equal(tern_sched_last_epoch(restarts), 0);
    assert_int_equal(tern_sched_step(factor), TERN_OK); // goes on from there
    assert_lr(o, 0, 0.25);
    tern_sched_free(lambda); // then the other one has it alone
    assert_int_equal(tern_sched_step(restarts), TERN_OK);
    tern_free(restarts, factor, o);
}

static void overwriting_schedulers_may_be_parts_of_one(void **state)
{
    (void)state;
    tern_optim *o = make_sgd(1);
    tern_sched *lambda = tern_sched_lambda_lr(o, half);
    step_optim(o);
    assert_int_equal(tern_sched_step(lambda), TERN_OK);
    tern_sched *restarts = tern_sched_cosine_annealing_warm_restarts(o, 10);
    tern_sched *both = tern_sched_sequential_lr({lambda, 0}, {restarts, 2});
    assert_int_equal(tern_sched_step(both), TERN_OK);
    assert_int_equal(tern_sched_step(both), TERN_OK);
    assert_lr(o, 0, 1);
    assert_status(tern_sched_step(lambda), TERN_ERR_STATE, "is a part of a SequentialLR");
    tern_sched_retain(lambda);
    tern_sched_free(both);
    assert_int_equal(tern_sched_step(lambda), TERN_OK); // by itself again
    tern_free(lambda, o);
}

// ---- what fails changes nothing -----------------------------------------------------------------

// Fails for the second group from epoch 2 on.
static double fails_later(int64_t epoch, int group, void *user)
{
    if (epoch >= 2 && group == 1 && *(bool *)user)
        (void)tern_error_raise(TERN_ERR_IO, "the table cannot be read");
    return 0.5;
}

static void a_failing_function_changes_nothing(void **state)
{
    (void)state;
    bool fails = true;
    tern_optim *o = make_sgd(1);
    assert_int_equal(tern_optim_add_group(o, NULL, .params = &params[1], .param_count = 1),
                     TERN_OK);
    tern_sched *cycle = tern_sched_one_cycle_lr(o, 1, .total_steps = 10);
    tern_sched *lambda = tern_sched_multiplicative_lr(o, fails_later, .user = &fails);
    tern_sched *both = tern_sched_chained(cycle, lambda);
    step_optim(o);
    assert_int_equal(tern_sched_step(both), TERN_OK);
    const double lr = tern_optim_lr(o, 0), momentum = tern_optim_get(o, 0, "momentum");
    for (int i = 0; i < 2; i++)
        assert_status(tern_sched_step(both), TERN_ERR_IO, "the table cannot be read");
    for (int g = 0; g < 2; g++) {
        assert_true(tern_optim_lr(o, g) == lr && tern_optim_get(o, g, "momentum") == momentum);
        assert_true(tern_sched_last_lr(cycle, g) == tern_sched_last_lr(cycle, 0));
    }
    assert_int_equal(tern_sched_last_epoch(both), 1);
    assert_int_equal(tern_sched_last_epoch(cycle), 1);
    assert_int_equal(tern_sched_last_epoch(lambda), 1);
    fails = false;
    assert_int_equal(tern_sched_step(both), TERN_OK);
    assert_int_equal(tern_sched_last_epoch(cycle), 2);
    tern_free(both, o);
}

// Steps its own scheduler, and gives it back.
static double steps_and_frees(int64_t epoch, int group, void *user)
{
    (void)group;
    tern_sched **self = user;
    if (epoch == 1) {
        assert_status(tern_sched_step(*self), TERN_ERR_STATE,
                      "sched_step: this LambdaLR is in the middle of a step");
        tern_sched_free(*self);
    }
    return 0.5;
}

static void a_function_may_step_or_free_its_scheduler(void **state)
{
    (void)state;
    tern_sched *self;
    tern_optim *o = make_sgd(1);
    self = tern_sched_lambda_lr(o, steps_and_frees, .user = &self);
    step_optim(o);
    assert_int_equal(tern_sched_step(self), TERN_OK);
    assert_lr(o, 0, 0.5);
    tern_sched *next = tern_sched_cosine_annealing_warm_restarts(o, 5); // it alone overwrites now
    assert_int_equal(tern_sched_step(next), TERN_OK);
    tern_free(next, o);
}

static double nan_at_once(int64_t epoch, int group, void *user)
{
    (void)epoch;
    (void)user;
    return group == 1 ? NAN : 0.5;
}

static void a_failed_constructor_leaves_the_optimizer_as_it_was(void **state)
{
    (void)state;
    tern_optim *o = make_sgd(1);
    assert_int_equal(tern_optim_add_group(o, NULL, .params = &params[1], .param_count = 1),
                     TERN_OK);
    assert_null_with(tern_sched_lambda_lr(o, nan_at_once), TERN_ERR_NUMERIC,
                     "sched_lambda_lr: LambdaLR makes the lr of group 1 nan in epoch 0");
    assert_null_with(tern_sched_one_cycle_lr(o, INFINITY, .total_steps = 9), TERN_ERR_ARG,
                     "max_lr is inf");
    assert_lr(o, 0, 1);
    assert_true(tern_optim_get(o, 0, "momentum") == 0.5);
    assert_true(isnan(tern_optim_get(o, 0, "initial_lr")));
    tern_error_clear();
    tern_optim_free(o);
}

static void steps_allocate_nothing(void **state)
{
    (void)state;
    tern_optim *o = make_sgd(1);
    tern_sched *s = tern_sched_warmup(tern_sched_cosine_annealing_lr(o, 5), 2);
    step_optim(o);
    fail_nth_allocation(1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(tern_sched_step(s), TERN_OK);
    assert_int_equal(memory.calls, 0);
    fail_nth_allocation(0);
    tern_free(s, o);
}

// ---- beyond PyTorch -----------------------------------------------------------------------------

static void one_cycle_keeps_its_last_rate_for_one_step_more(void **state)
{
    (void)state;
    tern_optim *o = make_sgd(1);
    tern_sched *s = tern_sched_one_cycle_lr(o, 1, .total_steps = 10);
    step_optim(o);
    for (int i = 0; i < 9; i++)
        assert_int_equal(tern_sched_step(s), TERN_OK);
    assert_lr(o, 0, 1.0 / 25 / 1e4);
    assert_int_equal(tern_sched_step(s), TERN_OK);
    assert_lr(o, 0, 1.0 / 25 / 1e4);
    assert_status(tern_sched_step(s), TERN_ERR_STATE,
                  "sched_step: this OneCycleLR is for 10 steps, and this is one more");
    assert_int_equal(tern_sched_last_epoch(s), 10);
    tern_free(s, o);
}

// The metric has to fall from -1 to below -1.1 to be better by a tenth.
static void a_relative_threshold_counts_from_negative_metrics_too(void **state)
{
    (void)state;
    tern_optim *o = make_sgd(1);
    tern_sched *s =
        tern_sched_reduce_lr_on_plateau(o, .patience = 0, .threshold = 0.1, .factor = 0.5);
    assert_int_equal(tern_sched_step_metric(s, -1), TERN_OK);
    assert_int_equal(tern_sched_step_metric(s, -1.11), TERN_OK);
    assert_lr(o, 0, 1);
    assert_int_equal(tern_sched_step_metric(s, -1.2), TERN_OK); // not below -1.221
    assert_lr(o, 0, 0.5);
    tern_sched_free(s);
    s = tern_sched_reduce_lr_on_plateau(o, .mode = TERN_MAX, .patience = 0, .threshold = 0.1,
                                        .factor = 0.5);
    assert_int_equal(tern_sched_step_metric(s, -1), TERN_OK);
    assert_int_equal(tern_sched_step_metric(s, -0.8), TERN_OK);
    assert_lr(o, 0, 0.5);
    assert_int_equal(tern_sched_step_metric(s, -0.75), TERN_OK); // not above -0.72
    assert_lr(o, 0, 0.25);
    tern_free(s, o);
}

static void a_group_that_is_added_later_is_multiplied_too(void **state)
{
    (void)state;
    tern_optim *o = make_sgd(1);
    tern_sched *s = tern_sched_step_lr(o, 1, .gamma = 0.5);
    step_optim(o);
    assert_int_equal(tern_optim_add_group(o, NULL, .lr = 8, .params = &params[1], .param_count = 1),
                     TERN_OK);
    assert_int_equal(tern_sched_step(s), TERN_OK);
    assert_lr(o, 0, 0.5);
    assert_lr(o, 1, 4);
    assert_true(tern_sched_last_lr(s, 1) == 4);
    tern_free(s, o);
}

static void a_group_that_is_added_later_has_the_limit_of_all(void **state)
{
    (void)state;
    const double list[] = {0.5};
    tern_optim *o = make_sgd(1);
    tern_sched *swa = tern_sched_swa_lr(o, 0.5, .anneal_epochs = 1);
    tern_sched *listed = tern_sched_swa_lr(o, 0, .swa_lrs = list, .swa_lr_count = 1);
    tern_sched *plateau =
        tern_sched_reduce_lr_on_plateau(o, .patience = 0, .min_lr = 0.25, .factor = 0.1);
    step_optim(o);
    assert_int_equal(tern_optim_add_group(o, NULL, .lr = 8, .params = &params[1], .param_count = 1),
                     TERN_OK);
    assert_int_equal(tern_sched_step(swa), TERN_OK);
    assert_lr(o, 0, 0.5);
    assert_lr(o, 1, 0.5);
    assert_status(tern_sched_step(listed), TERN_ERR_STATE,
                  "sched_step: group 1 was added after this SWALR was made");
    assert_int_equal(tern_sched_step_metric(plateau, NAN), TERN_OK);
    assert_lr(o, 0, 0.25);
    assert_lr(o, 1, 0.25);
    tern_free(swa, listed, plateau, o);
}

// ---- a rate of 0 --------------------------------------------------------------------------------

static int warnings;

static void count_warnings(tern_log_level level, const char *line, void *user)
{
    (void)line;
    (void)user;
    warnings += level == TERN_LOG_WARN;
}

static int warnings_of_a_step(tern_sched *s, tern_optim *o)
{
    warnings = 0;
    tern_set_log(count_warnings, NULL);
    step_optim(o);
    tern_set_log(NULL, NULL);
    tern_free(s, o);
    return warnings;
}

static void a_rate_of_0_is_warned_of_where_no_scheduler_sets_it(void **state)
{
    (void)state;
    tern_optim *o = make_sgd(0);
    assert_int_equal(warnings_of_a_step(tern_sched_cyclic_lr(o, 0, 1), o), 0);
    o = make_sgd(0);
    assert_int_equal(warnings_of_a_step(tern_sched_one_cycle_lr(o, 1, .total_steps = 10), o), 0);
    o = make_sgd(0);
    assert_int_equal(warnings_of_a_step(tern_sched_step_lr(o, 10), o), 1);
    o = make_sgd(0);
    assert_int_equal(warnings_of_a_step(NULL, o), 1);
}

// ---- state --------------------------------------------------------------------------------------

static void initial_lr_is_saved_with_the_optimizer(void **state)
{
    (void)state;
    tern_optim *o = make_sgd(1);
    tern_state *without = tern_optim_state_dict(o);
    assert_int_equal(tern_state_type_of(without, "param_groups.0.initial_lr"),
                     TERN_STATE_UNSPECIFIED);
    tern_sched *s = tern_sched_exponential_lr(o, 0.5);
    step_optim(o);
    assert_int_equal(tern_sched_step(s), TERN_OK);
    tern_state *saved = tern_optim_state_dict(o);
    tern_optim *other = make_sgd(4);
    assert_int_equal(tern_optim_load_state_dict(other, saved), TERN_OK);
    assert_true(tern_optim_get(other, 0, "initial_lr") == 1);
    tern_sched *next = tern_sched_cosine_annealing_lr(other, 10);
    assert_int_equal(tern_sched_step(next, .epoch = 5, .allow_early = true), TERN_OK);
    assert_lr(other, 0, 0.5);
    tern_free(s, next, o, other, without, saved);
}

static void initial_lr_is_in_pytorchs_files(void **state)
{
    (void)state;
    char path[] = "/tmp/tern-sched-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0 && close(file) == 0);
    tern_optim *o = make_sgd(1);
    tern_sched *s = tern_sched_constant_lr(o, .factor = 0.25);
    assert_int_equal(tern_optim_save_torch(o, path), TERN_OK);
    tern_state *read = tern_state_read(path);
    double initial_lr = 0;
    assert_int_equal(tern_state_get_double(read, "param_groups.0.initial_lr", &initial_lr),
                     TERN_OK);
    assert_true(initial_lr == 1);
    tern_optim *other = make_sgd(4);
    assert_int_equal(tern_optim_load_torch(other, path), TERN_OK);
    assert_true(tern_optim_get(other, 0, "initial_lr") == 1);
    assert_lr(other, 0, 0.25);
    assert_int_equal(unlink(path), 0);
    tern_free(s, o, other, read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(the_first_rate_is_there_from_construction_on),
        CHECK_TEST(schedulers_multiply_and_a_rate_set_by_hand_stays),
        CHECK_TEST(a_step_before_the_optimizers_is_refused_once_it_would_skip_a_rate),
        CHECK_TEST(steps_before_the_optimizer_was_saved_count),
        CHECK_TEST(of_two_that_overwrite_the_rate_the_second_is_refused),
        CHECK_TEST(overwriting_schedulers_may_be_parts_of_one),
        CHECK_TEST(a_failing_function_changes_nothing),
        CHECK_TEST(a_function_may_step_or_free_its_scheduler),
        CHECK_TEST(a_failed_constructor_leaves_the_optimizer_as_it_was),
        CHECK_TEST(steps_allocate_nothing),
        CHECK_TEST(one_cycle_keeps_its_last_rate_for_one_step_more),
        CHECK_TEST(a_relative_threshold_counts_from_negative_metrics_too),
        CHECK_TEST(a_group_that_is_added_later_is_multiplied_too),
        CHECK_TEST(a_group_that_is_added_later_has_the_limit_of_all),
        CHECK_TEST(a_rate_of_0_is_warned_of_where_no_scheduler_sets_it),
        CHECK_TEST(initial_lr_is_saved_with_the_optimizer),
        CHECK_TEST(initial_lr_is_in_pytorchs_files),
    };
    if (optim_check_begin())
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tern_shutdown();
    return failed;
}
