// SPDX-License-Identifier: Apache-2.0
#include "support/tensor_check.h"

// A leaf on `device` whose gradient has these two values.
static tern_tensor *with_grad(tern_device device, tern_dtype dtype, double a, double b)
{
    const double g[] = {a, b};
    tern_tensor *p =
        tern_zeros(tern_dims(2), .dtype = dtype, .device = device, .requires_grad = true);
    tern_tensor *t = tern_from_data(tern_dims(2), g, .dtype = TERN_FLOAT64);
    t = tern_to_dtype(tern_to(t, device), dtype);
    assert_int_equal(tern_backward(tern_sum(tern_mul(p, t), TERN_ALL_AXES, false)), TERN_OK);
    return p;
}

static void gradients_are_scaled_by_their_common_norm(void **state)
{
    (void)state;
    tern_tensor *list[] = {with_grad(tern_cpu(0), TERN_FLOAT64, 3, 0),
                           with_grad(tern_cpu(0), TERN_FLOAT64, 0, -4)};
    double factor = 2 / (5 + 1e-6);
    tern_tensor *norm = tern_clip_grad_norm(NULL, 2, .params = list, .param_count = 2);
    assert_tensor_near(norm, 1e-14, tern_dims(), 5);
    assert_tensor_near(tern_grad(list[0]), 1e-15, tern_dims(2), 3 * factor, 0);
    assert_tensor_near(tern_grad(list[1]), 1e-15, tern_dims(2), 0, -4 * factor);
}

static void a_small_norm_leaves_gradients_as_they_are(void **state)
{
    (void)state;
    tern_tensor *p = with_grad(tern_cpu(0), TERN_FLOAT32, 3, -4);
    assert_tensor(tern_clip_grad_norm(NULL, 6, .params = &p, .param_count = 1), tern_dims(), 5);
    assert_tensor(tern_grad(p), tern_dims(2), 3, -4);
    assert_tensor(tern_clip_grad_norm(NULL, INFINITY, .params = &p, .param_count = 1), tern_dims(),
                  5);
    assert_tensor(tern_grad(p), tern_dims(2), 3, -4);
}

static void other_norms_are_computed_too(void **state)
{
    (void)state;
    tern_tensor *list[] = {with_grad(tern_cpu(0), TERN_FLOAT64, 1, -2),
                           with_grad(tern_cpu(0), TERN_FLOAT64, 3, 0)};
    assert_tensor_near(
        tern_clip_grad_norm(NULL, 100, .norm_type = 1, .params = list, .param_count = 2), 1e-14,
        tern_dims(), 6);
    assert_tensor_near(
        tern_clip_grad_norm(NULL, 100, .norm_type = INFINITY, .params = list, .param_count = 2), 0,
        tern_dims(), 3);
    assert_tensor_near(
        tern_clip_grad_norm(NULL, 100, .norm_type = 3, .params = list, .param_count = 2), 1e-14,
        tern_dims(), cbrt(1 + 8 + 27));
}

static void norms_of_several_devices_and_dtypes_are_joined(void **state)
{
    (void)state;
    tern_tensor *list[] = {
        with_grad(tern_cpu(0), TERN_FLOAT32, 2, 0), with_grad(tern_cpu(1), TERN_FLOAT64, 0, 4),
        with_grad(tern_cpu(0), TERN_FLOAT64, 4, 0), with_grad(tern_cpu(1), TERN_BFLOAT16, 8, 0)};
    double factor = 1 / (10 + 1e-6);
    tern_tensor *norm = tern_clip_grad_norm(NULL, 1, .params = list, .param_count = 4);
    assert_tensor_near(norm, 1e-14, tern_dims(), 10);
    assert_true(tern_device_equal(tern_device_of(norm), tern_cpu(0)));
    assert_tensor_near(tern_grad(list[0]), 1e-7, tern_dims(2), 2 * factor, 0);
    assert_tensor_near(tern_grad(list[1]), 1e-15, tern_dims(2), 0, 4 * factor);
    assert_tensor_near(tern_grad(list[2]), 1e-15, tern_dims(2), 4 * factor, 0);
    assert_tensor_near(tern_grad(list[3]), 4e-3, tern_dims(2), 8 * factor, 0);
}

static void modules_and_optimizers_are_clipped_whole_and_tied_tensors_once(void **state)
{
    (void)state;
    tern_module *layer = tern_nn_linear(1, 1, .bias = false);
    tern_tensor *weight = tern_module_parameter(layer, "weight");
    tern_module *net = tern_nn_sequential(tern_module_retain(layer), layer);
    tern_optim *o = tern_optim_sgd(net);
    for (int i = 0; i < 2; i++) {
        tern_module_zero_grad(net);
        tern_tensor *loss = tern_mul_scalar(tern_sum(weight, TERN_ALL_AXES, false), 8);
        assert_int_equal(tern_backward(loss), TERN_OK);
        tern_tensor *norm =
            i == 0 ? tern_clip_grad_norm(net, 2) : tern_clip_grad_norm(NULL, 2, .optim = o);
        assert_tensor_near(norm, 1e-6, tern_dims(), 8);
        assert_tensor_near(tern_grad(weight), 1e-6, tern_dims(1, 1), 2);
    }
    tern_module_free(net);
    tern_optim_free(o);
}

static void the_norm_is_float64_where_a_gradient_is(void **state)
{
    (void)state;
    tern_tensor *list[] = {with_grad(tern_cpu(0), TERN_FLOAT32, 3, -4),
                           with_grad(tern_cpu(0), TERN_BFLOAT16, 3, -4),
                           with_grad(tern_cpu(0), TERN_FLOAT64, 3, -4), tern_zeros(tern_dims(2))};
    const tern_dtype dtypes[] = {TERN_FLOAT32, TERN_FLOAT32, TERN_FLOAT64, TERN_FLOAT32};
    for (int i = 0; i < 4; i++) {
        tern_tensor *norm = tern_clip_grad_norm(NULL, 9, .params = &list[i], .param_count = 1);
        assert_int_equal(tern_dtype_of(norm), dtypes[i]);
        assert_tensor(norm, tern_dims(), i < 3 ? 5 : 0);
    }
    tern_tensor *norm = tern_clip_grad_norm(NULL, 9, .params = list, .param_count = 3);
    assert_int_equal(tern_dtype_of(norm), TERN_FLOAT64);
}

static void every_gradient_of_many_is_scaled(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    tern_tensor *list[COUNT];
    for (int i = 0; i < COUNT; i++)
        list[i] = with_grad(tern_cpu(0), TERN_FLOAT64, i % 2 ? 0 : 2, i % 2 ? -2 : 0);
    const double factor = 1 / (sqrt(4.0 * COUNT) + 1e-6);
    assert_tensor_near(tern_clip_grad_norm(NULL, 1, .params = list, .param_count = COUNT), 1e-13,
                       tern_dims(), sqrt(4.0 * COUNT));
    for (int i = 0; i < COUNT; i++)
        assert_tensor_near(tern_grad(list[i]), 1e-15, tern_dims(2), i % 2 ? 0 : 2 * factor,
                           i % 2 ? -2 * factor : 0);
}

static void without_gradients_the_norm_is_zero(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 2);
    assert_tensor(tern_clip_grad_norm(m, 1), tern_dims(), 0);
    assert_int_equal(tern_clip_grad_value(m, 1), TERN_OK);
    tern_module_free(m);
}

static void a_norm_that_is_not_finite_is_an_error_unless_allowed(void **state)
{
    (void)state;
    tern_tensor *p = with_grad(tern_cpu(0), TERN_FLOAT32, INFINITY, 2);
    tern_tensor *q = with_grad(tern_cpu(0), TERN_FLOAT32, NAN, 2);
    assert_null_with(tern_clip_grad_norm(NULL, 1, .params = &p, .param_count = 1), TERN_ERR_NUMERIC,
                     "the norm of the gradients is inf");
    assert_null_with(tern_clip_grad_norm(NULL, 1, .params = &q, .param_count = 1), TERN_ERR_NUMERIC,
                     "the norm of the gradients is nan");
    assert_tensor(tern_grad(p), tern_dims(2), INFINITY, 2);
    tern_tensor *norm =
        tern_clip_grad_norm(NULL, 1, .allow_nonfinite = true, .params = &p, .param_count = 1);
    assert_tensor(norm, tern_dims(), INFINITY);
    assert_tensor(tern_grad(p), tern_dims(2), NAN, 0);
}

static void values_are_clamped(void **state)
{
    (void)state;
    tern_tensor *list[] = {with_grad(tern_cpu(0), TERN_FLOAT32, 3, -0.5),
                           with_grad(tern_cpu(1), TERN_FLOAT64, -7, NAN)};
    assert_int_equal(tern_clip_grad_value(NULL, 1, .params = list, .param_count = 2), TERN_OK);
    assert_tensor(tern_grad(list[0]), tern_dims(2), 1, -0.5);
    assert_tensor(tern_grad(list[1]), tern_dims(2), -1, NAN);
}

// A graph that saved the gradient of p.
static tern_tensor *loss_with_grad(tern_tensor *p)
{
    tern_tensor *x = tern_ones(tern_dims(2), .requires_grad = true);
    return tern_sum(tern_mul(x, tern_grad(p)), TERN_ALL_AXES, false);
}

static void a_graph_that_saved_a_gradient_sees_that_it_was_clipped(void **state)
{
    (void)state;
    tern_tensor *p = with_grad(tern_cpu(0), TERN_FLOAT32, 3, -4);
    tern_tensor *loss = loss_with_grad(p);
    assert_non_null(tern_clip_grad_norm(NULL, 1, .params = &p, .param_count = 1));
    assert_status(tern_backward(loss), TERN_ERR_STATE, "was changed in place after the forward");
    loss = loss_with_grad(p);
    assert_int_equal(tern_clip_grad_value(NULL, 0.1, .params = &p, .param_count = 1), TERN_OK);
    assert_status(tern_backward(loss), TERN_ERR_STATE, "was changed in place after the forward");
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 2);
    tern_tensor *p = with_grad(tern_cpu(0), TERN_FLOAT32, 1, 1), *none = NULL;
    assert_null_with(tern_clip_grad_norm(NULL, 1), TERN_ERR_NULL, "clip_grad_norm: module is NULL");
    assert_null_with(tern_clip_grad_norm(m, 1, .params = &p, .param_count = 1), TERN_ERR_ARG,
                     "one of them");
    assert_null_with(tern_clip_grad_norm(m, -1), TERN_ERR_ARG, "max_norm is -1");
    assert_null_with(tern_clip_grad_norm(m, NAN), TERN_ERR_ARG, "max_norm is nan");
    assert_null_with(tern_clip_grad_norm(m, 1, .norm_type = 0), TERN_ERR_ARG, "norm_type is 0");
    assert_null_with(tern_clip_grad_norm(NULL, 1, .params = &none, .param_count = 1), TERN_ERR_NULL,
                     "params[0] is NULL");
    assert_null_with(tern_clip_grad_norm(NULL, 1, .params = &p, .param_count = -1), TERN_ERR_ARG,
                     "param_count is -1");
    assert_null_with(tern_clip_grad_norm_with(NULL), TERN_ERR_NULL, "options is NULL");
    assert_status(tern_clip_grad_value(NULL, 1), TERN_ERR_NULL, "clip_grad_value: module is NULL");
    assert_status(tern_clip_grad_value(m, -1), TERN_ERR_ARG, "clip_value is -1");
    assert_status(tern_clip_grad_value(m, NAN), TERN_ERR_ARG, "clip_value is nan");
    assert_status(tern_clip_grad_value_with(NULL), TERN_ERR_NULL, "options is NULL");
    assert_true(tern_clip_grad_norm_defaults().norm_type == 2);
    assert_null(tern_clip_grad_value_defaults().module);
    tern_module_free(m);
}

static tern_status fail_backward(tern_backward_context *context)
{
    (void)context;
    return tern_error_raise(TERN_ERR_NUMERIC, "no gradient today");
}

static const tern_function failing = {"failing", fail_backward};

static void unusable_gradients_are_refused(void **state)
{
    (void)state;
    tern_tensor *p = tern_ones(tern_dims(2), .requires_grad = true), *y = NULL;
    tern_no_grad {
        y = tern_sum(p, TERN_ALL_AXES, false);
    }
    y = tern_record(&failing, y, &p, 1, NULL, 0, NULL, 0);
    assert_status(tern_backward(y), TERN_ERR_NUMERIC, "no gradient today");
    assert_null_with(tern_clip_grad_norm(NULL, 1, .params = &p, .param_count = 1), TERN_ERR_STATE,
                     "unusable");
    assert_status(tern_clip_grad_value(NULL, 1, .params = &p, .param_count = 1), TERN_ERR_STATE,
                  "unusable");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(gradients_are_scaled_by_their_common_norm),
        CHECK_TEST(a_small_norm_leaves_gradients_as_they_are),
        CHECK_TEST(other_norms_are_computed_too),
        CHECK_TEST(norms_of_several_devices_and_dtypes_are_joined),
        CHECK_TEST(modules_and_optimizers_are_clipped_whole_and_tied_tensors_once),
        CHECK_TEST(the_norm_is_float64_where_a_gradient_is),
        CHECK_TEST(every_gradient_of_many_is_scaled),
        CHECK_TEST(without_gradients_the_norm_is_zero),
        CHECK_TEST(a_norm_that_is_not_finite_is_an_error_unless_allowed),
        CHECK_TEST(values_are_clamped),
        CHECK_TEST(a_graph_that_saved_a_gradient_sees_that_it_was_clipped),
        CHECK_TEST(what_makes_no_sense_is_refused),
        CHECK_TEST(unusable_gradients_are_refused),
    };
    setenv("TERN_CPU_DEVICES", "2", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
