// SPDX-License-Identifier: Apache-2.0
#include "golden/golden_small.h"
#include "support/tensor_check.h"

static const double points[] = {-3, -0.75, 0, 0.5, 2};
#define POINTS (int)(sizeof points / sizeof *points)

static tern_tensor *make_points(void)
{
    return tern_from_data(tern_dims(POINTS), points, .dtype = TERN_FLOAT64);
}

// m(x) = f(x) at every point within 1e-14, and then m is freed.
static void assert_computes(tern_module *m, double (*f)(double x))
{
    double expected[POINTS];
    for (int i = 0; i < POINTS; i++)
        expected[i] = f(points[i]);
    check_close_to(tern_forward(m, make_points()), tern_dims(POINTS), expected, POINTS, 1e-14,
                   __FILE__, __LINE__);
    tern_module_free(m);
}

static double relu(double x)
{
    return x > 0 ? x : 0;
}

static double leaky(double x)
{
    return x > 0 ? x : 0.01 * x;
}

static double leakier(double x)
{
    return x > 0 ? x : 0.2 * x;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double silu(double x)
{
    return x / (1 + exp(-x));
}

static double gelu(double x)
{
    return x * 0.5 * erfc(-x / sqrt(2));
}

static double gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

static double same(double x)
{
    return x;
}

static void activations_compute_their_formulas(void **state)
{
    (void)state;
    assert_computes(tern_nn_relu(), relu);
    assert_computes(tern_nn_tanh(), tanh);
    assert_computes(tern_nn_sigmoid(), sigmoid);
    assert_computes(tern_nn_silu(), silu);
    assert_computes(tern_nn_gelu(), gelu);
    assert_computes(tern_nn_gelu(.approximate = TERN_APPROXIMATE_TANH), gelu_tanh);
    assert_computes(tern_nn_gelu(TERN_APPROXIMATE_NONE), gelu);
    assert_computes(tern_nn_leaky_relu(), leaky);
    assert_computes(tern_nn_leaky_relu(0.2), leakier);
    assert_computes(tern_nn_leaky_relu(.negative_slope = 0), relu);
    assert_computes(tern_nn_identity(), same);
}

static void softmax_runs_over_its_dimension(void **state)
{
    (void)state;
    const double x[] = {0, log(3), 1, 1};
    tern_tensor *t = tern_from_data(tern_dims(2, 2), x, .dtype = TERN_FLOAT64);
    tern_module *rows = tern_nn_softmax(-1), *columns = tern_nn_softmax(0);
    assert_tensor_near(tern_forward(rows, t), 1e-15, tern_dims(2, 2), 0.25, 0.75, 0.5, 0.5);
    double e = exp(1.0);
    assert_tensor_near(tern_forward(columns, t), 1e-15, tern_dims(2, 2), 1 / (1 + e), 3 / (3 + e),
                       e / (1 + e), e / (3 + e));
    tern_module *none = tern_nn_softmax(2);
    assert_null_with(tern_forward(none, t), TERN_ERR_ARG, "[in Softmax(dim=2)]");
    tern_module_free(rows);
    tern_module_free(columns);
    tern_module_free(none);
}

static void identity_and_evaluated_dropout_hand_their_input_on(void **state)
{
    (void)state;
    tern_module *identity = tern_nn_identity(), *dropout = tern_nn_dropout(0.9);
    tern_tensor *x = tern_ones(tern_dims(8));
    assert_ptr_equal(tern_forward(identity, x), x);
    assert_ptr_equal(tern_forward(tern_module_eval(dropout), x), x);
    tern_module_free(identity);
    tern_module_free(dropout);
}

static void dropout_zeroes_a_share_and_scales_the_rest(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    tern_manual_seed(3);
    tern_module *m = tern_nn_dropout(0.2);
    tern_tensor *y = tern_forward(m, tern_ones(tern_dims(COUNT)));
    float *values = malloc(COUNT * sizeof *values);
    assert_int_equal(tern_to_host(y, values, COUNT * sizeof *values), TERN_OK);
    int zeros = 0;
    for (int i = 0; i < COUNT; i++) {
        assert_true(values[i] == 0 || values[i] == 1.25f);
        zeros += values[i] == 0;
    }
    free(values);
    print_message("%d of %d are zero\n", zeros, COUNT);
    assert_true(abs(zeros - COUNT / 5) < 5 * 57); // 5 standard deviations of sqrt(N p (1 - p))
    tern_module *all = tern_nn_dropout(.p = 1);
    assert_tensor(tern_forward(all, tern_ones(tern_dims(3))), tern_dims(3), 0, 0, 0);
    tern_module *half = tern_nn_dropout();
    tern_tensor *h = tern_forward(half, tern_ones(tern_dims(1)));
    assert_true(tern_item(h) == 0 || tern_item(h) == 2);
    tern_module_free(m);
    tern_module_free(all);
    tern_module_free(half);
}

static void flatten_joins_dimensions(void **state)
{
    (void)state;
    tern_module *rest = tern_nn_flatten(), *first = tern_nn_flatten(0, 1);
    tern_module *last = tern_nn_flatten(.start_dim = -2);
    tern_tensor *x = tern_zeros(tern_dims(2, 3, 4, 5));
    assert_true(tern_shape_equal(tern_shape_of(tern_forward(rest, x)), tern_dims(2, 60)));
    assert_true(tern_shape_equal(tern_shape_of(tern_forward(first, x)), tern_dims(6, 4, 5)));
    assert_true(tern_shape_equal(tern_shape_of(tern_forward(last, x)), tern_dims(2, 3, 20)));
    tern_module_free(rest);
    tern_module_free(first);
    tern_module_free(last);
}

// ---- linear ------------------------------------------------------------------------------------

// Puts numbers into a parameter.
static void set_parameter(tern_module *m, const char *name, const float *values, size_t nbytes)
{
    tern_no_grad {
        assert_int_equal(tern_from_host(tern_module_parameter(m, name), values, nbytes), TERN_OK);
    }
}

static void linear_multiplies_by_the_transposed_weight(void **state)
{
    (void)state;
    const float weight[] = {1, 2, 3, 4, 5, 6}, bias[] = {10, 20}, input[] = {1, 0, -1, 2, 1, 0};
    tern_module *m = tern_nn_linear(3, 2), *plain = tern_nn_linear(3, 2, .bias = false);
    set_parameter(m, "weight", weight, sizeof weight);
    set_parameter(m, "bias", bias, sizeof bias);
    set_parameter(plain, "weight", weight, sizeof weight);
    tern_tensor *x = tern_from_data(tern_dims(2, 3), input);
    assert_tensor(tern_forward(m, x), tern_dims(2, 2), 8, 18, 14, 33);
    assert_tensor(tern_forward(plain, x), tern_dims(2, 2), -2, -2, 4, 13);
    assert_tensor(tern_forward(m, tern_select(x, 0, 0)), tern_dims(2), 8, 18);
    assert_tensor(tern_forward(m, tern_reshape(x, tern_dims(1, 2, 1, 3))), tern_dims(1, 2, 1, 2), 8,
                  18, 14, 33);
    assert_int_equal(tern_module_num_parameters(plain), 1);
    tern_module_free(m);
    tern_module_free(plain);
}

static void linear_starts_with_pytorchs_bits(void **state)
{
    (void)state;
    tern_manual_seed(0);
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(), tern_nn_linear(8, 3));
    float first[SMALL_ELEMENTS];
    int64_t at = 0;
    for (int i = 0; i < 4; i++) {
        tern_tensor *t = tern_module_parameter_at(net, i, NULL, 0);
        int64_t count = tern_numel(t);
        assert_int_equal(tern_to_host(t, first + at, (size_t)count * 4), TERN_OK);
        at += count;
    }
    assert_int_equal(at, SMALL_ELEMENTS);
    assert_memory_equal(first, golden_small(0).start, sizeof first);
    tern_module_free(net);
    tern_manual_seed(0);
    tern_module *m = tern_nn_linear(3, 2); // printed by PyTorch
    assert_tensor_near(tern_module_parameter(m, "weight"), 5e-8, tern_dims(2, 3), -0.0043225,
                       0.3097158, -0.4751853, -0.4248946, -0.2223690, 0.1548207);
    assert_tensor_near(tern_module_parameter(m, "bias"), 5e-8, tern_dims(2), -0.0114391, 0.4577749);
    tern_module_free(m);
}

static void children_are_made_in_the_order_written(void **state)
{
    (void)state;
    tern_manual_seed(5);
    tern_module *a = tern_nn_linear(2, 2), *b = tern_nn_linear(2, 2), *c = tern_nn_linear(2, 2);
    tern_module *apart = tern_nn_sequential(a, tern_nn_sequential(b, c));
    tern_manual_seed(5);
    tern_module *nested = tern_nn_sequential(
        tern_nn_linear(2, 2), tern_nn_sequential(tern_nn_linear(2, 2), tern_nn_linear(2, 2)));
    for (int i = 0; i < 6; i++) {
        float one[4], other[4];
        tern_tensor *t = tern_module_parameter_at(apart, i, NULL, 0);
        size_t nbytes = (size_t)tern_numel(t) * 4;
        assert_int_equal(tern_to_host(t, one, nbytes), TERN_OK);
        assert_int_equal(tern_to_host(tern_module_parameter_at(nested, i, NULL, 0), other, nbytes),
                         TERN_OK);
        assert_memory_equal(one, other, nbytes);
    }
    tern_module_free(apart);
    tern_module_free(nested);
}

static void linear_is_made_where_and_of_what_one_says(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(3, 2, .dtype = TERN_FLOAT64, .device = tern_cpu(1));
    tern_tensor *bias = tern_module_parameter(m, "bias");
    assert_int_equal(tern_dtype_of(bias), TERN_FLOAT64);
    assert_true(tern_device_equal(tern_device_of(bias), tern_cpu(1)));
    assert_true(tern_requires_grad(bias));
    assert_int_equal(tern_set_default_device(tern_cpu(1)), TERN_OK);
    tern_module *there = tern_nn_linear(3, 2);
    assert_int_equal(tern_set_default_device(tern_cpu(0)), TERN_OK);
    assert_true(
        tern_device_equal(tern_device_of(tern_module_parameter(there, "weight")), tern_cpu(1)));
    tern_module_free(m);
    tern_module_free(there);
}

// Runs forward and backward; copies the output and the gradients of x and of the parameters.
static void run_both_ways(tern_module *m, tern_shape shape, float y[12], float dx[8], float dw[12])
{
    const float input[] = {0.5f, -1, 2, 0.25f, -0.125f, 3, 1, -2};
    tern_tensor *x = tern_from_data(shape, input, .requires_grad = true);
    tern_tensor *out = tern_forward(m, x);
    assert_int_equal(tern_to_host(out, y, 12 * sizeof *y), TERN_OK);
    tern_module_zero_grad(m);
    assert_int_equal(tern_backward(tern_sum(tern_mul(out, out), TERN_ALL_AXES, false)), TERN_OK);
    assert_int_equal(tern_to_host(tern_grad(x), dx, 8 * sizeof *dx), TERN_OK);
    tern_tensor *weight = tern_module_parameter(m, "0.weight");
    assert_int_equal(tern_to_host(tern_grad(weight), dw, 6 * sizeof *dw), TERN_OK);
    tern_tensor *bias = tern_module_parameter(m, "0.bias");
    assert_int_equal(tern_to_host(tern_grad(bias), dw + 6, 3 * sizeof *dw), TERN_OK);
}

static tern_status look(tern_module *module, const tern_tensors *in, tern_tensors *out, void *user)
{
    (void)module;
    (void)in;
    (void)out;
    ++*(int *)user;
    return TERN_OK;
}

static void check_together_and_apart(tern_module *layer, tern_shape shape)
{
    int looks = 0;
    float y[2][12] = {{0}}, dx[2][8] = {{0}}, dw[2][12] = {{0}};
    tern_module *m = tern_nn_sequential(layer, tern_nn_relu());
    run_both_ways(m, shape, y[0], dx[0], dw[0]);
    assert_true(tern_module_add_forward_hook(tern_module_child(m, "1"), look, &looks) > 0);
    run_both_ways(m, shape, y[1], dx[1], dw[1]); // with somebody in between
    assert_int_equal(looks, 1);
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_memory_equal(dx[0], dx[1], sizeof dx[0]);
    assert_memory_equal(dw[0], dw[1], sizeof dw[0]);
    tern_module_free(m);
}

static void layers_and_relu_give_the_same_bits_together_and_apart(void **state)
{
    (void)state;
    check_together_and_apart(tern_nn_linear(2, 3), tern_dims(4, 2));
    check_together_and_apart(tern_nn_conv1d(2, 3, 1), tern_dims(4, 2, 1));
    check_together_and_apart(tern_nn_conv_transpose2d(2, 3, 1), tern_dims(4, 2, 1, 1));
}

static void a_sequential_without_children_hands_its_input_on(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential();
    tern_tensor *x = tern_ones(tern_dims(2));
    assert_int_equal(tern_module_num_children(m), 0);
    assert_ptr_equal(tern_forward(m, x), x);
    tern_module_free(m);
}

// ---- errors ------------------------------------------------------------------------------------

static void errors_of_layers_name_shapes_devices_and_the_way(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(tern_nn_flatten(), tern_nn_linear(4, 3), tern_nn_relu(),
                                        tern_nn_linear(2, 1));
    assert_null_with(tern_forward(m, tern_ones(tern_dims(2, 5))), TERN_ERR_SHAPE,
                     "[in 1 (Linear(in_features=4, out_features=3, bias=True))]");
    assert_null_with(tern_forward(m, tern_ones(tern_dims(2, 4))), TERN_ERR_SHAPE,
                     "[in 3 (Linear(in_features=2, out_features=1, bias=True))]");
    assert_null_with(tern_forward(m, tern_ones(tern_dims(2, 4), .device = tern_cpu(1))),
                     TERN_ERR_DEVICE, "[in 1 (Linear(in_features=4, out_features=3, bias=True))]");
    assert_null_with(tern_forward(m, tern_ones(tern_dims(2, 4), .dtype = TERN_FLOAT64)),
                     TERN_ERR_DTYPE, "[in 1 (Linear(in_features=4, out_features=3, bias=True))]");
    assert_null_with(tern_forward(m, tern_ones(tern_dims(4))), TERN_ERR_ARG,
                     "[in 0 (Flatten(start_dim=1, end_dim=-1))]");
    tern_module_free(m);
}

static void layers_take_one_tensor(void **state)
{
    (void)state;
    tern_module *layers[] = {tern_nn_linear(1, 1), tern_nn_relu(),     tern_nn_tanh(),
                             tern_nn_sigmoid(),    tern_nn_silu(),     tern_nn_gelu(),
                             tern_nn_leaky_relu(), tern_nn_softmax(0), tern_nn_dropout(),
                             tern_nn_flatten(),    tern_nn_identity()};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        tern_tensor *x = tern_ones(tern_dims(1));
        assert_null_with(tern_loss(layers[i], x, x), TERN_ERR_ARG, "takes 1 tensor, not 2");
        tern_module_free(layers[i]);
    }
}

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    assert_null_with(tern_nn_linear(0, 3), TERN_ERR_ARG, "in_features is 0 and out_features 3");
    assert_null_with(tern_nn_linear(3, -1), TERN_ERR_ARG, "in_features is 3 and out_features -1");
    assert_null_with(tern_nn_linear(3, 1, .dtype = TERN_INT64), TERN_ERR_DTYPE,
                     "int64 is not a floating dtype");
    assert_null_with(tern_nn_linear(3, 1, .device = tern_cpu(7)), TERN_ERR_DEVICE, "cpu:7");
    assert_null_with(tern_nn_dropout(1.5), TERN_ERR_ARG, "p is 1.5");
    assert_null_with(tern_nn_dropout(-0.1), TERN_ERR_ARG, "p is -0.1");
    assert_null_with(tern_nn_dropout(NAN), TERN_ERR_ARG, "p is nan");
    assert_null_with(tern_nn_gelu((tern_approximate)9), TERN_ERR_ARG, "9 is no way");
    assert_null_with(tern_nn_leaky_relu(INFINITY), TERN_ERR_ARG, "negative_slope is inf");
    assert_null_with(tern_nn_linear_with(NULL), TERN_ERR_NULL, "nn_linear: options is NULL");
    assert_null_with(tern_nn_flatten_with(NULL), TERN_ERR_NULL, "nn_flatten: options is NULL");
    assert_null_with(tern_nn_dropout_with(NULL), TERN_ERR_NULL, "nn_dropout: options is NULL");
    assert_null_with(tern_nn_gelu_with(NULL), TERN_ERR_NULL, "nn_gelu: options is NULL");
    assert_null_with(tern_nn_leaky_relu_with(NULL), TERN_ERR_NULL, "nn_leaky_relu: options");
}

static void defaults_are_those_of_the_macros(void **state)
{
    (void)state;
    assert_true(tern_nn_linear_defaults().bias);
    assert_int_equal(tern_nn_flatten_defaults().start_dim, 1);
    assert_int_equal(tern_nn_flatten_defaults().end_dim, -1);
    assert_true(tern_nn_dropout_defaults().p == 0.5);
    assert_int_equal(tern_nn_gelu_defaults().approximate, TERN_APPROXIMATE_NONE);
    assert_true(tern_nn_leaky_relu_defaults().negative_slope == 0.01);
    tern_nn_linear_options options = tern_nn_linear_defaults();
    options.in_features = 3;
    options.out_features = 2;
    tern_module *m = tern_nn_linear_with(&options);
    assert_int_equal(tern_module_num_elements(m, false), 8);
    tern_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(activations_compute_their_formulas),
        CHECK_TEST(softmax_runs_over_its_dimension),
        CHECK_TEST(identity_and_evaluated_dropout_hand_their_input_on),
        CHECK_TEST(dropout_zeroes_a_share_and_scales_the_rest),
        CHECK_TEST(flatten_joins_dimensions),
        CHECK_TEST(linear_multiplies_by_the_transposed_weight),
        CHECK_TEST(linear_starts_with_pytorchs_bits),
        CHECK_TEST(children_are_made_in_the_order_written),
        CHECK_TEST(linear_is_made_where_and_of_what_one_says),
        CHECK_TEST(layers_and_relu_give_the_same_bits_together_and_apart),
        CHECK_TEST(a_sequential_without_children_hands_its_input_on),
        CHECK_TEST(errors_of_layers_name_shapes_devices_and_the_way),
        CHECK_TEST(layers_take_one_tensor),
        CHECK_TEST(options_that_make_no_sense_are_refused),
        CHECK_TEST(defaults_are_those_of_the_macros),
    };
    setenv("TERN_CPU_DEVICES", "2", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
