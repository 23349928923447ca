// SPDX-License-Identifier: Apache-2.0
// Parametrizations: parameters that are computed from others, and all that is done with modules
// that have them.
#include <pthread.h>

#include "parametrizations.h"

// ---- what is registered -------------------------------------------------------------------------

static void the_original_is_the_parameter_with_the_values_of_the_right_inverse(void **state)
{
    (void)state;
    tern_module *linear = linear_4_9();
    tern_tensor *weight = tern_module_parameter(linear, "weight");
    tern_optim *sgd = tern_optim_sgd(linear, .lr = 0.5);
    assert_int_equal(tern_module_register_parametrization(linear, "weight", of(&square_class),
                                                          .right_inverse = square_root),
                     TERN_OK);
    assert_ptr_equal(tern_module_parameter(linear, "parametrizations.weight.original"), weight);
    assert_tensor(weight, tern_dims(1, 2), 2, 3);
    assert_tensor(tern_module_parametrized(linear, "weight"), tern_dims(1, 2), 4, 9);
    assert_int_equal(tern_backward(tern_sum_all(tern_forward(linear, tern_ones(tern_dims(2))))),
                     TERN_OK);
    assert_tensor(tern_grad(weight), tern_dims(1, 2), 4, 6);
    assert_int_equal(tern_optim_step(sgd), TERN_OK); // that was made before
    assert_tensor(tern_forward(linear, tern_ones(tern_dims(2))), tern_dims(1), 0);
    tern_optim_free(sgd);
    tern_module_free(linear);
}

static void several_originals_are_new_parameters(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(linear_4_9());
    assert_int_equal(tern_module_register_parametrization(net, "0.weight", of(&sum_class),
                                                          .right_inverse = halves),
                     TERN_OK);
    assert_tensor(tern_module_parameter(net, "0.parametrizations.weight.original0"),
                  tern_dims(1, 2), 2, 4.5);
    assert_tensor(tern_module_parameter(net, "0.parametrizations.weight.original1"),
                  tern_dims(1, 2), 2, 4.5);
    assert_int_equal(tern_module_num_parameters(net), 2);
    assert_true(
        tern_requires_grad(tern_module_parameter(net, "0.parametrizations.weight.original1")));
    assert_null_with(tern_module_parameter(net, "0.weight"), TERN_ERR_ARG,
                     "0.parametrizations.weight.original0");
    assert_tensor(tern_forward(net, tern_ones(tern_dims(2))), tern_dims(1), 13);
    assert_true(tern_module_is_parametrized(net, "0.weight"));
    assert_false(tern_module_is_parametrized(net, "0.bias"));
    assert_false(tern_module_is_parametrized(net, NULL));
    assert_true(tern_module_is_parametrized(tern_module_child(net, "0"), NULL));
    tern_module_free(net);
}

static void a_frozen_parameter_gives_frozen_originals(void **state)
{
    (void)state;
    tern_module *linear = linear_4_9();
    tern_tensor *weight = tern_retain(tern_module_parameter(linear, "weight"));
    tern_module_requires_grad_(linear, false);
    assert_ptr_equal(tern_nn_weight_norm(linear), linear);
    assert_ptr_not_equal(tern_module_parameter(linear, "parametrizations.weight.original1"),
                         weight);
    tern_release(weight);
    assert_int_equal(tern_module_num_elements(linear, true), 0);
    assert_false(tern_requires_grad(tern_forward(linear, tern_ones(tern_dims(2)))));
    tern_module_free(linear);
}

static void a_second_one_computes_from_what_the_first_gives(void **state)
{
    (void)state;
    tern_module *linear = squared_4_9();
    assert_int_equal(tern_module_register_parametrization(linear, "weight", of(&square_class)),
                     TERN_OK);
    assert_tensor(tern_forward(linear, tern_ones(tern_dims(2))), tern_dims(1), 16 + 81);
    assert_non_null(tern_module_child(linear, "parametrizations.weight.1"));
    for (int i = 2; i < TERN_MAX_PARAMETRIZATIONS; i++)
        assert_int_equal(tern_module_register_parametrization(linear, "weight", tern_nn_identity()),
                         TERN_OK);
    assert_status(tern_module_register_parametrization(linear, "weight", tern_nn_identity()),
                  TERN_ERR_ARG, "has 8 parametrizations already");
    tern_module_free(linear);
}

static void a_parametrization_gets_the_mode_of_the_module(void **state)
{
    (void)state;
    tern_module *linear = tern_module_eval(linear_4_9());
    assert_ptr_equal(tern_nn_spectral_norm(linear), linear);
    const tern_module *norm = tern_module_child(linear, "parametrizations.weight.0");
    assert_false(tern_module_is_training(norm));
    tern_module_train(linear, true);
    assert_true(tern_module_is_training(norm));
    tern_module_free(linear);
}

static void power_iterations_are_those_of_training_and_two_forwards_have_a_backward(void **state)
{
    (void)state;
    tern_manual_seed(5);
    tern_module *linear = tern_nn_linear(4, 3);
    assert_ptr_equal(tern_nn_spectral_norm(linear), linear);
    tern_tensor *u = tern_module_buffer(linear, "parametrizations.weight.0._u");
    tern_tensor *x = tern_randn(tern_dims(2, 4));
    const float first[] = {1, 0, 0};
    assert_int_equal(tern_from_host(u, first, 12), TERN_OK);
    tern_module_eval(linear);
    (void)tern_forward(linear, x);
    assert_tensor(u, tern_dims(3), 1, 0, 0);
    tern_module_train(linear, true);
    tern_tensor *y = tern_sub(tern_forward(linear, x), tern_forward(linear, tern_neg(x)));
    assert_true(value_at(u, 1) != 0);
    assert_int_equal(tern_backward(tern_sum_all(y)), TERN_OK);
    tern_module_free(linear);
}

// ---- computing it elsewhere ---------------------------------------------------------------------

static void what_the_member_points_to_between_forwards_cannot_be_used(void **state)
{
    (void)state;
    tern_module *m = scaled_new(3, NULL);
    assert_int_equal(tern_module_register_parametrization(m, "scale", of(&square_class)), TERN_OK);
    tern_tensor *member = ((scaled *)m)->scale;
    assert_null_with(tern_neg(member), TERN_ERR_STATE,
                     "x (\"scale\", float32 (1,)) died when it was parametrized");
    assert_tensor(tern_forward(m, tern_ones(tern_dims(1))), tern_dims(1), 10);
    assert_ptr_equal(((scaled *)m)->scale, member);
    tern_module_free(m);
}

static void a_failure_in_it_names_it_and_the_module_runs_again(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(linear_4_9(), tern_nn_relu());
    assert_int_equal(
        tern_module_register_parametrization(net, "0.weight", of(&refusing_class), .unsafe = true),
        TERN_OK);
    assert_null_with(tern_forward(net, tern_ones(tern_dims(2))), TERN_ERR_NUMERIC,
                     "not today [in 0.parametrizations.weight.0 (Refusing)]");
    assert_null_with(tern_forward(net, tern_ones(tern_dims(2))), TERN_ERR_NUMERIC, "not today");
    assert_int_equal(
        tern_module_remove_parametrizations(net, "0.weight", .leave_parametrized = false), TERN_OK);
    assert_tensor(tern_forward(net, tern_ones(tern_dims(2))), tern_dims(1), 13);
    tern_module_free(net);
}

static void errors_and_prints_describe_the_module_as_before(void **state)
{
    (void)state;
    char text[1000] = "";
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 1), tern_nn_relu());
    assert_ptr_equal(tern_nn_weight_norm(net, .name = "0.weight"), net);
    assert_ptr_equal(tern_nn_weight_norm(net, .name = "0.bias"), net);
    assert_null_with(tern_forward(net, tern_ones(tern_dims(3))), TERN_ERR_SHAPE,
                     "[in 0 (Linear(in_features=2, out_features=1, bias=True))]");
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_int_equal(tern_module_print(net, file), TERN_OK);
    fclose(file);
    assert_string_equal(text, "Sequential(\n"
                              "  (0): ParametrizedLinear(\n"
                              "    in_features=2, out_features=1, bias=True\n"
                              "    (parametrizations): ModuleDict(\n"
                              "      (weight): ParametrizationList(\n"
                              "        (0): _WeightNorm()\n"
                              "      )\n"
                              "      (bias): ParametrizationList(\n"
                              "        (0): _WeightNorm()\n"
                              "      )\n"
                              "    )\n"
                              "  )\n"
                              "  (1): ReLU()\n"
                              ")\n");
    assert_true(tern_module_summary_format(net, tern_dims(4, 2), TERN_FLOAT32, text, sizeof text) >
                0);
    tern_module_free(net);
}

static void a_loss_that_has_the_linear_uses_what_is_computed(void **state)
{
    (void)state;
    tern_module *plain = tern_nn_linear_cross_entropy_loss(4, 3);
    tern_module *loss = tern_module_copy(plain);
    tern_tensor *x = tern_ones(tern_dims(2, 4)), *y = tern_zeros(tern_dims(2), .dtype = TERN_INT64);
    assert_ptr_equal(tern_nn_weight_norm(loss, .name = "linear.weight"), loss);
    const double expected = tern_item(tern_loss(plain, x, y));
    assert_near(tern_item(tern_loss(loss, x, y)), expected, 1e-6, 0);
    tern_module_free(loss);
    tern_module_free(plain);
}

static tern_status run_again(tern_module *module, const tern_tensors *in, tern_tensors *out);
static const tern_module_class recursive_class = {
    .name = "Recursive", .size = sizeof(scaled), .call = run_again};

// scale * x, three times.
static tern_status run_again(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    tern_tensor *y = tern_mul(in->at[0], ((scaled *)module)->scale);
    out->at[out->count++] = tern_item(y) < 64 ? tern_forward(module, y) : y;
    return tern_error_code();
}

static void a_module_may_run_itself(void **state)
{
    (void)state;
    scaled *self = (scaled *)tern_module_new(&recursive_class);
    tern_module_add_parameter(&self->base, "scale", &self->scale, tern_full(tern_dims(1), 2));
    tern_module *m = tern_module_done(&self->base);
    assert_int_equal(tern_module_register_parametrization(m, "scale", of(&square_class)), TERN_OK);
    assert_tensor(tern_forward(m, tern_ones(tern_dims(1))), tern_dims(1), 64);
    tern_module_free(m);
}

static void gradients_are_those_of_differences(void **state)
{
    (void)state;
    tern_manual_seed(1);
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(3, 4, .dtype = TERN_FLOAT64), tern_nn_tanh(),
                           tern_nn_linear(4, 2, .dtype = TERN_FLOAT64));
    tern_tensor *x = tern_randn(tern_dims(5, 3), .dtype = TERN_FLOAT64);
    assert_ptr_equal(tern_nn_weight_norm(net, .name = "0.weight", .dim = 1), net);
    assert_int_equal(tern_module_register_parametrization(net, "0.weight", of(&square_class)),
                     TERN_OK);
    assert_ptr_equal(tern_nn_spectral_norm(net, .name = "2.weight"), net);
    assert_int_equal(tern_gradcheck_module(tern_module_eval(net), &x, 1), TERN_OK);
    tern_module_free(net);
}

// ---- what is done with such modules -------------------------------------------------------------

static void a_copy_has_originals_of_its_own_in_any_order_of_freeing(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(squared_4_9());
    tern_module *square = tern_module_retain(tern_module_child(net, "0.parametrizations.weight.0"));
    tern_module *copy = tern_module_copy(net);
    assert_non_null(copy);
    tern_no_grad (void)
        tern_zero_(tern_module_parameter(net, "0.parametrizations.weight.original"));
    tern_module_free(net);
    assert_tensor(tern_forward(square, tern_full(tern_dims(1), 3)), tern_dims(1), 9);
    tern_module_free(square);
    assert_tensor(tern_forward(copy, tern_ones(tern_dims(2))), tern_dims(1), 13);
    tern_module *twin = tern_module_copy(copy);
    tern_module_free(copy);
    assert_int_equal(tern_module_remove_parametrizations(twin, "0.weight"), TERN_OK);
    assert_tensor(tern_module_parameter(twin, "0.weight"), tern_dims(1, 2), 4, 9);
    tern_module_free(twin);
}

static void moves_and_casts_take_the_originals_along(void **state)
{
    (void)state;
    tern_module *linear = tern_nn_linear(8, 4);
    assert_ptr_equal(tern_nn_spectral_norm(linear), linear);
    assert_ptr_equal(tern_nn_weight_norm(linear, .name = "bias"), linear);
    assert_ptr_equal(tern_module_to(linear, tern_cpu(1)), linear);
    tern_tensor *y = tern_forward(linear, tern_ones(tern_dims(8), .device = tern_cpu(1)));
    assert_true(tern_device_equal(tern_device_of(y), tern_cpu(1)));
    for (tern_dtype dtype = TERN_FLOAT64; dtype <= TERN_BFLOAT16; dtype++) {
        assert_ptr_equal(tern_module_to_dtype(linear, dtype), linear);
        y = tern_forward(linear, tern_ones(tern_dims(8), .dtype = dtype, .device = tern_cpu(1)));
        assert_int_equal(tern_dtype_of(y), dtype);
        assert_int_equal(tern_backward(tern_sum_all(y)), TERN_OK);
        assert_int_equal(tern_dtype_of(tern_module_parametrized(linear, "weight")), dtype);
    }
    tern_module_free(linear);
}

static void a_reset_draws_the_originals_anew(void **state)
{
    (void)state;
    tern_module *linear = tern_nn_linear(3, 2);
    assert_ptr_equal(tern_nn_weight_norm(linear), linear);
    tern_manual_seed(9);
    tern_module *plain = tern_nn_linear(3, 2);
    tern_manual_seed(9);
    assert_int_equal(tern_module_reset_parameters(linear, NULL), TERN_OK);
    tern_tensor *x = tern_randn(tern_dims(4, 3));
    tern_tensor *change = tern_abs(tern_sub(tern_forward(plain, x), tern_forward(linear, x)));
    assert_true(tern_item(tern_amax(change, TERN_ALL_AXES, false)) < 1e-6);
    assert_memory_equal(
        tern_data(tern_module_parameter(linear, "parametrizations.weight.original1")),
        tern_data(tern_module_parameter(plain, "weight")), 24);
    tern_module_free(plain);
    tern_module_free(linear);
}

static bool refuses; // in a constructor all is well

static tern_status refuse_to_draw(tern_module *module, tern_generator *generator)
{
    (void)module;
    (void)generator;
    return refuses ? tern_error_raise(TERN_ERR_NUMERIC, "no draw today") : TERN_OK;
}

static const tern_module_class undrawn_class = {
    .name = "Undrawn", .size = sizeof(tern_module), .call = square_call, .reset = refuse_to_draw};

static void a_reset_draws_the_vectors_of_a_spectral_norm_anew(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(6, 5), of(&undrawn_class));
    tern_module *linear = tern_module_child(net, "0");
    assert_ptr_equal(tern_nn_spectral_norm(linear), linear);
    tern_module_eval(net);
    tern_tensor *u = tern_module_buffer(linear, "parametrizations.weight.0._u");
    tern_tensor *v = tern_module_buffer(linear, "parametrizations.weight.0._v");
    tern_no_grad (void)
        tern_fill_(u, NAN);
    tern_generator *generator = tern_generator_new(7);
    assert_int_equal(tern_module_reset_parameters(linear, generator), TERN_OK);
    tern_tensor *w = tern_module_parameter(linear, "parametrizations.weight.original");
    // W v = sigma u, the length of W v being sigma, and the weight has the largest length 1.
    assert_near(tern_item(tern_norm(u, 2, TERN_ALL_AXES, false)), 1, 1e-5, 0);
    assert_near(tern_item(tern_matmul(u, tern_normalize(tern_matmul(w, v), .dim = 0))), 1, 1e-3, 0);
    tern_tensor *y = tern_matmul(tern_module_parametrized(linear, "weight"), v);
    assert_near(tern_item(tern_norm(y, 2, TERN_ALL_AXES, false)), 1, 1e-3, 0);
    tern_tensor *before = tern_clone(u);
    refuses = true;
    assert_status(tern_module_reset_parameters(net, generator), TERN_ERR_NUMERIC, "no draw today");
    refuses = false;
    assert_memory_equal(tern_data(u), tern_data(before), 20);
    tern_generator_free(generator);
    tern_module_free(net);
}

// a x + b, of which a reset draws `a` alone.
typedef struct half_drawn {
    tern_module base;
    tern_tensor *a, *b;
} half_drawn;

static tern_status half_drawn_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    half_drawn *self = (half_drawn *)module;
    out->at[out->count++] = tern_add(tern_mul(in->at[0], self->a), self->b);
    return tern_error_code();
}

static tern_status draw_a(tern_module *module, tern_generator *generator)
{
    (void)generator;
    return tern_fill_(((half_drawn *)module)->a, 4) ? TERN_OK : tern_error_code();
}

static const tern_module_class half_drawn_class = {
    .name = "HalfDrawn", .size = sizeof(half_drawn), .call = half_drawn_call, .reset = draw_a};

static void what_a_reset_does_not_draw_stays(void **state)
{
    (void)state;
    half_drawn *self = (half_drawn *)tern_module_new(&half_drawn_class);
    tern_module_add_parameter(&self->base, "a", &self->a, tern_zeros(tern_dims(1)));
    tern_module_add_parameter(&self->base, "b", &self->b, tern_full(tern_dims(1), 9));
    tern_module *m = tern_module_done(&self->base);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tern_module_register_parametrization(m, i ? "b" : "a", of(&square_class),
                                                              .right_inverse = square_root),
                         TERN_OK);
    tern_no_grad (void)
        tern_fill_(tern_module_parameter(m, "parametrizations.a.original"), 7);
    assert_int_equal(tern_module_reset_parameters(m, NULL), TERN_OK);
    assert_tensor(tern_module_parameter(m, "parametrizations.a.original"), tern_dims(1), 2);
    assert_tensor(tern_module_parameter(m, "parametrizations.b.original"), tern_dims(1), 3);
    tern_module_free(m);
}

static void a_reset_that_fails_leaves_the_originals(void **state)
{
    (void)state;
    refuses = false;
    tern_module *net = tern_nn_sequential(squared_4_9(), of(&undrawn_class));
    refuses = true;
    assert_status(tern_module_reset_parameters(net, NULL), TERN_ERR_NUMERIC, "no draw today");
    assert_tensor(tern_module_parameter(net, "0.parametrizations.weight.original"), tern_dims(1, 2),
                  2, 3);
    tern_module_free(net);
}

static void replicas_compute_theirs_and_gradients_come_back(void **state)
{
    (void)state;
    const tern_device devices[] = {tern_cpu(0), tern_cpu(1)};
    tern_module *alone = tern_nn_linear(3, 2);
    assert_ptr_equal(tern_nn_weight_norm(alone), alone);
    tern_module *module = tern_module_copy(alone);
    tern_module *parallel = tern_nn_data_parallel(module, .devices = devices, .count = 2);
    assert_non_null(parallel);
    for (int i = 0; i < 2; i++) { // what is registered meanwhile is seen
        tern_tensor *x = tern_randn(tern_dims(4, 3));
        tern_module_zero_grad(alone);
        tern_module_zero_grad(parallel);
        assert_int_equal(tern_backward(tern_sum_all(tern_forward(alone, x))), TERN_OK);
        assert_int_equal(tern_backward(tern_sum_all(tern_forward(parallel, x))), TERN_OK);
        const char *name = "parametrizations.weight.original0";
        tern_tensor *a = tern_grad(tern_module_parameter(alone, name));
        tern_tensor *b = tern_grad(tern_module_parameter(module, name));
        tern_tensor *change = tern_amax(tern_abs(tern_sub(a, b)), TERN_ALL_AXES, false);
        assert_true(tern_item(change) < 1e-5);
        assert_int_equal(tern_module_register_parametrization(alone, "bias", of(&square_class)),
                         TERN_OK);
        assert_int_equal(tern_module_register_parametrization(module, "bias", of(&square_class)),
                         TERN_OK);
    }
    tern_module_free(parallel);
    tern_module_free(alone);
}

static tern_module *shared;

static void *evaluate(void *result)
{
    *(bool *)result = true;
    for (int i = 0; i < 50; i++) {
        tern_scope scope = tern_scope_open();
        tern_no_grad {
            tern_tensor *y = tern_forward(shared, tern_ones(tern_dims(2)));
            *(bool *)result = *(bool *)result && y && tern_item(y) == 13;
        }
        tern_scope_close(scope);
    }
    return NULL;
}

static void several_threads_may_run_it(void **state)
{
    (void)state;
    pthread_t threads[4];
    bool fine[4] = {false};
    shared = squared_4_9();
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, evaluate, &fine[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_true(fine[i]);
    tern_module_free(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(the_original_is_the_parameter_with_the_values_of_the_right_inverse),
        CHECK_TEST(several_originals_are_new_parameters),
        CHECK_TEST(a_frozen_parameter_gives_frozen_originals),
        CHECK_TEST(a_second_one_computes_from_what_the_first_gives),
        CHECK_TEST(a_parametrization_gets_the_mode_of_the_module),
        CHECK_TEST(power_iterations_are_those_of_training_and_two_forwards_have_a_backward),
        CHECK_TEST(what_the_member_points_to_between_forwards_cannot_be_used),
        CHECK_TEST(a_failure_in_it_names_it_and_the_module_runs_again),
        CHECK_TEST(errors_and_prints_describe_the_module_as_before),
        CHECK_TEST(a_loss_that_has_the_linear_uses_what_is_computed),
        CHECK_TEST(a_module_may_run_itself),
        CHECK_TEST(gradients_are_those_of_differences),
        CHECK_TEST(a_copy_has_originals_of_its_own_in_any_order_of_freeing),
        CHECK_TEST(moves_and_casts_take_the_originals_along),
        CHECK_TEST(a_reset_draws_the_originals_anew),
        CHECK_TEST(a_reset_draws_the_vectors_of_a_spectral_norm_anew),
        CHECK_TEST(what_a_reset_does_not_draw_stays),
        CHECK_TEST(a_reset_that_fails_leaves_the_originals),
        CHECK_TEST(replicas_compute_theirs_and_gradients_come_back),
        CHECK_TEST(several_threads_may_run_it),
    };
    setenv("TERN_CPU_DEVICES", "2", 1);
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
