// SPDX-License-Identifier: Apache-2.0
#include "optim_check.h"

static void a_step_is_refused_while_an_error_is_pending(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .params = &p, .param_count = 1);
    set_grad(p, 1, 1);
    tern_error_raise(TERN_ERR_IO, "something else");
    assert_status(tern_optim_step(o), TERN_ERR_IO, "something else");
    assert_tensor(p, tern_dims(2), 1, -2);
    assert_int_equal(tern_optim_step_count(o, 0), 0);
    tern_optim_free(o);
}

static tern_status fail_backward(tern_backward_context *context)
{
    (void)context;
    return tern_error_raise(TERN_ERR_NUMERIC, "no gradient today");
}

static const tern_function failing = {"failing", fail_backward};

static void a_step_is_refused_after_a_failed_backward_until_zero_grad(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *y = NULL;
    tern_optim *o = tern_optim_sgd(NULL, .lr = 1, .params = &p, .param_count = 1);
    tern_no_grad {
        y = tern_sum(p, TERN_ALL_AXES, false);
    }
    y = tern_record(&failing, y, &p, 1, NULL, 0, NULL, 0);
    assert_status(tern_backward(y), TERN_ERR_NUMERIC, "no gradient today");
    assert_status(tern_optim_step(o), TERN_ERR_STATE,
                  "the gradient of params[0] was left unusable by a failed backward");
    assert_tensor(p, tern_dims(2), 1, -2);
    tern_optim_zero_grad(o);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    set_grad(p, 1, 1);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(p, tern_dims(2), 0, -3);
    tern_optim_free(o);
}

static void a_label_out_of_range_stops_steps_until_zero_grad(void **state)
{
    (void)state;
    const int64_t bad[] = {0, 9}, good[] = {0, 1};
    tern_module *net = tern_nn_linear(2, 3), *criterion = tern_nn_cross_entropy_loss();
    tern_optim *o = tern_optim_sgd(net);
    tern_tensor *x = tern_ones(tern_dims(2, 2));
    tern_tensor *y = tern_from_data(tern_dims(2), bad, .dtype = TERN_INT64);
    assert_null_with(tern_loss(criterion, tern_forward(net, x), y), TERN_ERR_INDEX,
                     "[in CrossEntropyLoss]");
    assert_int_equal(tern_optim_step(o), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "zero_grad");
    tern_optim_zero_grad(o);
    y = tern_from_data(tern_dims(2), good, .dtype = TERN_INT64);
    assert_int_equal(tern_backward(tern_loss(criterion, tern_forward(net, x), y)), TERN_OK);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    tern_module_free(net);
    tern_module_free(criterion);
    tern_optim_free(o);
}

static void null_fails_every_call(void **state)
{
    (void)state;
    assert_status(tern_optim_step(NULL), TERN_ERR_NULL, "optim_step: optim is NULL");
    tern_optim_zero_grad(NULL);
    assert_error(TERN_ERR_NULL, "optim_zero_grad: optim is NULL");
    assert_status(tern_optim_set_lr(NULL, 0, 1), TERN_ERR_NULL, "optim_set_lr: optim is NULL");
    assert_status(tern_optim_set(NULL, 0, "lr", 1), TERN_ERR_NULL, "optim_set: optim");
    assert_true(isnan(tern_optim_lr(NULL, 0)));
    assert_error(TERN_ERR_NULL, "optim_lr: optim is NULL");
    assert_true(isnan(tern_optim_get(NULL, 0, "lr")));
    assert_error(TERN_ERR_NULL, "optim_get: optim is NULL");
    assert_int_equal(tern_optim_num_groups(NULL), -1);
    assert_error(TERN_ERR_NULL, "optim_num_groups: optim is NULL");
    assert_int_equal(tern_optim_num_parameters(NULL), -1);
    assert_error(TERN_ERR_NULL, "optim_num_parameters: optim is NULL");
    assert_null_with(tern_optim_parameter_at(NULL, 0, NULL, 0), TERN_ERR_NULL, "optim is NULL");
    assert_int_equal(tern_optim_step_count(NULL, 0), -1);
    assert_error(TERN_ERR_NULL, "optim_step_count: optim is NULL");
    assert_null_with(tern_optim_state(NULL, 0, "exp_avg"), TERN_ERR_NULL, "optim is NULL");
    assert_status(tern_optim_set_step_count(NULL, 0, 1), TERN_ERR_NULL, "optim is NULL");
    assert_status(tern_optim_set_state(NULL, 0, "exp_avg", NULL), TERN_ERR_NULL, "optim is NULL");
    assert_null(tern_optim_retain(NULL));
    tern_optim_free(NULL);
}

// ---- living together with modules --------------------------------------------------------------

static void module_and_optimizer_may_be_freed_in_any_order(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 1);
    tern_optim *o = tern_optim_retain(tern_optim_sgd(m));
    tern_tensor *weight = tern_module_parameter(m, "weight");
    assert_int_equal(tern_backward(tern_sum(weight, TERN_ALL_AXES, false)), TERN_OK);
    tern_module_free(m);
    tern_optim_free(o);
    double before = value_at(weight, 0);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_near(value_at(weight, 0), before - 1e-3, 0, 1e-7);
    tern_optim_free(o);
}

// Two steps of Adam, with something done in between.
static void assert_same_steps(void (*between)(tern_module *m), double tolerance)
{
    double final[2];
    for (int k = 0; k < 2; k++) {
        const float weight[] = {1, -2};
        tern_module *m = tern_nn_linear(2, 1, .bias = false);
        tern_tensor *p = tern_module_parameter(m, "weight");
        tern_no_grad {
            assert_int_equal(tern_from_host(p, weight, sizeof weight), TERN_OK);
        }
        tern_optim *o = tern_optim_adam(m, .lr = 0.1, .amsgrad = true);
        tern_tensor *flat = tern_reshape(p, tern_dims(2));
        assert_int_equal(tern_backward(tern_sum(tern_mul(flat, flat), TERN_ALL_AXES, false)),
                         TERN_OK);
        assert_int_equal(tern_optim_step(o), TERN_OK);
        if (k == 1)
            between(m);
        assert_int_equal(tern_optim_step(o), TERN_OK);
        assert_int_equal(tern_dtype_of(tern_optim_state(o, 0, "exp_avg")), tern_dtype_of(p));
        assert_true(tern_device_equal(tern_device_of(tern_optim_state(o, 0, "max_exp_avg_sq")),
                                      tern_device_of(p)));
        assert_int_equal(tern_optim_step_count(o, 0), 2);
        final[k] = value_at(p, 0);
        tern_module_free(m);
        tern_optim_free(o);
    }
    assert_true(final[0] < 0.85);
    assert_near(final[1], final[0], 0, tolerance);
}

static void to_other_device(tern_module *m)
{
    assert_non_null(tern_module_to(m, tern_cpu(1)));
}

static void to_double(tern_module *m)
{
    assert_non_null(tern_module_to_dtype(m, TERN_FLOAT64));
}

static void the_state_follows_when_the_module_moves(void **state)
{
    (void)state;
    assert_same_steps(to_other_device, 0);
    assert_same_steps(to_double, 1e-6);
}

static void a_step_that_finds_no_memory_changes_nothing(void **state)
{
    (void)state;
    tern_tensor *list[] = {leaf(start, 2), leaf(start, 2)};
    set_grad(list[0], 1, 2);
    set_grad(list[1], 3, 4);
    tern_optim *o = tern_optim_adam(NULL, .lr = 0.5, .eps = 0, .params = list, .param_count = 2);
    int failures = 0;
    for (;; failures++) {
        tern_memory_trim(); // so that every allocation reaches the allocator
        memory.calls = 0;
        memory.fail_at = failures + 1;
        tern_status status = tern_optim_step(o);
        bool was_reached = memory.calls >= memory.fail_at;
        memory.fail_at = 0;
        if (!status) {
            assert_false(was_reached && status);
            break;
        }
        assert_error(TERN_ERR_NOMEM, "no memory");
        for (int i = 0; i < 2; i++) {
            assert_tensor(list[i], tern_dims(2), 1, -2);
            assert_null(tern_optim_state(o, i, "exp_avg"));
            assert_int_equal(tern_optim_step_count(o, i), 0);
        }
    }
    print_message("%d allocations failed\n", failures);
    assert_true(failures > 0);
    assert_tensor_near(list[1], 1e-12, tern_dims(2), 0.5, -2.5);
    tern_optim_free(o);
}

static void a_constructor_that_finds_no_memory_leaves_nothing(void **state)
{
    (void)state;
    int failures = 0;
    tern_module *m = tern_nn_linear(2, 2);
    for (;; failures++) {
        tern_memory_trim();
        int64_t live = tern_memory_live_bytes();
        memory.calls = 0;
        memory.fail_at = failures + 1;
        tern_optim *o = tern_optim_sgd(m);
        memory.fail_at = 0;
        if (o) {
            tern_optim_free(o);
            break;
        }
        assert_error(TERN_ERR_NOMEM, "no memory");
        assert_int_equal(tern_memory_live_bytes(), live);
    }
    assert_true(failures >= 5); // optimizer, group, entries, two names at least
    tern_module_free(m);
}

static void dropout_draws_anew_after_a_step(void **state)
{
    (void)state;
    float masks[2][64];
    tern_module *net = tern_nn_sequential(tern_nn_linear(1, 1, .bias = false), tern_nn_dropout());
    tern_optim *o = tern_optim_sgd(net);
    for (int i = 0; i < 2; i++) {
        tern_tensor *y = tern_forward(tern_module_child(net, "1"), tern_ones(tern_dims(64)));
        assert_int_equal(tern_to_host(y, masks[i], sizeof masks[i]), TERN_OK);
        assert_int_equal(tern_optim_step(o), TERN_OK);
    }
    assert_memory_not_equal(masks[0], masks[1], sizeof masks[0]);
    tern_module_free(net);
    tern_optim_free(o);
}

// ---- state -------------------------------------------------------------------------------------

static void parameters_are_listed_with_their_names(void **state)
{
    (void)state;
    char name[TERN_NAME_SIZE];
    tern_module *m = tern_nn_sequential(tern_nn_relu(), tern_nn_linear(2, 2));
    tern_optim *o = tern_optim_sgd(m);
    assert_ptr_equal(tern_optim_parameter_at(o, 1, name, sizeof name),
                     tern_module_parameter(m, "1.bias"));
    assert_string_equal(name, "1.bias");
    assert_non_null(tern_optim_parameter_at(o, 0, NULL, 0));
    assert_null_with(tern_optim_parameter_at(o, 2, NULL, 0), TERN_ERR_INDEX,
                     "there is no parameter 2; SGD has 2");
    assert_null_with(tern_optim_parameter_at(o, -1, NULL, 0), TERN_ERR_INDEX, "no parameter -1");
    tern_module_free(m);
    tern_optim_free(o);
}

static void a_restored_state_goes_on_as_the_first_one(void **state)
{
    (void)state;
    for (int sgd = 0; sgd < 2; sgd++) {
        tern_tensor *p = leaf(start, 2), *q = leaf(start, 2);
        tern_optim *o, *restored;
        const char *names[2][2] = {{"exp_avg", "exp_avg_sq"}, {"momentum_buffer", NULL}};
        if (sgd) {
            o = tern_optim_sgd(NULL, .momentum = 0.9, .dampening = 0.5, .params = &p,
                               .param_count = 1);
            restored = tern_optim_sgd(NULL, .momentum = 0.9, .dampening = 0.5, .params = &q,
                                      .param_count = 1);
        } else {
            o = tern_optim_adam(NULL, .params = &p, .param_count = 1);
            restored = tern_optim_adam(NULL, .params = &q, .param_count = 1);
        }
        for (int i = 0; i < 3; i++) {
            set_grad(p, i + 1, 2);
            assert_int_equal(tern_optim_step(o), TERN_OK);
        }
        tern_no_grad {
            assert_non_null(tern_copy_(q, p));
        }
        for (int i = 0; i < 2 && names[sgd][i]; i++)
            assert_int_equal(tern_optim_set_state(restored, 0, names[sgd][i],
                                                  tern_optim_state(o, 0, names[sgd][i])),
                             TERN_OK);
        if (!sgd) // PyTorch's SGD stores no count: a buffer alone must do
            assert_int_equal(tern_optim_set_step_count(restored, 0, 3), TERN_OK);
        set_grad(p, 5, 6);
        set_grad(q, 5, 6);
        assert_int_equal(tern_optim_step(o), TERN_OK);
        assert_int_equal(tern_optim_step(restored), TERN_OK);
        assert_tensor(q, tern_dims(2), value_at(p, 0), value_at(p, 1));
        tern_optim_free(o);
        tern_optim_free(restored);
    }
}

static void state_that_is_replaced_is_freed(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *value = tern_ones(tern_dims(2));
    tern_optim *o = tern_optim_adam(NULL, .params = &p, .param_count = 1);
    assert_int_equal(tern_optim_set_state(o, 0, "exp_avg", value), TERN_OK);
    const int64_t live = tern_live_tensors();
    for (int i = 0; i < 3; i++)
        assert_int_equal(tern_optim_set_state(o, 0, "exp_avg", value), TERN_OK);
    assert_int_equal(tern_live_tensors(), live);
    tern_optim_free(o);
}

static void state_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o = tern_optim_adam(NULL, .params = &p, .param_count = 1);
    assert_status(tern_optim_set_state(o, 0, "exp_avg", tern_ones(tern_dims(3))), TERN_ERR_SHAPE,
                  "exp_avg of params[0] is (2,), but the value given (3,)");
    assert_status(tern_optim_set_state(o, 0, "momentum_buffer", p), TERN_ERR_ARG,
                  "Adam has no state \"momentum_buffer\"");
    assert_status(tern_optim_set_state(o, 1, "exp_avg", p), TERN_ERR_INDEX, "no parameter 1");
    assert_status(tern_optim_set_state(o, 0, NULL, p), TERN_ERR_NULL, "name is NULL");
    assert_status(tern_optim_set_state(o, 0, "exp_avg", NULL), TERN_ERR_NULL, "value is NULL");
    assert_status(tern_optim_set_step_count(o, 0, -1), TERN_ERR_ARG, "-1 updates");
    const int64_t most = (int64_t)1 << 53;
    assert_status(tern_optim_set_step_count(o, 0, most + 1), TERN_ERR_ARG, "9007199254740993 upd");
    assert_status(tern_optim_set_step_count(o, 0, INT64_MAX), TERN_ERR_ARG, "updates");
    assert_int_equal(tern_optim_set_step_count(o, 0, most), TERN_OK);
    set_grad(p, 1, -1);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_true(isfinite(value_at(p, 0)) && isfinite(value_at(p, 1)));
    assert_true(tern_optim_step_count(o, 0) == most + 1);
    assert_status(tern_optim_set_step_count(o, 4, 1), TERN_ERR_INDEX, "no parameter 4");
    assert_null_with(tern_optim_state(o, 0, "sum"), TERN_ERR_ARG, "no state \"sum\"");
    assert_null_with(tern_optim_state(o, 9, "exp_avg"), TERN_ERR_INDEX, "no parameter 9");
    assert_int_equal(tern_optim_step_count(o, 9), -1);
    assert_error(TERN_ERR_INDEX, "no parameter 9");
    tern_optim_free(o);
}

// A layer calls its parameter "weight", the optimizer by its place in the net.
static void parameters_have_their_full_names_once_an_optimizer_has_them(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 1));
    tern_tensor *weight = tern_module_parameter(net, "0.weight");
    assert_string_equal(tern_name(weight), "weight");
    tern_optim *o = tern_optim_sgd(net);
    assert_string_equal(tern_name(weight), "0.weight");
    tern_module *outer = tern_nn_sequential(net);
    tern_optim *of_outer = tern_optim_sgd(outer), *inner = tern_optim_sgd(net);
    assert_string_equal(tern_name(weight), "0.0.weight"); // the outermost one's
    tern_optim_free(inner);
    tern_optim_free(of_outer);
    tern_optim_free(o);
    tern_module_free(outer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_step_is_refused_while_an_error_is_pending),
        CHECK_TEST(a_step_is_refused_after_a_failed_backward_until_zero_grad),
        CHECK_TEST(a_label_out_of_range_stops_steps_until_zero_grad),
        CHECK_TEST(null_fails_every_call),
        CHECK_TEST(module_and_optimizer_may_be_freed_in_any_order),
        CHECK_TEST(the_state_follows_when_the_module_moves),
        CHECK_TEST(a_step_that_finds_no_memory_changes_nothing),
        CHECK_TEST(a_constructor_that_finds_no_memory_leaves_nothing),
        CHECK_TEST(dropout_draws_anew_after_a_step),
        CHECK_TEST(parameters_are_listed_with_their_names),
        CHECK_TEST(a_restored_state_goes_on_as_the_first_one),
        CHECK_TEST(state_that_is_replaced_is_freed),
        CHECK_TEST(state_that_does_not_fit_is_refused),
        CHECK_TEST(parameters_have_their_full_names_once_an_optimizer_has_them),
    };
    if (optim_check_begin())
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tern_shutdown();
    return failed;
}
