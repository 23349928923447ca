// SPDX-License-Identifier: Apache-2.0
#include "optim_check.h"

static void groups_have_options_of_their_own(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *q = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .lr = 1, .params = &p, .param_count = 1);
    assert_int_equal(tern_optim_add_group(o, NULL, .lr = 0.25, .params = &q, .param_count = 1),
                     TERN_OK);
    assert_int_equal(tern_optim_num_groups(o), 2);
    assert_int_equal(tern_optim_num_parameters(o), 2);
    set_grad(p, 1, 1);
    set_grad(q, 1, 1);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(p, tern_dims(2), 0, -3);
    assert_tensor(q, tern_dims(2), 0.75, -2.25);
    tern_optim_free(o);
}

static void the_learning_rate_changes_from_the_next_step_on(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *q = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .lr = 1, .params = &p, .param_count = 1);
    assert_int_equal(tern_optim_add_group(o, NULL, .params = &q, .param_count = 1), TERN_OK);
    assert_true(tern_optim_lr(o, 1) == 1);
    assert_int_equal(tern_optim_set_lr(o, 1, 0.5), TERN_OK);
    assert_true(tern_optim_lr(o, 0) == 1 && tern_optim_lr(o, 1) == 0.5);
    assert_int_equal(tern_optim_set_lr(o, TERN_ALL_GROUPS, 0.125), TERN_OK);
    assert_true(tern_optim_get(o, 0, "lr") == 0.125);
    set_grad(p, 1, 1);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(p, tern_dims(2), 0.875, -2.125);
    tern_optim_free(o);
}

static void options_are_checked_when_they_are_set(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *q = leaf(start, 2);
    tern_optim *sgd =
        tern_optim_sgd(NULL, .momentum = 0.9, .nesterov = true, .params = &p, .param_count = 1);
    tern_optim *adam = tern_optim_adam(NULL, .params = &q, .param_count = 1);
    assert_status(tern_optim_set_lr(sgd, 0, -1), TERN_ERR_ARG, "optim_set_lr: lr is -1");
    assert_status(tern_optim_set_lr(sgd, 0, NAN), TERN_ERR_ARG, "lr is nan");
    assert_status(tern_optim_set_lr(sgd, 1, 1), TERN_ERR_INDEX, "there is no group 1");
    assert_status(tern_optim_set_lr(sgd, -2, 1), TERN_ERR_INDEX, "there is no group -2");
    assert_status(tern_optim_set(sgd, 0, "momentum", 0), TERN_ERR_ARG, "nesterov wants");
    assert_status(
        tern_optim_set(sgd, 0, "betas[0]", 0.5), TERN_ERR_ARG,
        "optim_set: SGD has no \"betas[0]\"; it has lr, momentum, dampening, weight_decay, "
        "nesterov and maximize");
    assert_status(tern_optim_set(adam, 0, "betas[1]", 1), TERN_ERR_ARG, "betas[1] is 1");
    assert_status(tern_optim_set(adam, 0, "dampening", 1), TERN_ERR_ARG,
                  "optim_set: Adam has no \"dampening\"");
    assert_status(tern_optim_set(adam, 0, "", 1), TERN_ERR_ARG, "Adam has no \"\"");
    assert_status(tern_optim_set(adam, 0, NULL, 1), TERN_ERR_NULL, "optim_set: name is NULL");
    assert_status(tern_optim_set(adam, 0, "amsgrad", 0.5), TERN_ERR_ARG,
                  "optim_set: amsgrad is 0.5, but must be 0 or 1");
    assert_true(tern_optim_lr(sgd, 0) == 1e-3);
    assert_true(tern_optim_get(sgd, 0, "momentum") == 0.9);
    assert_true(tern_optim_get(adam, 0, "betas[1]") == 0.999);
    assert_true(tern_optim_get(adam, 0, "eps") == 1e-8);
    assert_int_equal(tern_optim_set(adam, 0, "weight_decay", 0.5), TERN_OK);
    assert_true(tern_optim_get(adam, 0, "weight_decay") == 0.5);
    assert_true(isnan(tern_optim_get(adam, 0, "momentum")));
    assert_error(TERN_ERR_ARG, "optim_get: Adam has no \"momentum\"");
    assert_true(isnan(tern_optim_lr(adam, 3)));
    assert_error(TERN_ERR_INDEX, "there is no group 3");
    tern_optim_free(sgd);
    tern_optim_free(adam);
}

static void constructors_refuse_options_that_make_no_sense(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 2);
    assert_null_with(tern_optim_sgd(m, .lr = -0.1), TERN_ERR_ARG, "optim_sgd: lr is -0.1");
    assert_null_with(tern_optim_sgd(m, .lr = INFINITY), TERN_ERR_ARG, "lr is inf");
    assert_null_with(tern_optim_sgd(m, .momentum = -1), TERN_ERR_ARG, "momentum is -1");
    assert_null_with(tern_optim_sgd(m, .dampening = NAN), TERN_ERR_ARG, "dampening is nan");
    assert_null_with(tern_optim_sgd(m, .weight_decay = -1), TERN_ERR_ARG, "weight_decay is -1");
    assert_null_with(tern_optim_sgd(m, .nesterov = true), TERN_ERR_ARG,
                     "nesterov wants momentum above 0 and dampening 0, not 0 and 0");
    assert_null_with(tern_optim_sgd(m, .nesterov = true, .momentum = 0.9, .dampening = 0.1),
                     TERN_ERR_ARG, "not 0.9 and 0.1");
    assert_null_with(tern_optim_adam(m, .betas = {1, 0.9}), TERN_ERR_ARG, "betas[0] is 1");
    assert_null_with(tern_optim_adam(m, .betas = {0.9, -0.1}), TERN_ERR_ARG, "betas[1] is -0.1");
    assert_null_with(tern_optim_adam(m, .betas = 0.5), TERN_ERR_ARG,
                     "optim_adam: betas is one number, 0.5: give both, .betas = {0.5, 0.999}");
    assert_null_with(tern_optim_adamw(m, .betas = 0.5), TERN_ERR_ARG, "optim_adamw: betas is one");
    assert_null_with(tern_optim_adam(m, .eps = -1e-8), TERN_ERR_ARG, "eps is -1e-08");
    assert_null_with(tern_optim_adamw(m, .lr = -1), TERN_ERR_ARG, "optim_adamw: lr is -1");
    assert_null_with(tern_optim_sgd_with(NULL), TERN_ERR_NULL, "optim_sgd: options is NULL");
    assert_null_with(tern_optim_adam_with(NULL), TERN_ERR_NULL, "optim_adam: options is NULL");
    assert_null_with(tern_optim_adamw_with(NULL), TERN_ERR_NULL, "optim_adamw: options is NULL");
    tern_module_free(m);
}

static void parameters_are_checked_when_they_are_given(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 2), *relu = tern_nn_relu();
    tern_tensor *p = leaf(start, 2), *none = NULL;
    tern_tensor *made = tern_exp(p), *whole = tern_ones(tern_dims(2), .dtype = TERN_INT64);
    tern_tensor *turned = tern_transpose(tern_ones(tern_dims(2, 3)), 0, 1);
    tern_tensor *twice[] = {p, p};
    assert_null_with(tern_optim_sgd(NULL), TERN_ERR_NULL, "optim_sgd: module is NULL");
    assert_null_with(tern_optim_sgd(NULL, .param_count = 2), TERN_ERR_NULL, "params is NULL");
    assert_null_with(tern_optim_sgd(relu), TERN_ERR_ARG, "there are no parameters to optimize");
    assert_null_with(tern_optim_sgd(NULL, .params = &p), TERN_ERR_ARG, "there are no parameters");
    assert_null_with(tern_optim_sgd(NULL, .params = &p, .param_count = -1), TERN_ERR_ARG,
                     "param_count is -1");
    assert_null_with(tern_optim_sgd(m, .params = &p, .param_count = 1), TERN_ERR_ARG, "not both");
    assert_null_with(tern_optim_sgd(NULL, .params = &none, .param_count = 1), TERN_ERR_NULL,
                     "params[0] is NULL");
    assert_null_with(tern_optim_sgd(NULL, .params = &made, .param_count = 1), TERN_ERR_STATE,
                     "params[0] is the result of exp; only leaves");
    assert_null_with(tern_optim_sgd(NULL, .params = &whole, .param_count = 1), TERN_ERR_DTYPE,
                     "only floating tensors");
    assert_null_with(tern_optim_sgd(NULL, .params = &turned, .param_count = 1), TERN_ERR_STATE,
                     "params[0] is not contiguous");
    assert_null_with(tern_optim_sgd(NULL, .params = twice, .param_count = 2), TERN_ERR_ARG,
                     "params[1] is in the optimizer already");
    tern_module_free(m);
    tern_module_free(relu);
}

static void a_group_that_does_not_fit_is_not_added(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 2), *other = tern_nn_linear(2, 2);
    tern_optim *o = tern_optim_adam(m);
    assert_status(tern_optim_add_group(o, m), TERN_ERR_ARG,
                  "weight is in the optimizer already; a parameter belongs to one group");
    assert_status(tern_optim_add_group(o, other, .lr = -1), TERN_ERR_ARG, "lr is -1");
    assert_status(tern_optim_add_group(o, other, .weight_decay = -1), TERN_ERR_ARG,
                  "weight_decay is -1");
    assert_status(tern_optim_add_group(o, NULL), TERN_ERR_NULL, "module is NULL");
    assert_status(tern_optim_add_group(NULL, other), TERN_ERR_NULL, "optim is NULL");
    assert_status(tern_optim_add_group_with(NULL), TERN_ERR_NULL, "options is NULL");
    assert_int_equal(tern_optim_num_groups(o), 1);
    assert_int_equal(tern_optim_num_parameters(o), 2);
    tern_optim_free(o);
    tern_module_free(m);
    tern_module_free(other);
}

static void groups_are_made_by_the_names_of_parameters(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 2), tern_nn_linear(2, 1));
    tern_optim *o = tern_optim_sgd(net, .lr = 1, .weight_decay = 0.5);
    char name[64];
    assert_int_equal(tern_optim_group_names(o, "*.bias", .weight_decay = 0), TERN_OK);
    assert_int_equal(tern_optim_num_groups(o), 2);
    const char *const order[] = {"0.weight", "1.weight", "0.bias", "1.bias"};
    for (int i = 0; i < 4; i++) {
        tern_tensor *p = tern_optim_parameter_at(o, i, name, sizeof name);
        assert_string_equal(name, order[i]);
        tern_fill_(tern_detach(p), 2);
        set_grad(p, 0, 0);
    }
    assert_true(tern_optim_get(o, 0, "weight_decay") == 0.5 && tern_optim_lr(o, 1) == 1);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    for (int i = 0; i < 4; i++) // 2 - 0.5 * 2, or as it was
        assert_true(((const float *)tern_data(tern_optim_parameter_at(o, i, NULL, 0)))[0] ==
                    (i < 2 ? 1 : 2));
    tern_module_free(net);
    tern_optim_free(o);
}

static void a_later_pattern_takes_parameters_from_groups_made_before(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 2), tern_nn_linear(2, 1));
    tern_optim *o = tern_optim_adam(net, .lr = 0.5);
    assert_int_equal(tern_optim_group_names(o, "*.bias", .lr = 0.25), TERN_OK);
    assert_int_equal(tern_optim_group_names(o, "1.*", .weight_decay = 0.125), TERN_OK);
    char name[64];
    const char *const order[] = {"0.weight", "0.bias", "1.weight", "1.bias"};
    for (int i = 0; i < 4; i++) {
        (void)tern_optim_parameter_at(o, i, name, sizeof name);
        assert_string_equal(name, order[i]);
    }
    assert_true(tern_optim_lr(o, 1) == 0.25 && tern_optim_lr(o, 2) == 0.5);
    assert_true(tern_optim_get(o, 2, "weight_decay") == 0.125);
    tern_module_free(net);
    tern_optim_free(o);
}

static bool is_vector(const tern_module_entry *parameter, void *user)
{
    ++*(int *)user;
    return tern_rank(parameter->tensor) < 2;
}

static bool is_of_norm(const tern_module_entry *parameter, void *user)
{
    (void)user;
    return tern_module_is(parameter->owner, "LayerNorm");
}

// As nanoGPT chooses what decays.
static void groups_are_made_by_a_function(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 2), tern_nn_layer_norm(tern_dims(2)),
                                          tern_nn_linear(2, 1));
    tern_optim *o = tern_optim_adamw(net, .lr = 0.5, .weight_decay = 0.25);
    int asked = 0;
    assert_int_equal(tern_optim_group_if(o, net, is_vector, .weight_decay = 0, .user = &asked),
                     TERN_OK);
    assert_int_equal(asked, 6);
    assert_int_equal(tern_optim_group_if(o, net, is_of_norm, .lr = 0.125), TERN_OK);
    assert_int_equal(tern_optim_num_groups(o), 3);
    char name[64];
    const char *const order[] = {"0.weight", "2.weight", "0.bias", "2.bias", "1.weight", "1.bias"};
    for (int i = 0; i < 6; i++) {
        (void)tern_optim_parameter_at(o, i, name, sizeof name);
        assert_string_equal(name, order[i]);
    }
    static const double decays[] = {0.25, 0, 0.25}, lrs[] = {0.5, 0.5, 0.125};
    for (int g = 0; g < 3; g++)
        assert_true(tern_optim_get(o, g, "weight_decay") == decays[g] &&
                    tern_optim_lr(o, g) == lrs[g]);
    tern_module_free(net);
    tern_optim_free(o);
}

static tern_optim *freed_inside;

static bool frees_the_optimizer(const tern_module_entry *parameter, void *user)
{
    (void)parameter, (void)user;
    tern_optim_free(freed_inside);
    freed_inside = NULL;
    return true;
}

static void groups_by_a_function_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    int asked = 0;
    tern_module *net = tern_nn_linear(2, 1), *two = tern_nn_module_list(net, tern_nn_linear(1, 1));
    tern_optim *o = tern_optim_sgd(net);
    assert_status(tern_optim_group_if(o, two, is_vector, .user = &asked), TERN_ERR_ARG,
                  "optim_group_if: 1.bias is not a parameter of this SGD");
    assert_status(tern_optim_group_if(o, net, is_of_norm), TERN_ERR_ARG,
                  "optim_group_if: the function chose no parameter");
    assert_int_equal(tern_optim_num_groups(o), 1);
    set_grad(tern_module_parameter(net, "weight"), 0, 0);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_status(tern_optim_group_if(o, net, is_vector, .user = &asked), TERN_ERR_STATE,
                  "optim_group_if: weight was updated already; make groups before the first step");
    tern_optim_free(o);
    freed_inside = tern_optim_sgd(net);
    assert_int_equal(tern_optim_group_if(freed_inside, net, frees_the_optimizer), TERN_OK);
    tern_module_free(two);
}

static void groups_may_have_different_formulas(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *q = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .lr = 1, .momentum = 0.5, .params = &p, .param_count = 1);
    assert_int_equal(tern_optim_add_group(o, NULL, .params = &q, .param_count = 1), TERN_OK);
    assert_int_equal(tern_optim_set(o, 1, "momentum", 0), TERN_OK);
    set_grad(p, 1, 2);
    set_grad(q, 1, 2);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(p, tern_dims(2), -1.5, -7); // less 1 and 1.5 times the gradient
    assert_tensor(q, tern_dims(2), -1, -6);
    assert_null(tern_optim_state(o, 1, "momentum_buffer"));
    tern_optim_free(o);
}

static void groups_by_name_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 2);
    tern_optim *o = tern_optim_sgd(net);
    assert_status(tern_optim_group_names(o, "*.bias"), TERN_ERR_ARG,
                  "optim_group_names: no parameter of SGD has a name like \"*.bias\"; they are "
                  "weight, bias");
    assert_status(tern_optim_group_names(o, "bias", .weight_decay = -1), TERN_ERR_ARG,
                  "optim_group_names: weight_decay is -1, but must be 0 or more");
    set_grad(tern_module_parameter(net, "weight"), 0, 0);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_status(
        tern_optim_group_names(o, "bias"), TERN_ERR_STATE,
        "optim_group_names: weight was updated already; make groups before the first step");
    assert_int_equal(tern_optim_num_groups(o), 1);
    tern_module_free(net);
    tern_optim_free(o);
}

static void defaults_are_those_of_the_macros(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 2);
    tern_optim_sgd_options sgd = tern_optim_sgd_defaults();
    tern_optim_adam_options adam = tern_optim_adam_defaults(), adamw = tern_optim_adamw_defaults();
    tern_optim_add_group_options group = tern_optim_add_group_defaults();
    assert_true(sgd.lr == 1e-3 && sgd.momentum == 0 && sgd.dampening == 0 && sgd.weight_decay == 0);
    assert_true(adam.lr == 1e-3 && adam.betas[0] == 0.9 && adam.betas[1] == 0.999);
    assert_true(adam.eps == 1e-8 && adam.weight_decay == 0 && adamw.weight_decay == 0.01);
    tern_optim_group_names_options named = tern_optim_group_names_defaults();
    assert_true(isnan(group.lr) && isnan(group.weight_decay));
    assert_true(isnan(named.lr) && isnan(named.weight_decay));
    tern_optim *o = tern_optim_adamw(m);
    assert_true(tern_optim_get(o, 0, "weight_decay") == 0.01);
    assert_true(tern_optim_get(o, 0, "betas[0]") == 0.9);
    tern_module_free(m);
    tern_optim_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(groups_have_options_of_their_own),
        CHECK_TEST(the_learning_rate_changes_from_the_next_step_on),
        CHECK_TEST(options_are_checked_when_they_are_set),
        CHECK_TEST(constructors_refuse_options_that_make_no_sense),
        CHECK_TEST(parameters_are_checked_when_they_are_given),
        CHECK_TEST(a_group_that_does_not_fit_is_not_added),
        CHECK_TEST(groups_are_made_by_the_names_of_parameters),
        CHECK_TEST(a_later_pattern_takes_parameters_from_groups_made_before),
        CHECK_TEST(groups_are_made_by_a_function),
        CHECK_TEST(groups_by_a_function_that_do_not_fit_are_refused),
        CHECK_TEST(groups_may_have_different_formulas),
        CHECK_TEST(groups_by_name_that_do_not_fit_are_refused),
        CHECK_TEST(defaults_are_those_of_the_macros),
    };
    if (optim_check_begin())
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tern_shutdown();
    return failed;
}
