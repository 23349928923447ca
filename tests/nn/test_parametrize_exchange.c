// SPDX-License-Identifier: Apache-2.0
// Parametrizations saved, loaded and taken out, and what is refused.
#include "parametrizations.h"

// ---- saving and loading -------------------------------------------------------------------------

static tern_state *state_of(const char *g, const char *v)
{
    tern_state *state = tern_state_new();
    assert_int_equal(tern_state_set_tensor(state, "0.bias", tern_zeros(tern_dims(1))), TERN_OK);
    assert_int_equal(tern_state_set_tensor(state, g, tern_full(tern_dims(1, 1), 10)), TERN_OK);
    const float values[] = {3, 4};
    assert_int_equal(tern_state_set_tensor(
                         state, v, tern_from_data(tern_dims(1, 2), values, .dtype = TERN_FLOAT32)),
                     TERN_OK);
    return state;
}

static void older_names_of_weight_norm_are_loaded_and_new_ones_saved(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 1));
    assert_ptr_equal(tern_nn_weight_norm(net, .name = "0.weight"), net);
    tern_state *old = state_of("0.weight_g", "0.weight_v");
    assert_int_equal(tern_module_load_state_dict(net, old), TERN_OK);
    assert_tensor(tern_module_parametrized(net, "0.weight"), tern_dims(1, 2), 6, 8);
    tern_state *saved = tern_module_state_dict(net);
    assert_int_equal(tern_state_count(saved), 3);
    assert_string_equal(tern_state_name_at(saved, 1), "0.parametrizations.weight.original0");
    assert_string_equal(tern_state_name_at(saved, 2), "0.parametrizations.weight.original1");
    tern_state *half = state_of("0.weight_g", "0.parametrizations.weight.original1");
    assert_status(tern_module_load_state_dict(net, half), TERN_ERR_ARG,
                  "0.parametrizations.weight.original0");
    tern_state_free(half);
    tern_state_free(saved);
    tern_state_free(old);
    tern_module_free(net);
}

// ---- taking it out ------------------------------------------------------------------------------

static void what_is_left_is_the_computed_value_or_the_original(void **state)
{
    (void)state;
    tern_module *linear = squared_4_9();
    tern_tensor *original = tern_module_parameter(linear, "parametrizations.weight.original");
    assert_int_equal(tern_module_remove_parametrizations(linear, "weight"), TERN_OK);
    assert_ptr_equal(tern_module_parameter(linear, "weight"), original);
    assert_tensor(original, tern_dims(1, 2), 4, 9);
    assert_true(tern_requires_grad(original));
    assert_int_equal(tern_module_num_children(linear), 0);
    assert_false(tern_module_is_parametrized(linear, "weight"));
    assert_false(tern_module_is_parametrized(linear, NULL));
    assert_tensor(tern_forward(linear, tern_ones(tern_dims(2))), tern_dims(1), 13);
    assert_int_equal(tern_module_register_parametrization(linear, "weight", of(&square_class)),
                     TERN_OK);
    assert_int_equal(
        tern_module_remove_parametrizations(linear, "weight", .leave_parametrized = false),
        TERN_OK);
    assert_tensor(tern_module_parameter(linear, "weight"), tern_dims(1, 2), 4, 9);
    tern_module_free(linear);
}

static tern_status row_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    out->at[out->count++] = tern_reshape(in->at[0], tern_dims(1, -1));
    return tern_error_code();
}

static const tern_module_class row_class = {
    .name = "Row", .size = sizeof(tern_module), .call = row_call};

static tern_status flatten_row(tern_module *module, tern_tensor *value, tern_tensors *originals)
{
    (void)module;
    originals->at[originals->count++] = tern_clone(tern_reshape(value, tern_dims(-1)));
    return tern_error_code();
}

static void an_original_of_another_shape_is_a_new_tensor(void **state)
{
    (void)state;
    for (int leave = 0; leave < 2; leave++) {
        tern_module *linear = linear_4_9();
        tern_tensor *weight = tern_retain(tern_module_parameter(linear, "weight"));
        assert_int_equal(tern_module_register_parametrization(linear, "weight", of(&row_class),
                                                              .right_inverse = flatten_row),
                         TERN_OK);
        tern_tensor *original = tern_module_parameter(linear, "parametrizations.weight.original");
        assert_ptr_not_equal(original, weight);
        assert_tensor(original, tern_dims(2), 4, 9);
        assert_tensor(tern_forward(linear, tern_ones(tern_dims(2))), tern_dims(1), 13);
        assert_int_equal(
            tern_module_remove_parametrizations(linear, "weight", .leave_parametrized = leave),
            TERN_OK);
        if (leave)
            assert_tensor(tern_module_parameter(linear, "weight"), tern_dims(1, 2), 4, 9);
        else
            assert_ptr_equal(tern_module_parameter(linear, "weight"), original);
        tern_release(weight);
        tern_module_free(linear);
    }
}

static void one_of_two_tensors_may_go(void **state)
{
    (void)state;
    tern_module *linear = tern_nn_linear(2, 1);
    assert_ptr_equal(tern_nn_weight_norm(linear), linear);
    assert_ptr_equal(tern_nn_weight_norm(linear, .name = "bias"), linear);
    assert_status(
        tern_module_remove_parametrizations(linear, "weight", .leave_parametrized = false),
        TERN_ERR_ARG, "is computed from 2 tensors");
    assert_int_equal(tern_module_remove_parametrizations(linear, "weight"), TERN_OK);
    assert_true(tern_module_is_parametrized(linear, "bias"));
    assert_non_null(tern_forward(linear, tern_ones(tern_dims(2))));
    assert_string_equal(tern_name(tern_module_parameter(linear, "weight")), "weight");
    assert_int_equal(tern_module_remove_parametrizations(linear, "bias"), TERN_OK);
    assert_status(tern_module_remove_parametrizations(linear, "bias"), TERN_ERR_ARG,
                  "\"bias\" of Linear is not parametrized");
    tern_module_free(linear);
}

// ---- what is refused ----------------------------------------------------------------------------

static void assert_as_before(tern_module *linear)
{
    assert_false(tern_module_is_parametrized(linear, NULL));
    assert_int_equal(tern_module_num_children(linear), 0);
    assert_tensor(tern_module_parameter(linear, "weight"), tern_dims(1, 2), 4, 9);
    assert_true(tern_requires_grad(tern_module_parameter(linear, "weight")));
    assert_tensor(tern_forward(linear, tern_ones(tern_dims(2))), tern_dims(1), 13);
}

static void what_does_not_fit_is_refused_and_the_module_stays(void **state)
{
    (void)state;
    tern_module *linear = linear_4_9();
    assert_status(tern_module_register_parametrization(linear, "weights", of(&square_class)),
                  TERN_ERR_ARG, "Linear has no parameter \"weights\"; it has weight");
    assert_status(tern_module_register_parametrization(linear, "bias", of(&square_class)),
                  TERN_ERR_STATE, "\"bias\" is absent");
    assert_status(tern_module_register_parametrization(linear, "weight", of(&flat_class)),
                  TERN_ERR_SHAPE, "its shape may not change");
    assert_status(tern_module_register_parametrization(linear, "weight", of(&double_class)),
                  TERN_ERR_DTYPE, "its dtype may not change");
    assert_status(tern_module_register_parametrization(linear, "weight", of(&refusing_class)),
                  TERN_ERR_NUMERIC, "not today");
    assert_status(tern_module_register_parametrization(linear, "weight", of(&sum_class)),
                  TERN_ERR_ARG, "Sum takes 2 tensors");
    assert_status(tern_module_register_parametrization(linear, "weight", of(&square_class),
                                                       .right_inverse = no_inverse),
                  TERN_ERR_ARG, "the right inverse of Square gave 0 tensors");
    assert_status(tern_module_register_parametrization(linear, "weight", NULL), TERN_ERR_NULL,
                  "parametrization is NULL");
    assert_status(
        tern_module_register_parametrization(linear, "weight", tern_module_retain(linear)),
        TERN_ERR_ARG, "cannot be a Linear");
    assert_as_before(linear);
    tern_module_free(linear);
}

static void a_second_one_keeps_shape_dtype_and_number(void **state)
{
    (void)state;
    tern_module *linear = squared_4_9();
    assert_status(tern_module_register_parametrization(linear, "weight", of(&flat_class)),
                  TERN_ERR_SHAPE, "its shape may not change");
    assert_status(tern_module_register_parametrization(linear, "weight", of(&square_class),
                                                       .right_inverse = halves),
                  TERN_ERR_ARG, "gave 2 tensors, not 1");
    assert_null_with(tern_nn_weight_norm(linear), TERN_ERR_STATE, "is parametrized already");
    assert_int_equal(tern_module_num_children(tern_module_child(linear, "parametrizations.weight")),
                     1);
    assert_tensor(tern_forward(linear, tern_ones(tern_dims(2))), tern_dims(1), 13);
    tern_module_free(linear);
}

static void what_shall_not_be_looked_at_may_have_another_shape(void **state)
{
    (void)state;
    tern_module *linear = linear_4_9();
    assert_int_equal(
        tern_module_register_parametrization(linear, "weight", of(&flat_class), .unsafe = true),
        TERN_OK);
    assert_tensor(tern_module_parametrized(linear, "weight"), tern_dims(2), 4, 9);
    tern_module_free(linear);
}

static void parameters_without_a_member_and_children_of_others_are_refused(void **state)
{
    (void)state;
    tern_tensor *tensor = tern_ones(tern_dims(1));
    tern_module *list = tern_nn_parameter_list(tensor);
    tern_module *square = of(&square_class), *box = tern_nn_sequential(square);
    tern_module *linear = linear_4_9();
    assert_status(tern_module_register_parametrization(list, "0", of(&square_class)), TERN_ERR_ARG,
                  "ParameterList has no member for \"0\"");
    assert_status(tern_module_register_parametrization(linear, "weight", square), TERN_ERR_STATE,
                  "belongs to Sequential already");
    assert_as_before(linear);
    tern_module_free(linear);
    tern_module_free(box);
    tern_module_free(list);
}

static void what_belongs_to_a_parametrization_is_not_exchanged(void **state)
{
    (void)state;
    tern_module *linear = squared_4_9();
    const char *const names[] = {"parametrizations", "parametrizations.weight",
                                 "parametrizations.weight.0"};
    for (int i = 0; i < 3; i++)
        assert_status(tern_module_set_child(linear, names[i], tern_nn_identity()), TERN_ERR_ARG,
                      "belongs to a parametrization");
    assert_status(tern_module_set_parameter(linear, "parametrizations.weight.original", NULL),
                  TERN_ERR_ARG, "cannot be absent");
    assert_null_with(tern_forward(tern_module_child(linear, "parametrizations"), NULL),
                     TERN_ERR_NULL, "x");
    tern_module_free(linear);
}

static tern_status change_what_runs(tern_module *module, tern_tensors *in, void *user)
{
    (void)in;
    *(tern_status *)user =
        tern_module_register_parametrization(module, "weight", of(&square_class));
    tern_error_clear();
    return TERN_OK;
}

static void what_runs_is_not_changed(void **state)
{
    (void)state;
    tern_module *linear = linear_4_9();
    tern_status status = TERN_OK;
    const uint64_t hook = tern_module_add_forward_pre_hook(linear, change_what_runs, &status);
    assert_non_null(tern_forward(linear, tern_ones(tern_dims(2))));
    assert_int_equal(status, TERN_ERR_STATE);
    tern_module_remove_hook(linear, hook);
    assert_as_before(linear);
    tern_module_free(linear);
}

static void options_of_norms_are_checked(void **state)
{
    (void)state;
    tern_module *linear = linear_4_9();
    assert_null_with(tern_nn_weight_norm(linear, .dim = 2), TERN_ERR_ARG, "dim is 2");
    assert_null_with(tern_nn_weight_norm(linear, .dim = -1), TERN_ERR_ARG, "TERN_ALL_DIMS");
    assert_null_with(tern_nn_weight_norm(linear, .name = "w"), TERN_ERR_ARG, "no parameter \"w\"");
    assert_null_with(tern_nn_spectral_norm(linear, .dim = 2), TERN_ERR_ARG, "dim is 2");
    assert_null_with(tern_nn_spectral_norm(linear, .n_power_iterations = 0), TERN_ERR_ARG,
                     "n_power_iterations is 0");
    assert_null_with(tern_nn_spectral_norm(linear, .eps = 0), TERN_ERR_ARG, "eps is 0");
    assert_null_with(tern_nn_spectral_norm(NULL), TERN_ERR_NULL, "module");
    assert_as_before(linear);
    tern_module_free(linear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(older_names_of_weight_norm_are_loaded_and_new_ones_saved),
        CHECK_TEST(what_is_left_is_the_computed_value_or_the_original),
        CHECK_TEST(an_original_of_another_shape_is_a_new_tensor),
        CHECK_TEST(one_of_two_tensors_may_go),
        CHECK_TEST(what_does_not_fit_is_refused_and_the_module_stays),
        CHECK_TEST(a_second_one_keeps_shape_dtype_and_number),
        CHECK_TEST(what_shall_not_be_looked_at_may_have_another_shape),
        CHECK_TEST(parameters_without_a_member_and_children_of_others_are_refused),
        CHECK_TEST(what_belongs_to_a_parametrization_is_not_exchanged),
        CHECK_TEST(what_runs_is_not_changed),
        CHECK_TEST(options_of_norms_are_checked),
    };
    setenv("TERN_CPU_DEVICES", "2", 1);
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
