// SPDX-License-Identifier: Apache-2.0
// Steps on the mean of several gradients. Expected values are derived by hand.
#include "optim_check.h"

static const double rate = 0.5;

static tern_optim *sgd(tern_tensor **p, int64_t every)
{
    *p = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .params = p, .param_count = 1, .lr = rate);
    assert_int_equal(tern_optim_accumulate(o, every), TERN_OK);
    return o;
}

// The gradient of sum(p * g), which is g, is added.
static void backward(tern_tensor *p, double a, double b)
{
    const double g[] = {a, b};
    tern_tensor *t = tern_from_data(tern_dims(2), g, .dtype = TERN_FLOAT64);
    assert_int_equal(tern_backward(tern_sum(tern_mul(p, t), TERN_ALL_AXES, false)), TERN_OK);
}

static void micro_step(tern_optim *o, tern_tensor *p, double a, double b)
{
    tern_optim_zero_grad(o);
    backward(p, a, b);
    assert_int_equal(tern_optim_step(o), TERN_OK);
}

static void every_third_step_acts_on_the_mean(void **state)
{
    (void)state;
    tern_tensor *p;
    tern_optim *o = sgd(&p, 3);
    for (int round = 0; round < 2; round++) {
        micro_step(o, p, 1, 10);
        micro_step(o, p, 2, -4);
        assert_int_equal(tern_optim_step_count(o, 0), round);
        micro_step(o, p, 6, 3);
        assert_int_equal(tern_optim_step_count(o, 0), round + 1);
        assert_tensor_near(p, 1e-15, tern_dims(2), 1 - rate * 3 * (round + 1),
                           -2 - rate * 3 * (round + 1));
    }
    assert_tensor_near(tern_grad(p), 1e-15, tern_dims(2), 3, 3);
    tern_optim_free(o);
}

static void a_gradient_that_only_some_steps_have_counts_as_0_in_the_others(void **state)
{
    (void)state;
    tern_tensor *p;
    tern_optim *o = sgd(&p, 2);
    tern_optim_zero_grad(o);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    micro_step(o, p, 4, 8);
    assert_tensor(p, tern_dims(2), 1 - rate * 2, -2 - rate * 4);
    tern_optim_free(o);
}

static void clipping_waits_for_the_mean(void **state)
{
    (void)state;
    tern_tensor *p;
    tern_optim *o = sgd(&p, 2);
    backward(p, 2, 8);
    assert_true(tern_item(tern_clip_grad_norm(NULL, 1, .optim = o)) > 8);
    assert_int_equal(tern_clip_grad_value(NULL, 0.5, .optim = o), TERN_OK);
    assert_tensor(tern_grad(p), tern_dims(2), 2, 8);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    tern_optim_zero_grad(o);
    backward(p, 4, 0);
    assert_true(fabs(tern_item(tern_clip_grad_norm(NULL, 1, .optim = o)) - 5) < 1e-12);
    assert_tensor_near(tern_grad(p), 1e-6, tern_dims(2), 0.6, 0.8);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor_near(p, 1e-6, tern_dims(2), 1 - rate * 0.6, -2 - rate * 0.8);
    tern_optim_free(o);
}

static void clipping_without_the_optimizer_is_refused(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 1);
    tern_optim *o = tern_optim_sgd(net);
    assert_int_equal(tern_optim_accumulate(o, 2), TERN_OK);
    assert_null(tern_clip_grad_norm(net, 1));
    assert_error(TERN_ERR_STATE, "clip_grad_norm: the gradient of weight is one of several");
    assert_int_equal(tern_clip_grad_value(net, 1), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "clip_grad_value: the gradient of weight is one of several");
    assert_int_equal(tern_optim_accumulate(o, 1), TERN_OK);
    assert_non_null(tern_clip_grad_norm(net, 1));
    assert_int_equal(tern_optim_accumulate(o, 2), TERN_OK);
    tern_optim_free(o);
    assert_non_null(tern_clip_grad_norm(net, 1));
    tern_module_free(net);
}

static void schedulers_count_the_steps_that_act(void **state)
{
    (void)state;
    tern_tensor *p;
    tern_optim *o = sgd(&p, 3);
    tern_sched *s = tern_sched_exponential_lr(o, 0.5);
    for (int i = 0; i < 9; i++) {
        assert_true(tern_optim_lr(o, 0) == rate * pow(0.5, i / 3));
        micro_step(o, p, 1, 1);
        assert_int_equal(tern_sched_step(s), TERN_OK);
    }
    assert_int_equal(tern_sched_last_epoch(s), 3);
    tern_sched_free(s);
    tern_optim_free(o);
}

// At the end of an epoch, in the middle of a mean.
static void a_scheduler_that_steps_more_seldom_always_steps(void **state)
{
    (void)state;
    tern_tensor *p;
    tern_optim *o = sgd(&p, 3);
    tern_sched *s = tern_sched_exponential_lr(o, 0.5);
    for (int epoch = 1; epoch <= 3; epoch++) {
        for (int i = 0; i < 4; i++)
            micro_step(o, p, 1, 1);
        assert_int_equal(tern_sched_step(s), TERN_OK);
        assert_int_equal(tern_sched_last_epoch(s), epoch);
    }
    tern_sched_free(s);
    tern_optim_free(o);
}

static tern_status no_gradient(tern_backward_context *context)
{
    (void)context;
    return tern_error_raise(TERN_ERR_IO, "no gradient today");
}

static void a_failed_backward_drops_what_was_accumulated(void **state)
{
    (void)state;
    static const tern_function failing = {"failing", no_gradient};
    tern_tensor *p, *y = NULL;
    tern_optim *o = sgd(&p, 2);
    micro_step(o, p, 100, 100);
    tern_optim_zero_grad(o);
    tern_no_grad
        y = tern_sum(p, TERN_ALL_AXES, false);
    y = tern_record(&failing, y, &p, 1, NULL, 0, NULL, 0);
    assert_int_equal(tern_backward(y), TERN_ERR_IO);
    tern_error_clear();
    assert_int_equal(tern_optim_step(o), TERN_ERR_STATE);
    tern_error_clear();
    micro_step(o, p, 1, 2);
    assert_tensor(p, tern_dims(2), 1, -2);
    micro_step(o, p, 3, 2);
    assert_tensor(p, tern_dims(2), 1 - rate * 2, -2 - rate * 2);
    tern_optim_free(o);
}

static void it_is_not_saved_in_the_middle(void **state)
{
    (void)state;
    tern_tensor *p;
    tern_optim *o = sgd(&p, 2);
    micro_step(o, p, 1, 1);
    assert_null(tern_optim_state_dict(o));
    assert_error(TERN_ERR_STATE, "optim_state_dict: 1 of 2 gradients are accumulated");
    micro_step(o, p, 1, 1);
    tern_state *s = tern_optim_state_dict(o);
    assert_non_null(s);
    tern_state_free(s);
    tern_optim_free(o);
}

static void another_number_of_steps_drops_an_unfinished_mean(void **state)
{
    (void)state;
    tern_tensor *p;
    tern_optim *o = sgd(&p, 4);
    micro_step(o, p, 100, 100);
    assert_int_equal(tern_optim_accumulate(o, 1), TERN_OK);
    assert_null(tern_grad(p));
    micro_step(o, p, 2, 4);
    assert_tensor(p, tern_dims(2), 1 - rate * 2, -2 - rate * 4);
    tern_optim_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(every_third_step_acts_on_the_mean),
        CHECK_TEST(a_gradient_that_only_some_steps_have_counts_as_0_in_the_others),
        CHECK_TEST(clipping_waits_for_the_mean),
        CHECK_TEST(clipping_without_the_optimizer_is_refused),
        CHECK_TEST(schedulers_count_the_steps_that_act),
        CHECK_TEST(a_scheduler_that_steps_more_seldom_always_steps),
        CHECK_TEST(a_failed_backward_drops_what_was_accumulated),
        CHECK_TEST(it_is_not_saved_in_the_middle),
        CHECK_TEST(another_number_of_steps_drops_an_unfinished_mean),
    };
    if (optim_check_begin())
        return 1;
    return cmocka_run_group_tests_name("accumulation", tests, NULL, NULL);
}
