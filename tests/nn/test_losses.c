// SPDX-License-Identifier: Apache-2.0
#include "support/tensor_check.h"

#define N 4
#define C 3

static const double logits[N][C] = {{0.5, -1, 2}, {3, 0, -2}, {0.25, 0.125, -0.5}, {-1, 4, 1}};
static const int64_t labels[N] = {2, 0, -100, 1};
static const double class_weight[C] = {0.5, 1, 2};

static tern_tensor *input(void)
{
    return tern_from_data(tern_dims(N, C), logits, .dtype = TERN_FLOAT64, .requires_grad = true);
}

static tern_tensor *target(void)
{
    return tern_from_data(tern_dims(N), labels, .dtype = TERN_INT64);
}

static tern_tensor *weight(void)
{
    return tern_from_data(tern_dims(C), class_weight, .dtype = TERN_FLOAT64);
}

// -log softmax(logits[n])[c]
static double surprise(int n, int c)
{
    double sum = 0;
    for (int k = 0; k < C; k++)
        sum += exp(logits[n][k]);
    return log(sum) - logits[n][c];
}

// PyTorch's CrossEntropyLoss written out: the smoothing part has the weight of every class, but is
// divided by that of the labels.
static double expected_loss(const double w[C], double smoothing, int64_t ignored, bool mean)
{
    double plain = 0, smooth = 0, total = 0;
    for (int n = 0; n < N; n++) {
        if (labels[n] == ignored || labels[n] < 0)
            continue;
        total += w[labels[n]];
        plain += w[labels[n]] * surprise(n, (int)labels[n]);
        for (int c = 0; c < C; c++)
            smooth += w[c] * surprise(n, c);
    }
    double sum = (1 - smoothing) * plain + smoothing / C * smooth;
    return mean ? sum / total : sum;
}

// Runs the criterion on the samples above and frees it.
static double run(tern_module *criterion)
{
    double loss = tern_item(tern_loss(criterion, input(), target()));
    tern_module_free(criterion);
    return loss;
}

static void cross_entropy_means_over_the_labels_that_count(void **state)
{
    (void)state;
    const double ones[C] = {1, 1, 1};
    assert_near(run(tern_nn_cross_entropy_loss()), expected_loss(ones, 0, -100, true), 1e-14, 0);
    assert_near(run(tern_nn_cross_entropy_loss(.label_smoothing = 0.1)),
                expected_loss(ones, 0.1, -100, true), 1e-14, 0);
    assert_near(run(tern_nn_cross_entropy_loss(.reduction = TERN_REDUCTION_SUM)),
                expected_loss(ones, 0, -100, false), 1e-14, 0);
    tern_module *strict = tern_nn_cross_entropy_loss(.ignore_index = 2);
    assert_null_with(tern_loss(strict, input(), target()), TERN_ERR_INDEX, "-100");
    tern_module_free(strict);
    tern_module *any = tern_nn_linear(1, 1);
    tern_module_zero_grad(any); // the label was dealt with
    tern_module_free(any);
    assert_int_equal(tern_synchronize(tern_cpu(0)), TERN_OK);
}

static void cross_entropy_weighs_its_classes(void **state)
{
    (void)state;
    const double *w = class_weight;
    assert_near(run(tern_nn_cross_entropy_loss(.weight = weight())),
                expected_loss(w, 0, -100, true), 1e-14, 0);
    assert_near(run(tern_nn_cross_entropy_loss(.weight = weight(), .label_smoothing = 0.3)),
                expected_loss(w, 0.3, -100, true), 1e-14, 0);
    assert_near(run(tern_nn_cross_entropy_loss(.weight = weight(), .label_smoothing = 0.3,
                                               .reduction = TERN_REDUCTION_SUM)),
                expected_loss(w, 0.3, -100, false), 1e-14, 0);
}

static void cross_entropy_without_reduction_gives_a_loss_per_sample(void **state)
{
    (void)state;
    tern_module *criterion =
        tern_nn_cross_entropy_loss(.weight = weight(), .reduction = TERN_REDUCTION_NONE);
    assert_tensor_near(tern_loss(criterion, input(), target()), 1e-14, tern_dims(N),
                       2 * surprise(0, 2), 0.5 * surprise(1, 0), 0, surprise(3, 1));
    tern_module_free(criterion);
}

static void the_gradient_of_cross_entropy_is_probability_less_label(void **state)
{
    (void)state;
    tern_module *criterion = tern_nn_cross_entropy_loss(.weight = weight());
    tern_tensor *x = input();
    assert_int_equal(tern_backward(tern_loss(criterion, x, target())), TERN_OK);
    double expected[N * C] = {0}, total = 2 + 0.5 + 1;
    for (int n = 0; n < N; n++)
        for (int c = 0; labels[n] >= 0 && c < C; c++)
            expected[n * C + c] =
                class_weight[labels[n]] / total * (exp(-surprise(n, c)) - (labels[n] == c));
    check_close_to(tern_grad(x), tern_dims(N, C), expected, N * C, 1e-15, __FILE__, __LINE__);
    tern_module_free(criterion);
}

static void the_weight_is_a_buffer_of_the_criterions_own(void **state)
{
    (void)state;
    tern_tensor *mine = weight();
    tern_module *criterion = tern_nn_cross_entropy_loss(.weight = mine);
    assert_non_null(tern_fill_(mine, 7));
    assert_tensor(tern_module_buffer(criterion, "weight"), tern_dims(C), 0.5, 1, 2);
    assert_int_equal(tern_module_num_parameters(criterion), 0);
    tern_module *without = tern_nn_cross_entropy_loss();
    assert_int_equal(tern_module_num_buffers(without), 0);
    tern_module *trained =
        tern_nn_cross_entropy_loss(.weight = tern_ones(tern_dims(C), .requires_grad = true));
    assert_false(tern_requires_grad(tern_module_buffer(trained, "weight")));
    tern_module_free(criterion);
    tern_module_free(without);
    tern_module_free(trained);
}

static void a_criterion_left_behind_is_named_with_both_devices_and_the_cure(void **state)
{
    (void)state;
    tern_module *criterion = tern_nn_cross_entropy_loss(.weight = weight());
    tern_tensor *x = tern_to(input(), tern_cpu(1)), *y = tern_to(target(), tern_cpu(1));
    assert_null_with(tern_loss(criterion, x, y), TERN_ERR_DEVICE,
                     "the criterion's weight is on cpu:0, input on cpu:1: call "
                     "tern_module_to(criterion, ...)");
    assert_ptr_equal(tern_module_to(criterion, tern_cpu(1)), criterion);
    assert_near(tern_item(tern_loss(criterion, x, y)), expected_loss(class_weight, 0, -100, true),
                1e-14, 0);
    assert_null_with(tern_loss(criterion, x, target()), TERN_ERR_DEVICE, "[in CrossEntropyLoss]");
    assert_null_with(tern_loss(criterion, tern_to_dtype(x, TERN_FLOAT32), y), TERN_ERR_DTYPE,
                     "the criterion's weight is float64, input float32");
    tern_module_free(criterion);
}

static void errors_of_losses_name_the_shapes(void **state)
{
    (void)state;
    tern_module *criterion = tern_nn_cross_entropy_loss(), *mse = tern_nn_mse_loss();
    tern_tensor *x = tern_ones(tern_dims(4, 3)), *y = tern_zeros(tern_dims(5), .dtype = TERN_INT64);
    assert_null_with(tern_loss(criterion, x, y), TERN_ERR_SHAPE, "(5,)");
    assert_null_with(tern_loss(mse, x, tern_ones(tern_dims(4, 1))), TERN_ERR_SHAPE, "(4, 1)");
    assert_null_with(tern_forward(criterion, x), TERN_ERR_ARG, "takes 2 tensors, not 1");
    assert_null_with(tern_forward(mse, x), TERN_ERR_ARG, "takes 2 tensors, not 1");
    tern_module_free(criterion);
    tern_module_free(mse);
}

static void mean_squared_error_reduces_as_told(void **state)
{
    (void)state;
    const float a[] = {1, 2, 3, -1}, b[] = {0, 2, 5, 2};
    tern_tensor *x = tern_from_data(tern_dims(2, 2), a, .requires_grad = true);
    tern_tensor *y = tern_from_data(tern_dims(2, 2), b);
    tern_module *mean = tern_nn_mse_loss(),
                *sum = tern_nn_mse_loss(.reduction = TERN_REDUCTION_SUM);
    tern_module *none = tern_nn_mse_loss(.reduction = TERN_REDUCTION_NONE);
    tern_module *unsaid = tern_nn_mse_loss(.reduction = TERN_REDUCTION_UNSPECIFIED);
    assert_tensor(tern_loss(mean, x, y), tern_dims(), 3.5);
    assert_tensor(tern_loss(unsaid, x, y), tern_dims(), 3.5);
    assert_tensor(tern_loss(sum, x, y), tern_dims(), 14);
    assert_tensor(tern_loss(none, x, y), tern_dims(2, 2), 1, 0, 4, 9);
    assert_int_equal(tern_backward(tern_loss(mean, x, y)), TERN_OK);
    assert_tensor(tern_grad(x), tern_dims(2, 2), 0.5, 0, -1, -1.5);
    tern_module_free(mean);
    tern_module_free(sum);
    tern_module_free(none);
    tern_module_free(unsaid);
}

// The numbers of torch.nn.L1Loss.
static void mean_absolute_error_reduces_as_told(void **state)
{
    (void)state;
    const float a[] = {1, 2, 3, -1}, b[] = {0, 2, 5, 2};
    tern_tensor *x = tern_from_data(tern_dims(2, 2), a, .requires_grad = true);
    tern_tensor *y = tern_from_data(tern_dims(2, 2), b, .requires_grad = true);
    tern_module *mean = tern_nn_l1_loss(), *sum = tern_nn_l1_loss(.reduction = TERN_REDUCTION_SUM);
    tern_module *none = tern_nn_l1_loss(.reduction = TERN_REDUCTION_NONE);
    assert_tensor(tern_loss(mean, x, y), tern_dims(), 1.5);
    assert_tensor(tern_loss(sum, x, y), tern_dims(), 6);
    assert_tensor(tern_loss(none, x, y), tern_dims(2, 2), 1, 0, 2, 3);
    assert_int_equal(tern_backward(tern_loss(mean, x, y)), TERN_OK);
    assert_tensor(tern_grad(x), tern_dims(2, 2), 0.25, 0, -0.25, -0.25);
    assert_tensor(tern_grad(y), tern_dims(2, 2), -0.25, 0, 0.25, 0.25);
    tern_module_free(mean);
    tern_module_free(sum);
    tern_module_free(none);
}

// As in torch 2.15: the loss is NaN, and its slope 0.
static void the_absolute_error_of_nan_has_no_slope(void **state)
{
    (void)state;
    const float a[] = {NAN, INFINITY, -INFINITY}, b[] = {0, INFINITY, 1};
    tern_tensor *x = tern_from_data(tern_dims(3), a, .requires_grad = true);
    tern_tensor *loss = tern_l1_loss(x, tern_from_data(tern_dims(3), b), TERN_REDUCTION_NONE);
    assert_true(isnan(tern_item(tern_select(loss, 0, 0))));
    assert_true(isnan(tern_item(tern_select(loss, 0, 1))));
    assert_true(isinf(tern_item(tern_select(loss, 0, 2))));
    assert_int_equal(tern_backward(tern_sum(loss, TERN_ALL_AXES, false)), TERN_OK);
    assert_tensor(tern_grad(x), tern_dims(3), 0, 0, -1);
}

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    assert_null_with(tern_nn_cross_entropy_loss(.label_smoothing = 1.5), TERN_ERR_ARG,
                     "label_smoothing is 1.5");
    assert_null_with(tern_nn_cross_entropy_loss(.label_smoothing = NAN), TERN_ERR_ARG,
                     "label_smoothing is nan");
    assert_null_with(tern_nn_cross_entropy_loss(.reduction = (tern_reduction)8), TERN_ERR_ARG,
                     "8 is no reduction");
    assert_null_with(tern_nn_cross_entropy_loss(.weight = tern_ones(tern_dims(3, 1))),
                     TERN_ERR_SHAPE, "weight is float32 (3, 1)");
    assert_null_with(
        tern_nn_cross_entropy_loss(.weight = tern_ones(tern_dims(3), .dtype = TERN_INT64)),
        TERN_ERR_DTYPE, "weight is int64 (3,)");
    assert_null_with(tern_nn_mse_loss(.reduction = (tern_reduction)-1), TERN_ERR_ARG,
                     "is no reduction");
    assert_null_with(tern_nn_cross_entropy_loss_with(NULL), TERN_ERR_NULL, "options is NULL");
    assert_null_with(tern_nn_mse_loss_with(NULL), TERN_ERR_NULL, "options is NULL");
}

static void defaults_are_those_of_the_macros(void **state)
{
    (void)state;
    tern_nn_cross_entropy_loss_options o = tern_nn_cross_entropy_loss_defaults();
    assert_null(o.weight);
    assert_int_equal(o.ignore_index, -100);
    assert_true(o.label_smoothing == 0);
    assert_int_equal(o.reduction, TERN_REDUCTION_MEAN);
    assert_int_equal(tern_nn_loss_defaults().reduction, TERN_REDUCTION_MEAN);
    assert_int_equal(tern_nn_loss_defaults().reduction, TERN_REDUCTION_MEAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(cross_entropy_means_over_the_labels_that_count),
        CHECK_TEST(cross_entropy_weighs_its_classes),
        CHECK_TEST(cross_entropy_without_reduction_gives_a_loss_per_sample),
        CHECK_TEST(the_gradient_of_cross_entropy_is_probability_less_label),
        CHECK_TEST(the_weight_is_a_buffer_of_the_criterions_own),
        CHECK_TEST(a_criterion_left_behind_is_named_with_both_devices_and_the_cure),
        CHECK_TEST(errors_of_losses_name_the_shapes),
        CHECK_TEST(mean_squared_error_reduces_as_told),
        CHECK_TEST(mean_absolute_error_reduces_as_told),
        CHECK_TEST(the_absolute_error_of_nan_has_no_slope),
        CHECK_TEST(options_that_make_no_sense_are_refused),
        CHECK_TEST(defaults_are_those_of_the_macros),
    };
    setenv("TERN_CPU_DEVICES", "2", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
