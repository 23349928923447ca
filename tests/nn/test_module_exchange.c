// SPDX-License-Identifier: Apache-2.0
// Exchanging what a finished module holds, ties, and new draws.
#include "support/own_module.h"

// ---- parameters and buffers ---------------------------------------------------------------------

static void a_parameter_is_exchanged_where_the_module_uses_it(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(scaled_new(3, scaled_new(2, NULL)));
    tern_tensor *old = tern_retain(tern_module_parameter(m, "0.inner.scale"));
    tern_tensor *value = tern_full(tern_dims(1), 7);
    assert_int_equal(tern_module_set_parameter(m, "0.inner.scale", value), TERN_OK);
    assert_ptr_equal(tern_module_parameter(m, "0.inner.scale"), value);
    assert_ptr_equal(((scaled *)tern_module_child(m, "0.inner"))->scale, value);
    assert_true(tern_requires_grad(value));
    assert_string_equal(tern_name(value), "scale");
    assert_tensor(tern_forward(m, tern_ones(tern_dims(1))), tern_dims(1), (7 + 1) * 3 + 1);
    assert_tensor(old, tern_dims(1), 2);
    tern_release(old);
    tern_module_free(m);
}

static void the_module_holds_what_it_was_given_and_lets_the_old_one_go(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 2);
    const int64_t tensors = tern_live_tensors();
    tern_scope scope = tern_scope_open();
    assert_int_equal(tern_module_set_parameter(m, "bias", tern_ones(tern_dims(2))), TERN_OK);
    tern_scope_close(scope);
    assert_int_equal(tern_live_tensors(), tensors);
    tern_tensor *bias = tern_module_parameter(m, "bias");
    assert_tensor(bias, tern_dims(2), 1, 1);
    assert_int_equal(tern_module_set_parameter(m, "bias", bias), TERN_OK); // itself
    assert_tensor(tern_module_parameter(m, "bias"), tern_dims(2), 1, 1);
    tern_module_free(m);
}

// PyTorch's register_parameter(.., None).
static void absent_tensors_are_in_no_walk_but_their_names_are_taken(void **state)
{
    (void)state;
    scaled *self = (scaled *)tern_module_new(&scaled_class);
    tern_module *m = &self->base;
    assert_null(tern_module_add_parameter(m, "scale", &self->scale, NULL));
    assert_null(tern_module_add_buffer(m, "offset", &self->offset, NULL, true));
    assert_no_error();
    assert_null_with(tern_module_add_buffer(m, "scale", NULL, NULL, true), TERN_ERR_ARG,
                     "Scaled already has a \"scale\"");
    assert_null(tern_module_done(m));
    m = tern_nn_linear(2, 3, .bias = false);
    assert_int_equal(tern_module_num_parameters(m), 1);
    assert_int_equal(tern_module_num_elements(m, false), 6);
    assert_null_with(tern_module_parameter(m, "bias"), TERN_ERR_ARG, "it has weight");
    assert_ptr_equal(tern_module_to_dtype(m, TERN_FLOAT64), m);
    assert_ptr_equal(tern_module_requires_grad_(m, false), m);
    tern_module_zero_grad(m);
    assert_non_null(tern_forward(m, tern_ones(tern_dims(2), .dtype = TERN_FLOAT64)));
    assert_no_error();
    tern_module_free(m);
}

static void absent_parameters_are_filled_and_present_ones_taken_away(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 1, .bias = false);
    tern_tensor *x = tern_zeros(tern_dims(1, 2));
    assert_tensor(tern_forward(m, x), tern_dims(1, 1), 0);
    assert_int_equal(tern_module_set_parameter(m, "bias", tern_full(tern_dims(1), 5)), TERN_OK);
    assert_tensor(tern_forward(m, x), tern_dims(1, 1), 5);
    assert_int_equal(tern_module_set_parameter(m, "bias", NULL), TERN_OK);
    assert_tensor(tern_forward(m, x), tern_dims(1, 1), 0);
    assert_int_equal(tern_module_num_parameters(m), 1);
    assert_int_equal(tern_module_set_parameter(m, "weight", NULL), TERN_OK);
    assert_null_with(tern_forward(m, x), TERN_ERR_NULL, "linear: weight is NULL");
    tern_module_free(m);
}

static void errors_show_the_module_as_it_is_now(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(tern_nn_linear(2, 1, .bias = false));
    tern_tensor *wide = tern_ones(tern_dims(1, 5));
    assert_null_with(tern_forward(m, wide), TERN_ERR_SHAPE, "out_features=1, bias=False))]");
    assert_int_equal(tern_module_set_parameter(m, "0.bias", tern_ones(tern_dims(1))), TERN_OK);
    assert_null_with(tern_forward(m, wide), TERN_ERR_SHAPE, "out_features=1, bias=True))]");
    assert_int_equal(tern_module_set_parameter(tern_module_child(m, "0"), "bias", NULL), TERN_OK);
    assert_null_with(tern_forward(m, wide), TERN_ERR_SHAPE, "out_features=1, bias=False))]");
    tern_module_free(m);
}

static void errors_show_it_in_every_place(void **state)
{
    (void)state;
    tern_module *twice = tern_nn_linear(2, 1, .bias = false);
    tern_module *m = tern_nn_sequential(tern_nn_sequential(tern_module_retain(twice)),
                                        tern_nn_sequential(twice));
    tern_tensor *wide = tern_ones(tern_dims(1, 5));
    for (int i = 0; i < 2; i++)
        assert_null_with(tern_forward(tern_module_child_at(m, i), wide), TERN_ERR_SHAPE,
                         "bias=False))]");
    assert_int_equal(tern_module_set_parameter(m, "0.0.bias", tern_ones(tern_dims(1))), TERN_OK);
    for (int i = 0; i < 2; i++)
        assert_null_with(tern_forward(tern_module_child_at(m, i), wide), TERN_ERR_SHAPE,
                         "bias=True))]");
    tern_module_free(m);
}

static void a_buffer_is_exchanged_and_stays_persistent_or_not(void **state)
{
    (void)state;
    tern_module *m = tern_module_new(&odd_class);
    (void)tern_module_add_buffer(m, "cache", NULL, tern_ones(tern_dims(1)), false);
    m = tern_module_done(m);
    assert_int_equal(tern_module_set_buffer(m, "cache", tern_zeros(tern_dims(2))), TERN_OK);
    assert_tensor(tern_module_buffer(m, "cache"), tern_dims(2), 0, 0);
    tern_tensor *leaf = tern_ones(tern_dims(1), .requires_grad = true);
    assert_status(tern_module_set_buffer(m, "cache", leaf), TERN_ERR_STATE, "requires a gradient");
    assert_int_equal(tern_module_num_buffers(m), 1);
    tern_module_free(m);
}

static void what_is_no_parameter_is_refused_and_the_old_one_stays(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 2);
    tern_tensor *bias = tern_module_parameter(m, "bias");
    assert_status(tern_module_set_parameter(m, "bias", tern_exp(bias)), TERN_ERR_STATE,
                  "is the result of exp");
    assert_status(
        tern_module_set_parameter(m, "bias", tern_ones(tern_dims(2), .dtype = TERN_INT64)),
        TERN_ERR_DTYPE, "floating");
    assert_status(tern_module_set_parameter(m, "bais", bias), TERN_ERR_ARG,
                  "module_set_parameter: Linear has no parameter \"bais\"; it has weight, bias");
    assert_status(tern_module_set_buffer(m, "bias", bias), TERN_ERR_ARG, "has no buffer \"bias\"");
    assert_status(tern_module_set_parameter(m, "bias", tern_zeros(tern_dims(-1))), TERN_ERR_SHAPE,
                  "-1");
    assert_ptr_equal(tern_module_parameter(m, "bias"), bias);
    tern_module_free(m);
}

// ---- ties ---------------------------------------------------------------------------------------

static void a_tie_makes_two_parameters_one(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(scaled_new(3, NULL), scaled_new(2, NULL));
    assert_int_equal(tern_module_tie(m, "1.scale", m, "0.scale"), TERN_OK);
    tern_tensor *one = tern_module_parameter(m, "0.scale");
    assert_ptr_equal(tern_module_parameter(m, "1.scale"), one);
    assert_int_equal(tern_module_num_parameters(m), 1);
    tern_tensor *y = tern_forward(m, tern_ones(tern_dims(1)));
    assert_tensor(y, tern_dims(1), 13); // s (s x + 1) + 1 for s = 3, x = 1
    assert_int_equal(tern_backward(y), TERN_OK);
    assert_tensor(tern_grad(one), tern_dims(1), 7); // 2 s x + 1
    assert_int_equal(tern_module_tie(m, "1.scale", m, "1.scale"), TERN_OK);
    tern_module_free(m);
}

static void ties_are_of_one_shape_dtype_and_device(void **state)
{
    (void)state;
    tern_module *a = tern_nn_linear(2, 3), *b = tern_nn_linear(3, 2);
    tern_module *doubles = tern_nn_linear(2, 3, .dtype = TERN_FLOAT64);
    tern_module *far = tern_nn_linear(2, 3, .device = tern_cpu(1), .bias = false);
    assert_status(tern_module_tie(a, "weight", b, "weight"), TERN_ERR_SHAPE,
                  "module_tie: \"weight\" is float32 (3, 2) on cpu:0 and \"weight\" float32 (2, 3) "
                  "on cpu:0: their shapes must agree");
    assert_status(tern_module_tie(a, "weight", doubles, "weight"), TERN_ERR_DTYPE, "dtypes");
    assert_status(tern_module_tie(a, "weight", far, "weight"), TERN_ERR_DEVICE, "tern_module_to");
    assert_status(tern_module_tie(a, "bias", far, "bias"), TERN_ERR_STATE, "\"bias\" is absent");
    assert_int_equal(tern_module_tie(far, "bias", a, "bias"), TERN_OK); // was absent
    assert_ptr_equal(tern_module_parameter(far, "bias"), tern_module_parameter(a, "bias"));
    tern_module_free(a);
    tern_module_free(b);
    tern_module_free(doubles);
    tern_module_free(far);
}

// ---- children -----------------------------------------------------------------------------------

static int frees;

static void count_free(tern_module *module)
{
    (void)module;
    frees++;
}

static const tern_module_class counted_class = {
    .name = "Counted", .size = sizeof(tern_module), .call = call_odd, .free = count_free};

static tern_module *counted_new(void)
{
    return tern_module_done(tern_module_new(&counted_class));
}

static void a_child_is_exchanged_and_the_old_one_freed(void **state)
{
    (void)state;
    frees = 0;
    tern_module *m = tern_nn_sequential(tern_nn_relu(), scaled_new(1, counted_new()));
    tern_module *next = scaled_new(4, NULL);
    assert_int_equal(tern_module_set_child(m, "1.inner", next), TERN_OK);
    assert_int_equal(frees, 1);
    assert_ptr_equal(tern_module_child(m, "1.inner"), next);
    assert_ptr_equal(((scaled *)tern_module_child(m, "1"))->inner, next);
    assert_tensor(tern_forward(m, tern_ones(tern_dims(1))), tern_dims(1), 4 + 1 + 1);
    tern_module_free(m);
}

static void a_sequential_runs_its_new_child(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(scaled_new(3, NULL), tern_nn_relu());
    assert_tensor(tern_forward(m, tern_ones(tern_dims(1))), tern_dims(1), 4);
    assert_int_equal(tern_module_set_child(m, "0", scaled_new(-3, NULL)), TERN_OK);
    assert_tensor(tern_forward(m, tern_ones(tern_dims(1))), tern_dims(1), 0);
    tern_module_free(m);
}

static void a_module_in_two_places_gets_its_child_in_both(void **state)
{
    (void)state;
    tern_module *twice = scaled_new(1, scaled_new(2, NULL));
    tern_module *m = tern_nn_sequential(tern_module_retain(twice), twice);
    assert_int_equal(tern_module_set_child(m, "1.inner", tern_nn_identity()), TERN_OK);
    assert_ptr_equal(tern_module_child(m, "0.inner"), tern_module_child(m, "1.inner"));
    assert_tensor(tern_forward(m, tern_ones(tern_dims(1))), tern_dims(1), 3);
    // One of the two places: the other one keeps it.
    assert_int_equal(tern_module_set_child(m, "0", tern_nn_identity()), TERN_OK);
    assert_ptr_equal(tern_module_child(m, "1"), twice);
    tern_module_free(twice); // the parent's
    assert_error(TERN_ERR_STATE, "Scaled belongs to Sequential");
    tern_module_free(m);
}

static void an_old_child_that_somebody_retains_is_its_own_again(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(scaled_new(2, NULL));
    tern_module *old = tern_module_retain(tern_module_child(m, "0"));
    assert_int_equal(tern_module_set_child(m, "0", tern_nn_relu()), TERN_OK);
    tern_module *other = tern_nn_sequential(old);
    assert_non_null(other);
    tern_module_free(m);
    assert_tensor(tern_forward(other, tern_ones(tern_dims(1))), tern_dims(1), 3);
    tern_module_free(other);
}

static void cycles_and_children_of_others_are_refused(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(tern_nn_sequential(tern_nn_relu()), tern_nn_tanh());
    assert_status(
        tern_module_set_child(m, "0.0", tern_module_retain(m)), TERN_ERR_ARG,
        "module_set_child: \"0.0\" cannot be a Sequential that has this Sequential below");
    tern_module *inner = tern_module_child(m, "0");
    assert_status(tern_module_set_child(inner, "0", tern_module_retain(inner)), TERN_ERR_ARG,
                  "below itself");
    assert_status(tern_module_set_child(m, "0", tern_module_child(m, "1")), TERN_ERR_STATE,
                  "\"0\" (Tanh) belongs to Sequential already");
    assert_status(tern_module_set_child(m, "2", tern_nn_relu()), TERN_ERR_ARG,
                  "Sequential has no child \"2\"; it has 0, 0.0, 1");
    assert_status(tern_module_set_child(m, "", tern_nn_relu()), TERN_ERR_ARG, "no child \"\"");
    assert_ptr_equal(tern_module_child(m, "0"), inner);
    tern_module_free(m);
}

static void trees_stay_below_the_limit_of_depth(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(tern_nn_relu()), *tail = tern_nn_relu();
    for (int i = 0; i < 40; i++)
        m = tern_nn_sequential(m); // 42 levels
    for (int i = 0; i < 23; i++)
        tail = tern_nn_sequential(tail); // 24 levels
    char name[200] = "0";
    for (int i = 0; i < 40; i++)
        strcat(name, ".0"); // the ReLU is on level 42
    assert_status(tern_module_set_child(m, name, tern_module_retain(tail)), TERN_ERR_ARG,
                  "makes Sequential deeper than 64 levels");
    tern_module *shorter = tern_module_retain(tern_module_child(tail, "0")); // 23 levels
    tern_module_free(tail);
    assert_int_equal(tern_module_set_child(m, name, shorter), TERN_OK); // 41 + 23
    assert_null_with(tern_nn_sequential(tern_module_retain(m)), TERN_ERR_ARG, "deeper than 64");
    tern_module_free(m);
}

static tern_module *net;

static tern_status exchange(tern_module *module, tern_tensors *in, void *user)
{
    (void)module, (void)in;
    return tern_module_set_child(net, user, tern_nn_relu());
}

static void what_runs_keeps_its_children(void **state)
{
    (void)state;
    net =
        tern_nn_sequential(tern_nn_sequential(tern_nn_tanh()), tern_nn_sequential(tern_nn_tanh()));
    tern_tensor *x = tern_zeros(tern_dims(1));
    tern_module *runs = tern_module_child(net, "0.0");
    uint64_t hook = tern_module_add_forward_pre_hook(runs, exchange, "0.0");
    assert_null_with(tern_forward(net, x), TERN_ERR_STATE,
                     "module_set_child: \"0.0\" belongs to a Sequential that runs or is traversed");
    tern_module_remove_hook(runs, hook);
    hook = tern_module_add_forward_pre_hook(runs, exchange, "0");
    assert_null_with(tern_forward(net, x), TERN_ERR_STATE,
                     "\"0\" belongs to a Sequential that runs");
    tern_module_remove_hook(runs, hook);
    hook = tern_module_add_forward_pre_hook(runs, exchange, "1.0"); // runs later
    assert_non_null(tern_forward(net, x));
    tern_module_free(net);
}

static tern_status exchange_in_traversal(const char *name, tern_module *module, void *user)
{
    (void)module;
    return strcmp(name, user) == 0 ? tern_module_set_child(net, name, tern_nn_relu()) : TERN_OK;
}

static void what_is_traversed_keeps_its_children(void **state)
{
    (void)state;
    net = tern_nn_sequential(tern_nn_sequential(tern_nn_tanh()));
    assert_status(tern_module_each_module(net, exchange_in_traversal, "0.0"), TERN_ERR_STATE,
                  "\"0.0\" belongs to a Sequential that runs or is traversed");
    assert_status(tern_module_apply(net, exchange_in_traversal, "0"), TERN_ERR_STATE,
                  "is traversed");
    assert_int_equal(tern_module_set_child(net, "0", tern_nn_relu()), TERN_OK);
    tern_module_free(net);
}

// ---- new draws ----------------------------------------------------------------------------------

static void a_reset_draws_what_the_constructor_draws(void **state)
{
    (void)state;
    tern_manual_seed(3);
    tern_module *a = tern_nn_sequential(tern_nn_linear(4, 3), tern_nn_relu(), tern_nn_linear(3, 2));
    tern_module *b = tern_module_copy(a);
    tern_module_eval(b);
    tern_no_grad {
        assert_non_null(tern_fill_(tern_module_parameter(b, "0.weight"), 0));
        assert_non_null(tern_fill_(tern_module_parameter(b, "2.bias"), 0));
    }
    tern_manual_seed(3);
    assert_int_equal(tern_module_reset_parameters(b, NULL), TERN_OK);
    char name[TERN_NAME_SIZE];
    for (int i = 0; i < 4; i++) {
        tern_tensor *one = tern_module_parameter_at(a, i, name, sizeof name);
        tern_tensor *other = tern_module_parameter(b, name);
        assert_memory_equal(tern_data(one), tern_data(other), (size_t)tern_numel(one) * 4);
        assert_true(tern_requires_grad(other));
    }
    tern_generator *generator = tern_generator_new(3); // the same numbers
    assert_int_equal(tern_module_reset_parameters(b, generator), TERN_OK);
    assert_memory_equal(tern_data(tern_module_parameter(a, "2.weight")),
                        tern_data(tern_module_parameter(b, "2.weight")), 24);
    tern_generator_free(generator);
    tern_module_free(a);
    tern_module_free(b);
}

static bool refuses;

static tern_status reset_scale(tern_module *module, tern_generator *generator)
{
    scaled *self = (scaled *)module;
    if (!tern_uniform_(self->scale, 0, 1, generator) || !tern_fill_(self->offset, -1))
        return tern_error_code();
    return refuses ? tern_error_raise(TERN_ERR_NUMERIC, "no draw today") : TERN_OK;
}

static const tern_module_class drawn_class = {
    .name = "Drawn", .size = sizeof(scaled), .call = call_scaled, .reset = reset_scale};

static tern_module *drawn_new(void)
{
    scaled *self = (scaled *)tern_module_new(&drawn_class);
    tern_module_add_parameter(&self->base, "scale", &self->scale, tern_full(tern_dims(1), 5));
    tern_module_add_buffer(&self->base, "offset", &self->offset, tern_full(tern_dims(1), 5), true);
    return tern_module_done(&self->base);
}

static void done_draws_and_a_draw_that_fails_fails_the_constructor(void **state)
{
    (void)state;
    refuses = false;
    tern_module *m = drawn_new();
    assert_tensor(tern_module_buffer(m, "offset"), tern_dims(1), -1);
    tern_module_free(m);
    refuses = true;
    assert_null_with(drawn_new(), TERN_ERR_NUMERIC, "no draw today");
}

static void a_reset_that_fails_leaves_values_and_generator(void **state)
{
    (void)state;
    refuses = false;
    tern_module *m = tern_nn_sequential(tern_nn_linear(2, 2), drawn_new(), tern_nn_linear(2, 2));
    tern_no_grad {
        for (int i = 0; i < 5; i++)
            assert_non_null(tern_fill_(tern_module_parameter_at(m, i, NULL, 0), i));
        assert_non_null(tern_fill_(tern_module_buffer(m, "1.offset"), 9));
    }
    tern_manual_seed(4);
    tern_tensor *expected = tern_rand(tern_dims(3));
    tern_manual_seed(4);
    refuses = true;
    assert_status(tern_module_reset_parameters(m, NULL), TERN_ERR_NUMERIC, "no draw today");
    assert_tensor(tern_module_parameter(m, "0.weight"), tern_dims(2, 2), 0, 0, 0, 0);
    assert_tensor(tern_module_parameter(m, "0.bias"), tern_dims(2), 1, 1);
    assert_tensor(tern_module_parameter(m, "1.scale"), tern_dims(1), 2);
    assert_tensor(tern_module_parameter(m, "2.weight"), tern_dims(2, 2), 3, 3, 3, 3);
    assert_tensor(tern_module_buffer(m, "1.offset"), tern_dims(1), 9);
    tern_tensor *drawn = tern_rand(tern_dims(3));
    assert_memory_equal(tern_data(drawn), tern_data(expected), 12);
    tern_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_parameter_is_exchanged_where_the_module_uses_it),
        CHECK_TEST(the_module_holds_what_it_was_given_and_lets_the_old_one_go),
        CHECK_TEST(absent_tensors_are_in_no_walk_but_their_names_are_taken),
        CHECK_TEST(absent_parameters_are_filled_and_present_ones_taken_away),
        CHECK_TEST(errors_show_the_module_as_it_is_now),
        CHECK_TEST(errors_show_it_in_every_place),
        CHECK_TEST(a_buffer_is_exchanged_and_stays_persistent_or_not),
        CHECK_TEST(what_is_no_parameter_is_refused_and_the_old_one_stays),
        CHECK_TEST(a_tie_makes_two_parameters_one),
        CHECK_TEST(ties_are_of_one_shape_dtype_and_device),
        CHECK_TEST(a_child_is_exchanged_and_the_old_one_freed),
        CHECK_TEST(a_sequential_runs_its_new_child),
        CHECK_TEST(a_module_in_two_places_gets_its_child_in_both),
        CHECK_TEST(an_old_child_that_somebody_retains_is_its_own_again),
        CHECK_TEST(cycles_and_children_of_others_are_refused),
        CHECK_TEST(trees_stay_below_the_limit_of_depth),
        CHECK_TEST(what_runs_keeps_its_children),
        CHECK_TEST(what_is_traversed_keeps_its_children),
        CHECK_TEST(a_reset_draws_what_the_constructor_draws),
        CHECK_TEST(done_draws_and_a_draw_that_fails_fails_the_constructor),
        CHECK_TEST(a_reset_that_fails_leaves_values_and_generator),
    };
    setenv("TERN_CPU_DEVICES", "2", 1);
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
