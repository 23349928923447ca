// SPDX-License-Identifier: Apache-2.0
// Optimizers that average by themselves: where the parameters are in training and evaluation.
// Expected values are derived by hand: with betas (0.5, 0) and eps 0 a step's direction is the sign
// of the gradient; z goes by lr, x is the mean of all z, and gradients are taken at (z + x) / 2.
#include "optim_check.h"

static tern_optim *schedule_free(tern_tensor **p)
{
    *p = leaf(start, 2);
    return tern_optim_schedule_free_adamw(NULL, .params = p, .param_count = 1, .lr = 0.5,
                                          .betas = {0.5, 0}, .eps = 0);
}

static void step(tern_optim *o, tern_tensor *p)
{
    set_grad(p, 3, -4);
    assert_int_equal(tern_optim_step(o), TERN_OK);
}

static void evaluation_is_at_the_average(void **state)
{
    (void)state;
    tern_tensor *p;
    tern_optim *o = schedule_free(&p);
    assert_int_equal(tern_optim_eval(o), TERN_OK); // nothing to average yet
    assert_tensor(p, tern_dims(2), 1, -2);
    assert_int_equal(tern_optim_train(o), TERN_OK);
    step(o, p);
    assert_tensor(p, tern_dims(2), 0.5, -1.5);
    step(o, p);
    for (int round = 0; round < 2; round++) {
        assert_tensor(p, tern_dims(2), 0.125, -1.125);
        assert_tensor(tern_optim_state(o, 0, "z"), tern_dims(2), 0, -1);
        assert_int_equal(tern_optim_eval(o), TERN_OK);
        assert_tensor(p, tern_dims(2), 0.25, -1.25);
        assert_int_equal(tern_optim_eval(o), TERN_OK); // is there already
        assert_tensor(p, tern_dims(2), 0.25, -1.25);
        assert_int_equal(tern_optim_train(o), TERN_OK);
    }
    tern_optim_free(o);
}

static void a_step_in_evaluation_is_refused(void **state)
{
    (void)state;
    tern_tensor *p;
    tern_optim *o = schedule_free(&p);
    step(o, p);
    assert_int_equal(tern_optim_eval(o), TERN_OK);
    set_grad(p, 3, -4);
    assert_status(tern_optim_step(o), TERN_ERR_STATE,
                  "optim_step: the parameters of AdamWScheduleFree are at their average, for "
                  "evaluation; call tern_optim_train first");
    assert_tensor(p, tern_dims(2), 0.5, -1.5);
    assert_int_equal(tern_optim_step_count(o, 0), 1);
    assert_int_equal(tern_optim_train(o), TERN_OK);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(p, tern_dims(2), 0.125, -1.125);
    tern_optim_free(o);
}

static tern_tensor *no_closure(void *user)
{
    ++*(int *)user;
    return NULL;
}

static void a_closure_is_not_called_in_evaluation(void **state)
{
    (void)state;
    int calls = 0;
    tern_tensor *p;
    tern_optim *o = schedule_free(&p);
    assert_int_equal(tern_optim_eval(o), TERN_OK);
    assert_null_with(tern_optim_step_closure(o, no_closure, &calls), TERN_ERR_STATE,
                     "optim_step_closure: the parameters of AdamWScheduleFree");
    assert_int_equal(calls, 0);
    tern_optim_free(o);
}

static void other_optimizers_have_one_place(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .params = &p, .param_count = 1, .lr = 0.5);
    assert_int_equal(tern_optim_eval(o), TERN_OK);
    step(o, p);
    assert_tensor(p, tern_dims(2), -0.5, 0);
    assert_int_equal(tern_optim_train(o), TERN_OK);
    assert_tensor(p, tern_dims(2), -0.5, 0);
    tern_optim_free(o);
}

static void the_state_follows_a_parameter_that_moves_in_evaluation(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 1, .bias = false);
    tern_tensor *w = tern_module_parameter(net, "weight");
    tern_no_grad
        tern_copy_(w, leaf(start, 2));
    tern_optim *o = tern_optim_schedule_free_adamw(net, .lr = 0.5, .betas = {0.5, 0}, .eps = 0);
    set_grad(w, 3, -4);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    set_grad(w, 3, -4);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_int_equal(tern_optim_eval(o), TERN_OK);
    tern_module_to(net, tern_cpu(1));
    assert_int_equal(tern_optim_train(o), TERN_OK);
    assert_tensor(w, tern_dims(1, 2), 0.125, -1.125);
    assert_true(tern_device_equal(tern_device_of(tern_optim_state(o, 0, "z")), tern_cpu(1)));
    tern_optim_free(o);
    tern_module_free(net);
}

// The file of the model has the average, and the optimizer's state says so.
static void a_state_that_was_saved_in_evaluation_goes_on_from_there(void **state)
{
    (void)state;
    const double average[] = {0.25, -1.25};
    tern_tensor *p, *q;
    tern_optim *o = schedule_free(&p), *other = schedule_free(&q);
    step(o, p);
    step(o, p);
    assert_int_equal(tern_optim_eval(o), TERN_OK);
    assert_tensor(p, tern_dims(2), average[0], average[1]);
    tern_state *saved = tern_optim_state_dict(o);
    assert_int_equal(tern_optim_load_state_dict(other, saved), TERN_OK);
    tern_no_grad
        tern_copy_(q, leaf(average, 2));
    set_grad(q, 3, -4);
    assert_status(tern_optim_step(other), TERN_ERR_STATE, "optim_step: the parameters of ");
    assert_int_equal(tern_optim_train(other), TERN_OK);
    assert_tensor(q, tern_dims(2), 0.125, -1.125);
    assert_int_equal(tern_optim_train(o), TERN_OK);
    step(o, p);
    step(other, q);
    assert_same_values(p, q);
    tern_state_free(saved);
    tern_optim_free(o);
    tern_optim_free(other);
}

static void what_steps_change_is_state(void **state)
{
    (void)state;
    tern_tensor *p, *q;
    tern_optim *o = schedule_free(&p), *other = schedule_free(&q);
    step(o, p);
    step(o, p);
    assert_true(tern_optim_get(o, 0, "k") == 2);
    assert_true(tern_optim_get(o, 0, "lr_max") == 0.5);
    assert_true(tern_optim_get(o, 0, "weight_sum") == 0.5);
    assert_status(tern_optim_set(o, 0, "k", 1), TERN_ERR_ARG,
                  "optim_set: k is state, which steps change, not an option");
    assert_status(tern_optim_set(o, 0, "train_mode", 0), TERN_ERR_ARG, "train_mode is state");
    tern_state *saved = tern_optim_state_dict(o);
    assert_int_equal(tern_optim_set_lr(other, 0, 0.25), TERN_OK);
    assert_int_equal(tern_optim_load_state_dict(other, saved, .numbers = false), TERN_OK);
    assert_true(tern_optim_lr(other, 0) == 0.25);
    assert_true(tern_optim_get(other, 0, "k") == 2);
    assert_true(tern_optim_get(other, 0, "weight_sum") == 0.5);
    tern_state_free(saved);
    tern_optim_free(o);
    tern_optim_free(other);
}

// Parameters are between z and the average by it.
static void the_first_beta_stays_while_there_is_state(void **state)
{
    (void)state;
    tern_tensor *p, *q;
    tern_optim *o = schedule_free(&p), *other;
    assert_int_equal(tern_optim_set(o, 0, "betas[0]", 0.75), TERN_OK);
    step(o, p);
    assert_status(tern_optim_set(o, 0, "betas[0]", 0.5), TERN_ERR_STATE,
                  "optim_set: betas[0] has to stay as it is: the state of AdamWScheduleFree was "
                  "made with it");
    assert_int_equal(tern_optim_set(o, 0, "betas[1]", 0.5), TERN_OK);
    tern_state *saved = tern_optim_state_dict(o);
    other = schedule_free(&q);
    assert_int_equal(tern_optim_load_state_dict(other, saved, .numbers = false), TERN_OK);
    assert_true(tern_optim_get(other, 0, "betas[0]") == 0.75);
    assert_null_with(tern_sched_one_cycle_lr(o, 0.1, .total_steps = 9), TERN_ERR_ARG,
                     "sched_one_cycle_lr: betas[0] of AdamWScheduleFree cannot be cycled");
    tern_state_free(saved);
    tern_optim_free(o);
    tern_optim_free(other);
}

static void groups_in_other_modes_come_to_one(void **state)
{
    (void)state;
    tern_tensor *p, *q = leaf(start, 2);
    tern_optim *o = schedule_free(&p), *other;
    step(o, p);
    step(o, p);
    assert_int_equal(tern_optim_eval(o), TERN_OK);
    tern_state *saved = tern_optim_state_dict(o);
    tern_tensor *r = leaf(start, 2);
    other = tern_optim_schedule_free_adamw(NULL, .params = &q, .param_count = 1, .lr = 0.5,
                                           .betas = {0.5, 0}, .eps = 0);
    assert_int_equal(tern_optim_add_group(other, NULL, .params = &r, .param_count = 1), TERN_OK);
    set_grad(r, 3, -4);
    assert_int_equal(tern_optim_step(other), TERN_OK);
    set_grad(r, 3, -4);
    assert_int_equal(tern_optim_step(other), TERN_OK);
    assert_int_equal(tern_optim_load_state_dict(other, saved, .strict = false), TERN_OK);
    assert_true(tern_optim_get(other, 0, "train_mode") == 0);
    assert_true(tern_optim_get(other, 1, "train_mode") == 1);
    set_grad(r, 3, -4);
    assert_status(tern_optim_step(other), TERN_ERR_STATE, "optim_step: the parameters of ");
    assert_int_equal(tern_optim_eval(other), TERN_OK);
    assert_tensor(r, tern_dims(2), 0.25, -1.25);
    assert_int_equal(tern_optim_train(other), TERN_OK);
    assert_tensor(r, tern_dims(2), 0.125, -1.125);
    tern_state_free(saved);
    tern_optim_free(o);
    tern_optim_free(other);
}

static void a_group_that_is_added_in_evaluation_is_in_evaluation(void **state)
{
    (void)state;
    tern_tensor *p, *q = leaf(start, 2);
    tern_optim *o = schedule_free(&p);
    step(o, p);
    assert_int_equal(tern_optim_eval(o), TERN_OK);
    assert_int_equal(tern_optim_add_group(o, NULL, .params = &q, .param_count = 1), TERN_OK);
    assert_true(tern_optim_get(o, 1, "train_mode") == 0);
    assert_true(tern_optim_get(o, 1, "k") == 0);
    assert_int_equal(tern_optim_train(o), TERN_OK);
    assert_true(tern_optim_get(o, 1, "train_mode") == 1);
    assert_tensor(q, tern_dims(2), 1, -2);
    tern_optim_free(o);
}

static void a_change_that_lacks_memory_changes_nothing(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 1, .bias = false);
    tern_optim *o = tern_optim_schedule_free_adamw(net, .lr = 0.5, .betas = {0.5, 0}, .eps = 0);
    tern_tensor *w = tern_module_parameter(net, "weight");
    set_grad(w, 3, -4);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    set_grad(w, 3, -4);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    tern_module_to(net, tern_cpu(1)); // the state has to follow
    tern_tensor *before = tern_clone(tern_detach(w));
    tern_memory_trim();
    fail_allocations_from(1);
    assert_status(tern_optim_eval(o), TERN_ERR_NOMEM, "");
    fail_nth_allocation(0);
    assert_same_values(w, before);
    assert_true(tern_optim_get(o, 0, "train_mode") == 1);
    assert_int_equal(tern_optim_eval(o), TERN_OK);
    tern_optim_free(o);
    tern_module_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(evaluation_is_at_the_average),
        CHECK_TEST(a_step_in_evaluation_is_refused),
        CHECK_TEST(a_closure_is_not_called_in_evaluation),
        CHECK_TEST(other_optimizers_have_one_place),
        CHECK_TEST(the_state_follows_a_parameter_that_moves_in_evaluation),
        CHECK_TEST(a_state_that_was_saved_in_evaluation_goes_on_from_there),
        CHECK_TEST(what_steps_change_is_state),
        CHECK_TEST(the_first_beta_stays_while_there_is_state),
        CHECK_TEST(groups_in_other_modes_come_to_one),
        CHECK_TEST(a_group_that_is_added_in_evaluation_is_in_evaluation),
        CHECK_TEST(a_change_that_lacks_memory_changes_nothing),
    };
    if (optim_check_begin())
        return 1;
    return cmocka_run_group_tests_name("modes", tests, NULL, NULL) || all_given_back();
}
