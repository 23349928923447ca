// SPDX-License-Identifier: Apache-2.0
// The check of gradients over several devices: it passes what is right, and names what is not.
#include "parallel_check.h"

// y = x * weight, and on some devices twice that.
typedef struct wrong {
    tern_module base;
    tern_tensor *weight, *bias;
    int from; // this device on
} wrong;

static tern_status call_wrong(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    wrong *self = (wrong *)module;
    tern_tensor *y = tern_mul(in->at[0], self->weight);
    if (tern_device_of(in->at[0]).index >= self->from)
        y = tern_add(y, y);
    out->at[out->count++] = tern_add(y, self->bias);
    return tern_error_code();
}

static const tern_module_class wrong_class = {
    .name = "Wrong", .size = sizeof(wrong), .call = call_wrong};

static tern_module *wrong_new(int from)
{
    wrong *self = (wrong *)tern_module_new(&wrong_class);
    assert_non_null(self);
    self->from = from;
    tern_module_add_parameter(&self->base, "bias", &self->bias, tern_zeros(tern_dims(6)));
    tern_module_add_parameter(&self->base, "weight", &self->weight, tern_ones(tern_dims(6)));
    return tern_module_done(&self->base);
}

static tern_module *wrapped(tern_module *net)
{
    return tern_nn_data_parallel(tern_module_to(net, devices[0]), .devices = devices,
                                 .count = device_count);
}

static void what_is_right_passes_and_stays_as_it_was(void **state)
{
    (void)state;
    tern_manual_seed(3);
    tern_module *parallel = wrapped(tern_nn_sequential(
        tern_nn_linear(6, 9), tern_nn_batch_norm1d(9), tern_nn_tanh(), tern_nn_linear(9, 3)));
    tern_tensor *x = tern_to(small_input(14), devices[0]);
    tern_tensor *y = tern_to(small_labels(14), devices[0]);
    tern_state *now = tern_module_state_dict(parallel), *before = tern_state_copy(now);
    tern_state_free(now);
    assert_int_equal(tern_parallel_check(parallel, x, y), TERN_OK);
    assert_int_equal(tern_parallel_check(parallel, x, y), TERN_OK);
    tern_module *criterion = tern_nn_mse_loss();
    assert_int_equal(tern_parallel_check(parallel, x,
                                         tern_zeros(tern_dims(14, 3), .device = devices[0]),
                                         .criterion = criterion),
                     TERN_OK);
    assert_int_equal(
        tern_parallel_check(parallel, x, tern_zeros(tern_dims(14, 3), .device = devices[0])),
        TERN_OK);
    assert_null(tern_grad(tern_module_parameter(parallel, "module.0.weight")));
    check_same(tern_module_buffer(parallel, "module.1.running_mean"),
               tern_state_tensor(before, "module.1.running_mean"), 0);
    tern_state_free(before);
    tern_module_free(criterion);
    tern_module_free(parallel);
}

static void the_parameter_that_differs_is_named(void **state)
{
    (void)state;
    tern_tensor *x = tern_to(small_input(12), devices[0]);
    tern_tensor *y = tern_zeros(tern_dims(12, 6), .device = devices[0]);
    char part[100];
    snprintf(part, sizeof part, " over %d devices and ", device_count);
    tern_module *parallel = wrapped(tern_nn_sequential(wrong_new(1)));
    assert_int_equal(tern_parallel_check(parallel, x, y), TERN_ERR_NUMERIC);
    assert_non_null(strstr(tern_error_message(), part));
    assert_error(TERN_ERR_NUMERIC,
                 "parallel_check: the gradient of \"0.bias\" differs: its element 0 is ");
    tern_module_free(parallel);
    parallel = wrapped(tern_nn_sequential(wrong_new(DEVICES)));
    assert_int_equal(tern_parallel_check(parallel, x, y), TERN_OK);
    tern_module_free(parallel);
}

// y = x * weight, which is NaN for the last pieces where they are on the first device, or where
// they are not.
typedef struct lost {
    tern_module base;
    tern_tensor *weight;
    bool on_first;
} lost;

static tern_status call_lost(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const lost *self = (const lost *)module;
    tern_tensor *x = in->at[0], *y = tern_mul(x, self->weight);
    const bool last = tern_item(tern_amax(x, TERN_ALL_AXES, false)) > 1;
    const bool first_device = tern_device_of(x).index == 0;
    if (last && first_device == self->on_first)
        y = tern_mul_scalar(y, NAN);
    out->at[out->count++] = y;
    return tern_error_code();
}

static const tern_module_class lost_class = {
    .name = "Lost", .size = sizeof(lost), .call = call_lost};

static void nan_on_one_side_alone_differs(void **state)
{
    (void)state;
    float x[12 * 6];
    for (int i = 0; i < 12 * 6; i++)
        x[i] = i < 6 * 6 ? 1 : 2; // the second half is on other devices than the first
    for (int on_first = 0; on_first < 2; on_first++) {
        lost *self = (lost *)tern_module_new(&lost_class);
        assert_non_null(self);
        self->on_first = on_first;
        tern_module_add_parameter(&self->base, "weight", &self->weight, tern_ones(tern_dims(6)));
        tern_module *parallel = wrapped(tern_module_done(&self->base));
        assert_status(tern_parallel_check(parallel,
                                          tern_from_data(tern_dims(12, 6), x, .device = devices[0]),
                                          tern_zeros(tern_dims(12, 6), .device = devices[0])),
                      TERN_ERR_NUMERIC, "parallel_check: the gradient of \"weight\" differs");
        tern_module_free(parallel);
    }
}

static void dropout_is_told_apart(void **state)
{
    (void)state;
    tern_manual_seed(3);
    tern_module *parallel = wrapped(
        tern_nn_sequential(tern_nn_linear(6, 30), tern_nn_dropout(0.5), tern_nn_linear(30, 3)));
    tern_tensor *x = tern_to(small_input(12), devices[0]);
    tern_tensor *y = tern_to(small_labels(12), devices[0]);
    assert_status(tern_parallel_check(parallel, x, y), TERN_ERR_STATE,
                  "parallel_check: the module draws random numbers, other ones on each device");
    tern_module_eval(parallel);
    assert_int_equal(tern_parallel_check(parallel, x, y), TERN_OK);
    tern_module_free(parallel);
}

static void sixteen_bits_pass_too(void **state)
{
    (void)state;
    const tern_dtype dtypes[] = {TERN_FLOAT16, TERN_BFLOAT16, TERN_FLOAT64};
    for (int i = 0; i < 3; i++) {
        tern_manual_seed(3);
        tern_module *square = tern_nn_linear(6, 6);
        tern_module *net = tern_nn_sequential(square, tern_nn_tanh(), tern_module_retain(square));
        tern_module *parallel = wrapped(tern_module_to_dtype(net, dtypes[i]));
        tern_tensor *x = tern_to(tern_to_dtype(small_input(30), dtypes[i]), devices[0]);
        assert_non_null(tern_set_requires_grad(x, true));
        assert_int_equal(tern_parallel_check(parallel, x, tern_detach(tern_neg(x))), TERN_OK);
        assert_null(tern_grad(x));
        tern_module_free(parallel);
    }
}

static tern_status call_sum(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    tern_tensor *y = tern_mul(in->at[0], ((wrong *)module)->weight);
    out->at[out->count++] = tern_sum(y, tern_axes(0), false);
    return tern_error_code();
}

static const tern_module_class sum_class = {.name = "Sum", .size = sizeof(wrong), .call = call_sum};

// Its output has no such dimension, which matters where there are several to be joined.
static void a_batch_of_one_piece_is_not_joined(void **state)
{
    (void)state;
    wrong *self = (wrong *)tern_module_new(&sum_class);
    assert_non_null(self);
    tern_module_add_parameter(&self->base, "weight", &self->weight, tern_ones(tern_dims(1)));
    tern_module *net = tern_module_to(tern_module_done(&self->base), devices[0]);
    tern_module *parallel =
        tern_nn_data_parallel(net, .devices = devices, .count = device_count, .dim = -2);
    tern_tensor *x = tern_to(small_input(1), devices[0]), *y = tern_forward(parallel, x);
    assert_true(tern_shape_equal(tern_shape_of(y), tern_dims(6)));
    assert_int_equal(tern_parallel_check(parallel, x, tern_zeros_like(y)), TERN_OK);
    tern_module_free(parallel);
}

static void one_device_has_nothing_to_compare(void **state)
{
    (void)state;
    tern_module *parallel = tern_nn_data_parallel(tern_module_to(small_net(), devices[0]),
                                                  .devices = devices, .count = 1);
    tern_tensor *x = tern_to(small_input(12), devices[0]);
    tern_tensor *y = tern_to(small_labels(12), devices[0]);
    assert_int_equal(tern_parallel_check(parallel, x, y), TERN_OK);
    tern_module *net = tern_module_child(parallel, "module");
    assert_status(tern_parallel_check(net, x, y), TERN_ERR_ARG,
                  "parallel_check: this Sequential is not data parallel");
    tern_module_free(parallel);
}

int main(int argc, char **argv)
{
    const int nothing = choose_parallel_devices(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(what_is_right_passes_and_stays_as_it_was),
        CHECK_TEST(the_parameter_that_differs_is_named),
        CHECK_TEST(nan_on_one_side_alone_differs),
        CHECK_TEST(dropout_is_told_apart),
        CHECK_TEST(sixteen_bits_pass_too),
        CHECK_TEST(a_batch_of_one_piece_is_not_joined),
        CHECK_TEST(one_device_has_nothing_to_compare),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
