// SPDX-License-Identifier: Apache-2.0
#include "optim_check.h"

typedef struct small_run {
    tern_module *net, *criterion;
    tern_optim *optim;
    tern_tensor *x, *y;
} small_run;

static double step(const small_run *run)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *loss = tern_loss(run->criterion, tern_forward(run->net, run->x), run->y);
    double value = tern_item(loss);
    tern_optim_zero_grad(run->optim);
    assert_int_equal(tern_backward(loss), TERN_OK);
    assert_int_equal(tern_optim_step(run->optim), TERN_OK);
    tern_scope_close(scope);
    return value;
}

static void end_run(small_run *run)
{
    tern_module_free(run->net);
    tern_module_free(run->criterion);
    tern_optim_free(run->optim);
}

// The five losses that PyTorch printed in float32, and the norm of all parameters after.
static void assert_five_losses(tern_optim *(*make)(tern_module *net), const double losses[5],
                               double norm)
{
    tern_manual_seed(0);
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(), tern_nn_linear(8, 3));
    small_run run = {.net = net};
    const int64_t labels[] = {0, 1, 2, 0, 1, 2};
    run.x = tern_randn(tern_dims(6, 4));
    run.y = tern_from_data(tern_dims(6), labels, .dtype = TERN_INT64);
    run.criterion = tern_nn_cross_entropy_loss(.label_smoothing = 0.1);
    run.optim = make(net);
    for (int i = 0; i < 5; i++)
        assert_near(step(&run), losses[i], 0, 2e-6);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        tern_tensor *t = tern_detach(tern_module_parameter_at(net, i, NULL, 0));
        sum += tern_item(tern_sum(tern_mul(t, t), TERN_ALL_AXES, false));
    }
    assert_near(sqrt(sum), norm, 0, 2e-6);
    end_run(&run);
}

static tern_optim *nesterov(tern_module *net)
{
    return tern_optim_sgd(net, .lr = 0.1, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01);
}

static tern_optim *adamw(tern_module *net)
{
    return tern_optim_adamw(net, .lr = 0.01);
}

static void five_losses_are_those_that_pytorch_printed(void **state)
{
    (void)state;
    const double sgd[] = {1.0780149, 1.0626818, 1.0407075, 1.0136622, 0.9837482};
    const double adam[] = {1.0780149, 1.0610501, 1.0447288, 1.0289603, 1.0126402};
    assert_five_losses(nesterov, sgd, 2.1260321);
    assert_five_losses(adamw, adam, 2.1292882);
}

// ---- by hand -----------------------------------------------------------------------------------

static void maximize_goes_the_other_way(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *q = leaf(start, 2);
    tern_optim *sgd =
        tern_optim_sgd(NULL, .lr = 0.5, .maximize = true, .params = &p, .param_count = 1);
    tern_optim *adam = tern_optim_adam(NULL, .lr = 0.5, .eps = 0, .maximize = true, .params = &q,
                                       .param_count = 1);
    set_grad(p, 1, 4);
    set_grad(q, 1, 4);
    assert_int_equal(tern_optim_step(sgd), TERN_OK);
    assert_int_equal(tern_optim_step(adam), TERN_OK);
    assert_tensor(p, tern_dims(2), 1.5, 0);
    assert_tensor_near(q, 1e-12, tern_dims(2), 1.5, -1.5); // Adam's first step is lr, whatever g
    tern_optim_free(sgd);
    tern_optim_free(adam);
}

static void the_first_step_with_momentum_has_no_dampening(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .lr = 1, .momentum = 0.5, .dampening = 0.25, .params = &p,
                                   .param_count = 1);
    set_grad(p, 1, 2);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(p, tern_dims(2), 0, -4);
    assert_int_equal(tern_optim_step(o), TERN_OK); // b = 0.5 b + 0.75 g
    assert_tensor(p, tern_dims(2), -1.25, -6.5);
    assert_tensor(tern_optim_state(o, 0, "momentum_buffer"), tern_dims(2), 1.25, 2.5);
    tern_optim_free(o);
}

static void momentum_that_is_set_later_starts_from_its_own_first_step(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .lr = 1, .dampening = 0.5, .params = &p, .param_count = 1);
    set_grad(p, 1, 1);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_null(tern_optim_state(o, 0, "momentum_buffer"));
    assert_int_equal(tern_optim_set(o, 0, "momentum", 0.5), TERN_OK);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(tern_optim_state(o, 0, "momentum_buffer"), tern_dims(2), 1, 1);
    assert_tensor(p, tern_dims(2), -1, -4);
    tern_optim_free(o);
}

static void a_parameter_without_a_gradient_is_skipped_and_has_no_state(void **state)
{
    (void)state;
    tern_tensor *list[] = {leaf(start, 2), leaf(start, 2)};
    tern_optim *o = tern_optim_adam(NULL, .weight_decay = 0.1, .params = list, .param_count = 2);
    set_grad(list[0], 0, 0); // zero is not absent: decay still acts
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_true(value_at(list[0], 0) < 1);
    assert_tensor(list[1], tern_dims(2), 1, -2);
    assert_non_null(tern_optim_state(o, 0, "exp_avg"));
    assert_null(tern_optim_state(o, 1, "exp_avg"));
    assert_int_equal(tern_optim_step_count(o, 0), 1);
    assert_int_equal(tern_optim_step_count(o, 1), 0);
    tern_optim_zero_grad(o);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_int_equal(tern_optim_step_count(o, 0), 1);
    tern_optim_free(o);
}

static void a_graph_from_before_a_step_is_refused(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .params = &p, .param_count = 1);
    tern_tensor *loss = tern_sum(tern_mul(p, p), TERN_ALL_AXES, false);
    assert_int_equal(tern_backward(loss, .retain_graph = true), TERN_OK);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_status(tern_backward(loss), TERN_ERR_STATE, "");
    tern_optim_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(five_losses_are_those_that_pytorch_printed),
        CHECK_TEST(maximize_goes_the_other_way),
        CHECK_TEST(the_first_step_with_momentum_has_no_dampening),
        CHECK_TEST(momentum_that_is_set_later_starts_from_its_own_first_step),
        CHECK_TEST(a_parameter_without_a_gradient_is_skipped_and_has_no_state),
        CHECK_TEST(a_graph_from_before_a_step_is_refused),
    };
    if (optim_check_begin())
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tern_shutdown();
    return failed;
}
