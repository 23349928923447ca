// SPDX-License-Identifier: Apache-2.0
// tern_gradcheck finds wrong gradients, and those alone. Argument: a device, cpu:0 unless given.
#include "support/tensor_check.h"

static tern_device device;

static tern_tensor *variable(tern_shape shape, double first, double last)
{
    int64_t numel = 1;
    for (int i = 0; i < shape.rank; i++)
        numel *= shape.dim[i];
    tern_tensor *flat = tern_linspace(first, last, numel, .dtype = TERN_FLOAT64, .device = device);
    return tern_set_requires_grad(tern_reshape(flat, shape), true);
}

// ---- a square whose derivative is right but for a factor of one element -------------------------

// `data`: which element, -1 for none, and the factor.
typedef struct fault {
    int64_t element;
    double factor;
} fault;

static tern_status square_backward(tern_backward_context *context)
{
    const fault *planted = tern_context_data(context);
    tern_tensor *x = tern_context_saved(context, 0);
    tern_tensor *dx = tern_mul_scalar(tern_mul(x, tern_context_grad(context)), 2);
    if (dx && planted->element >= 0) {
        tern_tensor *wrong = tern_select(tern_reshape(dx, tern_dims(-1)), 0, planted->element);
        if (!tern_mul_scalar_(wrong, planted->factor))
            return tern_error_code();
    }
    return tern_context_set_grad(context, 0, dx);
}

static tern_tensor *square(tern_tensor *x, fault planted)
{
    static const tern_function function = {"square", square_backward};
    tern_tensor *y = NULL;
    tern_no_grad
        y = tern_mul(x, x);
    return tern_record(&function, y, &x, 1, &x, 1, &planted, sizeof planted);
}

static tern_tensor *with_fault(tern_tensor *const *inputs, void *user)
{
    return tern_mul(square(inputs[0], *(fault *)user), inputs[1]);
}

static void a_wrong_gradient_is_found_with_its_element_and_both_numbers(void **state)
{
    (void)state;
    tern_tensor *inputs[] = {variable(tern_dims(2, 3), 1, 6), variable(tern_dims(1, 3), 1, 1)};
    for (int64_t i = -1; i < 6; i++) {
        fault planted = {i, 3};
        const tern_status status = tern_gradcheck(with_fault, inputs, 2, .user = &planted);
        char words[200]; // d x^2 is 2 x, x being i + 1
        snprintf(words, sizeof words,
                 "gradcheck: at element (%d, %d) of input 0 backward gives %d and differences %d, "
                 "for element (%d, %d) of the result; 1 of 54 gradients differ",
                 (int)i / 3, (int)i % 3, 6 * ((int)i + 1), 2 * ((int)i + 1), (int)i / 3,
                 (int)i % 3);
        assert_int_equal(status, i < 0 ? TERN_OK : TERN_ERR_NUMERIC);
        if (i >= 0)
            assert_error(TERN_ERR_NUMERIC, words);
    }
}

static void tolerances_are_those_of_the_options(void **state)
{
    (void)state;
    tern_tensor *inputs[] = {variable(tern_dims(2), 3, 4), variable(tern_dims(2), 1, 1)};
    fault planted = {1, 1 + 5e-4}; // 8.004 instead of 8
    assert_int_equal(tern_gradcheck(with_fault, inputs, 2, .user = &planted), TERN_OK);
    assert_int_equal(tern_gradcheck(with_fault, inputs, 2, .user = &planted, .rtol = 1e-4),
                     TERN_ERR_NUMERIC);
    assert_error(TERN_ERR_NUMERIC, "backward gives 8.004 and differences 8");
    assert_int_equal(
        tern_gradcheck(with_fault, inputs, 2, .user = &planted, .rtol = 0, .atol = 0.005), TERN_OK);
    assert_no_error();
}

static void a_gradient_that_is_nan_is_wrong(void **state)
{
    (void)state;
    tern_tensor *inputs[] = {variable(tern_dims(2), 3, 4), variable(tern_dims(2), 1, 1)};
    fault planted = {0, NAN};
    assert_int_equal(tern_gradcheck(with_fault, inputs, 2, .user = &planted), TERN_ERR_NUMERIC);
    assert_error(TERN_ERR_NUMERIC, "backward gives nan and differences 6");
}

static tern_tensor *unrecorded(tern_tensor *const *inputs, void *user)
{
    (void)user;
    tern_tensor *y = NULL;
    tern_no_grad
        y = tern_mul_scalar(inputs[0], 5);
    return y;
}

static void what_is_not_recorded_has_gradients_of_0(void **state)
{
    (void)state;
    tern_tensor *x = variable(tern_dims(1), 2, 2);
    assert_int_equal(tern_gradcheck(unrecorded, &x, 1), TERN_ERR_NUMERIC);
    assert_error(TERN_ERR_NUMERIC, "backward gives 0 and differences 5");
}

// ---- what is right ------------------------------------------------------------------------------

static tern_tensor *picked(tern_tensor *const *inputs, void *user)
{
    (void)user;
    tern_tensor *logits = tern_matmul(tern_gelu(inputs[0]), inputs[1]);
    return tern_cross_entropy(logits, inputs[2], .reduction = TERN_REDUCTION_NONE);
}

static void right_gradients_pass_and_labels_are_constants(void **state)
{
    (void)state;
    tern_tensor *labels = tern_to(tern_from_data(tern_dims(2), (int64_t[]){1, 3}), device);
    tern_tensor *inputs[] = {variable(tern_dims(2, 3), -1, 2), variable(tern_dims(3, 4), 0.5, -1),
                             labels};
    assert_int_equal(tern_gradcheck(picked, inputs, 3), TERN_OK);
    assert_no_error();
}

static tern_tensor *row_norms(tern_tensor *const *inputs, void *user)
{
    (void)user;
    return tern_norm(inputs[0], 2, tern_axes(1), false);
}

static void an_input_may_be_a_view_and_keeps_its_bits(void **state)
{
    (void)state;
    static const double values[] = {0.1, 0.2, 0.3, 1e-3, 7, -2};
    double after[6];
    tern_tensor *whole = tern_to(tern_from_data(tern_dims(3, 2), values), device);
    tern_tensor *x = tern_set_requires_grad(tern_transpose(whole, 0, 1), true);
    assert_int_equal(tern_gradcheck(row_norms, &x, 1), TERN_OK);
    assert_int_equal(tern_to_host(whole, after, sizeof after), TERN_OK);
    assert_memory_equal(after, values, sizeof values);
    assert_null(tern_grad(x));
    assert_no_error();
}

static void it_records_under_no_grad_and_leaves_the_mode(void **state)
{
    (void)state;
    tern_tensor *x = variable(tern_dims(2, 2), 1, 4);
    tern_no_grad {
        assert_int_equal(tern_gradcheck(row_norms, &x, 1), TERN_OK);
        assert_false(tern_grad_enabled());
    }
    assert_int_equal(tern_gradcheck(row_norms, &x, 1), TERN_OK);
    assert_true(tern_grad_enabled());
}

// ---- modules ------------------------------------------------------------------------------------

// y = x scale^2, with a fault in the gradient of scale.
typedef struct scaled {
    tern_module base;
    tern_tensor *scale; // (In)
} scaled;

static tern_status scaled_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    tern_tensor *y = tern_mul(in->at[0], square(((scaled *)module)->scale, (fault){1, -1}));
    if (!y)
        return tern_error_code();
    out->at[out->count++] = y;
    return TERN_OK;
}

static tern_module *scaled_new(void)
{
    static const tern_module_class scaled_class = {
        .name = "Scaled", .size = sizeof(scaled), .call = scaled_call};
    scaled *self = (scaled *)tern_module_new(&scaled_class);
    tern_parameter(self, scale, tern_ones(tern_dims(3)));
    return tern_done(self);
}

static tern_module *placed(tern_module *net)
{
    tern_module_to_dtype(net, TERN_FLOAT64);
    return tern_module_to(net, device);
}

static void a_wrong_gradient_of_a_module_is_found_by_the_parameters_name(void **state)
{
    (void)state;
    tern_module *net = placed(tern_nn_sequential(tern_nn_tanh(), scaled_new()));
    tern_tensor *x = variable(tern_dims(1, 3), 0, 0.5);
    assert_int_equal(tern_gradcheck_module(net, &x, 1), TERN_ERR_NUMERIC);
    assert_error(TERN_ERR_NUMERIC,
                 "gradcheck_module: at element (1,) of parameter \"1.scale\" backward gives");
    tern_module_free(net);
}

static void modules_of_the_library_pass_in_both_modes(void **state)
{
    (void)state;
    tern_manual_seed(3);
    tern_module *net =
        placed(tern_nn_sequential(tern_nn_conv2d(2, 3, 3, .padding = 1), tern_nn_batch_norm2d(3),
                                  tern_nn_silu(), tern_nn_flatten(), tern_nn_linear(12, 2)));
    tern_tensor *x = variable(tern_dims(2, 2, 2, 2), -1, 1.5);
    assert_int_equal(tern_gradcheck_module(net, &x, 1), TERN_OK);
    tern_module_eval(net);
    assert_int_equal(tern_gradcheck_module(net, &x, 1), TERN_OK);
    assert_no_error();
    tern_module_free(net);
}

static void what_draws_is_refused_until_it_evaluates(void **state)
{
    (void)state;
    tern_module *net = placed(tern_nn_sequential(tern_nn_linear(3, 20), tern_nn_dropout()));
    tern_tensor *x = variable(tern_dims(2, 3), -1, 1.5);
    assert_int_equal(tern_gradcheck_module(net, &x, 1), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "two calls with the same inputs gave other values");
    tern_module_eval(net);
    assert_int_equal(tern_gradcheck_module(net, &x, 1), TERN_OK);
    assert_no_error();
    tern_module_free(net);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_wrong_gradient_is_found_with_its_element_and_both_numbers),
        CHECK_TEST(tolerances_are_those_of_the_options),
        CHECK_TEST(a_gradient_that_is_nan_is_wrong),
        CHECK_TEST(what_is_not_recorded_has_gradients_of_0),
        CHECK_TEST(right_gradients_pass_and_labels_are_constants),
        CHECK_TEST(an_input_may_be_a_view_and_keeps_its_bits),
        CHECK_TEST(it_records_under_no_grad_and_leaves_the_mode),
        CHECK_TEST(a_wrong_gradient_of_a_module_is_found_by_the_parameters_name),
        CHECK_TEST(modules_of_the_library_pass_in_both_modes),
        CHECK_TEST(what_draws_is_refused_until_it_evaluates),
    };
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu:0", &device))
        return tern_error_print(stderr);
    return cmocka_run_group_tests_name("gradcheck", tests, NULL, NULL);
}
