// SPDX-License-Identifier: Apache-2.0
// Muon and Adafactor, whose directions operations make. Expected values are derived by hand.
#include "optim_check.h"
#include "support/state_check.h"

static tern_tensor *matrix(int64_t rows, int64_t columns)
{
    tern_tensor *values = tern_linspace(-1, 1, rows * columns, .dtype = TERN_FLOAT64);
    tern_tensor *t = tern_clone(tern_reshape(values, tern_dims(rows, columns)));
    return tern_set_requires_grad(t, true);
}

static void give_grad(tern_tensor *p, const double *gradient)
{
    tern_tensor *g = tern_from_data(tern_shape_of(p), gradient, .dtype = TERN_FLOAT64);
    tern_zero_grad(p);
    assert_int_equal(tern_backward(tern_sum_all(tern_mul(p, g))), TERN_OK);
}

static const double ramp[] = {0.5, -1, 2, 0.25, -3, 1, 0.75, -0.5, 1.5, -2, 4, 0.125};

// ---- Muon ---------------------------------------------------------------------------------------

// The polynomial (15 s - 10 s^3 + 3 s^5) / 8 takes singular values to 1. U V^T of a matrix that
// turns one axis and mirrors the other is that matrix without its factors.
static void a_step_of_muon_goes_along_the_orthogonal_factor(void **state)
{
    (void)state;
    const double zero[] = {0, 0, 0, 0}, gradient[] = {0, 2, -3, 0};
    tern_tensor *p =
        tern_from_data(tern_dims(2, 2), zero, .dtype = TERN_FLOAT64, .requires_grad = true);
    tern_optim *o = tern_optim_muon(NULL, .params = &p, .param_count = 1, .lr = 0.5, .momentum = 0,
                                    .ns_coefficients = {1.875, -1.25, 0.375}, .ns_steps = 20,
                                    .ns_dtype = TERN_FLOAT64);
    give_grad(p, gradient);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor_near(p, 1e-12, tern_dims(2, 2), 0, -0.5, 0.5, 0);
    tern_optim_free(o);
}

static void adamw_updates_what_is_no_matrix(void **state)
{
    (void)state;
    tern_tensor *params[] = {matrix(2, 3), leaf(start, 2)}, *vector = leaf(start, 2);
    tern_optim *muon = tern_optim_muon(NULL, .params = params, .param_count = 2, .lr = 0.02,
                                       .rest = TERN_MUON_ADAMW, .rest_lr = 0.125);
    tern_optim *adamw = tern_optim_adamw(NULL, .params = &vector, .param_count = 1, .lr = 0.125,
                                         .weight_decay = 0.1);
    for (int i = 0; i < 3; i++) {
        give_grad(params[0], ramp + i);
        set_grad(params[1], 3 - i, -4);
        set_grad(vector, 3 - i, -4);
        assert_int_equal(tern_optim_step(muon), TERN_OK);
        assert_int_equal(tern_optim_step(adamw), TERN_OK);
    }
    assert_same_values(params[1], vector);
    assert_null(tern_optim_state(muon, 0, "exp_avg"));
    assert_null(tern_optim_state(muon, 1, "momentum_buffer"));
    tern_optim_free(muon);
    tern_optim_free(adamw);
}

static void a_group_may_give_its_matrices_to_adamw(void **state)
{
    (void)state;
    tern_tensor *p = matrix(2, 3), *q = matrix(2, 3);
    tern_optim *muon = tern_optim_muon(NULL, .params = &p, .param_count = 1, .rest_lr = 0.125);
    tern_optim *adamw =
        tern_optim_adamw(NULL, .params = &q, .param_count = 1, .lr = 0.125, .weight_decay = 0.1);
    assert_int_equal(tern_optim_set(muon, 0, "rest", TERN_MUON_ADAMW_ALL), TERN_OK);
    give_grad(p, ramp);
    give_grad(q, ramp);
    assert_int_equal(tern_optim_step(muon), TERN_OK);
    assert_int_equal(tern_optim_step(adamw), TERN_OK);
    assert_same_values(p, q);
    tern_optim_free(muon);
    tern_optim_free(adamw);
}

static void parameters_that_no_rule_takes_are_refused_by_name(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(3, 2);
    tern_optim *o = tern_optim_muon(net, .rest = TERN_MUON_ADAMW);
    assert_status(tern_optim_set(o, 0, "rest", TERN_MUON_REFUSE), TERN_ERR_ARG,
                  "optim_set: bias is ");
    assert_true(tern_optim_get(o, 0, "rest") == TERN_MUON_ADAMW);
    tern_optim_free(o);
    tern_tensor *p = matrix(2, 3);
    o = tern_optim_muon(NULL, .params = &p, .param_count = 1);
    assert_status(tern_optim_add_group(o, net), TERN_ERR_ARG, "optim_add_group: bias is ");
    assert_int_equal(tern_optim_num_parameters(o), 1);
    tern_optim_free(o);
    tern_module_free(net);
}

// A state that was saved with a rule for biases is not loaded with the rule that refuses them.
static void a_loaded_number_is_held_to_the_parameters(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(3, 2);
    tern_optim *o = tern_optim_muon(net, .rest = TERN_MUON_ADAMW);
    tern_state *saved = tern_optim_state_dict(o), *copy = tern_state_copy(saved);
    assert_int_equal(tern_state_set_double(copy, "param_groups.0.rest", TERN_MUON_REFUSE), TERN_OK);
    assert_status(tern_optim_load_state_dict(o, copy), TERN_ERR_ARG, "bias is ");
    assert_true(tern_optim_get(o, 0, "rest") == TERN_MUON_ADAMW);
    tern_state_free(saved);
    tern_state_free(copy);
    tern_optim_free(o);
    tern_module_free(net);
}

// ---- Adafactor ----------------------------------------------------------------------------------

// At the first step the averages are the means themselves: of a vector V = g^2, so that the
// direction is the sign, times the size of the parameter, sqrt((1 + 4) / 2).
static void the_first_step_of_adafactor_goes_by_the_sign(void **state)
{
    (void)state;
    const double size = 1.5811388300841898;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o =
        tern_optim_adafactor(NULL, .params = &p, .param_count = 1, .lr = 0.5, .weight_decay = 0.25);
    set_grad(p, 3, -4);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor_near(p, 1e-15, tern_dims(2), 0.875 - 0.5 * size, -1.75 + 0.5 * size);
    assert_tensor(tern_optim_state(o, 0, "variance"), tern_dims(2), 9, 16);
    assert_null(tern_optim_state(o, 0, "row_var"));
    tern_optim_free(o);
}

static void a_matrix_has_the_means_of_rows_and_columns(void **state)
{
    (void)state;
    const double gradient[] = {1, 2, 3, 1, 0, -1};
    tern_tensor *p = matrix(2, 3);
    tern_optim *o = tern_optim_adafactor(NULL, .params = &p, .param_count = 1);
    give_grad(p, gradient);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor_near(tern_optim_state(o, 0, "row_var"), 1e-15, tern_dims(2, 1), 14.0 / 3,
                       2.0 / 3);
    assert_tensor_near(tern_optim_state(o, 0, "col_var"), 1e-15, tern_dims(1, 3), 1, 2, 5);
    assert_null(tern_optim_state(o, 0, "variance"));
    assert_status(tern_optim_set_state(o, 0, "row_var", p), TERN_ERR_SHAPE,
                  "optim_set_state: row_var of params[0] is (2, 1), but the value given (2, 3)");
    tern_tensor *value = tern_full(tern_dims(2, 1), 3, .dtype = TERN_FLOAT64);
    assert_int_equal(tern_optim_set_state(o, 0, "row_var", value), TERN_OK);
    assert_tensor(tern_optim_state(o, 0, "row_var"), tern_dims(2, 1), 3, 3);
    tern_optim_free(o);
}

static void gradients_of_0_change_nothing(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o = tern_optim_adafactor(NULL, .params = &p, .param_count = 1, .eps = {1e-200, 1});
    set_grad(p, 0, 0);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(p, tern_dims(2), 1, -2);
    tern_optim_free(o);
}

static void a_matrix_without_elements_has_a_state(void **state)
{
    (void)state;
    tern_tensor *p = tern_zeros(tern_dims(3, 0), .dtype = TERN_FLOAT64, .requires_grad = true);
    tern_optim *o = tern_optim_adafactor(NULL, .params = &p, .param_count = 1);
    assert_int_equal(tern_backward(tern_sum_all(p)), TERN_OK);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    tern_state *saved = tern_optim_state_dict(o);
    assert_non_null(saved);
    assert_int_equal(tern_optim_load_state_dict(o, saved), TERN_OK);
    tern_state_free(saved);
    tern_optim_free(o);
}

// ---- both ---------------------------------------------------------------------------------------

// A matrix and a vector with a step behind them.
typedef struct stepped {
    tern_tensor *params[2];
    tern_optim *optim;
} stepped;

static void backward(stepped *s, int i)
{
    give_grad(s->params[0], ramp + i);
    set_grad(s->params[1], 3, -4 - i);
}

static void step_lacking_memory(stepped *s)
{
    backward(s, 0);
    assert_int_equal(tern_optim_step(s->optim), TERN_OK);
    backward(s, 1);
    tern_state *own = tern_optim_state_dict(s->optim), *before = tern_state_copy(own);
    tern_tensor *was[] = {tern_clone(tern_detach(s->params[0])),
                          tern_clone(tern_detach(s->params[1]))};
    tern_status status = TERN_ERR_NOMEM;
    int64_t failures = 0;
    for (int64_t n = 1; status; n++) {
        tern_memory_trim();
        fail_nth_allocation(n);
        status = tern_optim_step(s->optim);
        fail_nth_allocation(0);
        if (!status)
            break;
        assert_error(TERN_ERR_NOMEM, "");
        failures++;
        assert_same_values(s->params[0], was[0]);
        assert_same_values(s->params[1], was[1]);
        tern_state *now = tern_optim_state_dict(s->optim);
        check_states(now, before, true);
        tern_state_free(now);
    }
    assert_true(failures >= 5);
    assert_int_equal(tern_optim_step_count(s->optim, 0), 2);
    tern_state_free(own);
    tern_state_free(before);
    tern_optim_free(s->optim);
}

static void a_step_that_lacks_memory_changes_nothing(void **state)
{
    (void)state;
    stepped s = {{matrix(3, 2), leaf(start, 2)}, NULL};
    s.optim = tern_optim_muon(NULL, .params = s.params, .param_count = 2, .rest = TERN_MUON_ADAMW);
    step_lacking_memory(&s);
    s.optim = tern_optim_adafactor(NULL, .params = s.params, .param_count = 2);
    step_lacking_memory(&s);
}

static void a_load_that_lacks_memory_changes_nothing(void **state)
{
    (void)state;
    tern_tensor *p = matrix(2, 3), *q = matrix(2, 3);
    tern_optim *o = tern_optim_adafactor(NULL, .params = &p, .param_count = 1, .lr = 0.5);
    tern_optim *other = tern_optim_adafactor(NULL, .params = &q, .param_count = 1);
    give_grad(p, ramp);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    tern_state *saved = tern_optim_state_dict(o), *before = tern_optim_state_dict(other);
    tern_status status = TERN_ERR_NOMEM;
    int64_t n = 0;
    while (status) {
        tern_memory_trim();
        fail_nth_allocation(++n);
        status = tern_optim_load_state_dict(other, saved);
        fail_nth_allocation(0);
        tern_state *now = tern_optim_state_dict(other);
        if (status) {
            assert_error(TERN_ERR_NOMEM, "");
            check_states(now, before, true);
        } else {
            check_states(now, saved, true);
        }
        tern_state_free(now);
    }
    assert_true(n > 5);
    tern_state_free(saved);
    tern_state_free(before);
    tern_optim_free(o);
    tern_optim_free(other);
}

static void groups_with_other_numbers_step_by_their_own(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *q = leaf(start, 2);
    tern_optim *o =
        tern_optim_adafactor(NULL, .params = &p, .param_count = 1, .lr = 0.5, .eps = {-1, 4});
    assert_int_equal(tern_optim_add_group(o, NULL, .params = &q, .param_count = 1, .lr = 0.25),
                     TERN_OK);
    set_grad(p, 3, -4);
    set_grad(q, 3, -4);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor_near(p, 1e-15, tern_dims(2), -1, 0);
    assert_tensor_near(q, 1e-15, tern_dims(2), 0, -1);
    tern_optim_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_step_of_muon_goes_along_the_orthogonal_factor),
        CHECK_TEST(adamw_updates_what_is_no_matrix),
        CHECK_TEST(a_group_may_give_its_matrices_to_adamw),
        CHECK_TEST(parameters_that_no_rule_takes_are_refused_by_name),
        CHECK_TEST(a_loaded_number_is_held_to_the_parameters),
        CHECK_TEST(the_first_step_of_adafactor_goes_by_the_sign),
        CHECK_TEST(a_matrix_has_the_means_of_rows_and_columns),
        CHECK_TEST(gradients_of_0_change_nothing),
        CHECK_TEST(a_matrix_without_elements_has_a_state),
        CHECK_TEST(a_step_that_lacks_memory_changes_nothing),
        CHECK_TEST(a_load_that_lacks_memory_changes_nothing),
        CHECK_TEST(groups_with_other_numbers_step_by_their_own),
    };
    if (optim_check_begin())
        return 1;
    return cmocka_run_group_tests_name("directions", tests, NULL, NULL) || all_given_back();
}
