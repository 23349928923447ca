// SPDX-License-Identifier: Apache-2.0
// Cross-entropy forward and backward against the formulas in double, on every instruction set.
#include "kernel_check.h"

#define MOST 40000

static float logits[MOST], gradient[MOST], probabilities[MOST], weights[512], lse[MOST];
static float losses[MOST], total;
static int64_t labels[MOST];

typedef struct shape {
    int64_t n, classes, spatial;
} shape;

// Few and many classes, one and several places, more samples than go side by side.
static const shape shapes[] = {{1, 1, 1},   {3, 10, 1},  {64, 10, 1},  {33, 64, 1}, {5, 65, 1},
                               {7, 500, 1}, {2, 10, 70}, {3, 300, 40}, {4, 3, 2}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void fill(shape s)
{
    for (int64_t i = 0; i < s.n * s.classes * s.spatial; i++)
        logits[i] = (float)(8 * random_value());
    for (int64_t c = 0; c < s.classes; c++)
        weights[c] = (float)(1.25 + random_value());
    for (int64_t i = 0; i < s.n * s.spatial; i++)
        labels[i] = random_below(8) == 0 ? -100 : (int64_t)random_below((uint32_t)s.classes);
    labels[0] = 0;
    for (int64_t i = 0; i < s.n * s.classes * s.spatial; i++)
        probabilities[i] = (float)(1.25 + random_value()) / (float)s.classes;
}

static int64_t place(shape s, int64_t sample, int64_t c)
{
    return (sample / s.spatial * s.classes + c) * s.spatial + sample % s.spatial;
}

static double log_sum_exp(shape s, int64_t sample)
{
    double top = -INFINITY, sum = 0;
    for (int64_t c = 0; c < s.classes; c++)
        top = fmax(top, (double)logits[place(s, sample, c)]);
    for (int64_t c = 0; c < s.classes; c++)
        sum += exp((double)logits[place(s, sample, c)] - top);
    return top + log(sum);
}

// What class c of a sample counts for: loss = - sum share[c] log p[c].
static double share_of(const tern_cross_entropy_args *args, shape s, int64_t sample, int64_t c)
{
    const double weight = args->weight ? (double)weights[c] : 1, e = args->label_smoothing;
    if (args->probabilities)
        return weight *
               ((1 - e) * (double)probabilities[place(s, sample, c)] + e / (double)s.classes);
    if (labels[sample] == args->ignore_index)
        return 0;
    return weight * ((1 - e) * (labels[sample] == c) + e / (double)s.classes);
}

static double expected_loss(const tern_cross_entropy_args *args, shape s, int64_t sample)
{
    double loss = 0;
    const double log_sum = log_sum_exp(s, sample);
    for (int64_t c = 0; c < s.classes; c++)
        loss += share_of(args, s, sample, c) * (log_sum - (double)logits[place(s, sample, c)]);
    return loss;
}

static double expected_total(const tern_cross_entropy_args *args, shape s)
{
    double sum = 0;
    for (int64_t i = 0; i < s.n * s.spatial; i++) {
        if (args->probabilities)
            sum += 1;
        else if (labels[i] != args->ignore_index)
            sum += args->weight ? (double)weights[labels[i]] : 1;
    }
    return sum;
}

static tern_strided weight_view;

static tern_cross_entropy_args args_of(shape s, bool weighted, bool soft, double smoothing,
                                       tern_reduction reduction)
{
    weight_view = VIEW(weights, TERN_FLOAT32, s.classes);
    tern_cross_entropy_args args = {.probabilities = soft,
                                    .ignore_index = -100,
                                    .label_smoothing = smoothing,
                                    .reduction = reduction};
    args.x = VIEW(logits, TERN_FLOAT32, s.n, s.classes, s.spatial);
    args.target = soft ? VIEW(probabilities, TERN_FLOAT32, s.n, s.classes, s.spatial)
                       : VIEW(labels, TERN_INT64, s.n, s.spatial);
    args.weight = weighted ? &weight_view : NULL;
    args.lse = VIEW(lse, TERN_FLOAT32, s.n, s.spatial);
    args.total = VIEW(&total, TERN_FLOAT32, 1);
    args.loss = reduction == TERN_REDUCTION_NONE ? VIEW(losses, TERN_FLOAT32, s.n, s.spatial)
                                                 : VIEW(losses, TERN_FLOAT32, 1);
    return args;
}

static void check_losses(const tern_cross_entropy_args *args, shape s, const tern_kernels *kernels)
{
    double sum = 0;
    const double divisor = expected_total(args, s);
    assert_int_equal(kernels->cross_entropy(&kernel_exec, args), 0);
    for (int64_t i = 0; i < s.n * s.spatial; i++) {
        const double loss = expected_loss(args, s, i);
        assert_within(lse[i], log_sum_exp(s, i), 4e-6, kernels);
        if (args->reduction == TERN_REDUCTION_NONE)
            assert_within(losses[i], loss, 1e-5 * (1 + fabs(loss)), kernels);
        sum += loss;
    }
    assert_within(total, divisor, divisor * 1e-6, kernels);
    if (args->reduction == TERN_REDUCTION_SUM)
        assert_within(losses[0], sum, 1e-6 * (1 + fabs(sum)), kernels);
    if (args->reduction == TERN_REDUCTION_MEAN)
        assert_within(losses[0], sum / divisor, 1e-6 * (1 + fabs(sum / divisor)), kernels);
}

// d loss / d x[c] = (sum share) p[c] - share[c]
static void check_gradient(const tern_cross_entropy_args *args, shape s,
                           const tern_kernels *kernels)
{
    const bool each = args->reduction == TERN_REDUCTION_NONE;
    float upstream[MOST / 8];
    const tern_strided dloss =
        each ? VIEW(upstream, TERN_FLOAT32, s.n, s.spatial) : VIEW(upstream, TERN_FLOAT32, 1);
    const tern_strided dx = VIEW(gradient, TERN_FLOAT32, s.n, s.classes, s.spatial);
    for (int64_t i = 0; i < s.n * s.spatial; i++)
        upstream[i] = (float)(0.5 + (double)(i % 7));
    assert_int_equal(kernels->cross_entropy_grad(&kernel_exec, args, &dx, &dloss), 0);
    for (int64_t i = 0; i < s.n * s.spatial; i++) {
        double g = (double)upstream[each ? i : 0], mass = 0;
        if (args->reduction == TERN_REDUCTION_MEAN)
            g /= expected_total(args, s);
        for (int64_t c = 0; c < s.classes; c++)
            mass += share_of(args, s, i, c);
        const double log_sum = log_sum_exp(s, i);
        for (int64_t c = 0; c < s.classes; c++) {
            const double p = exp((double)logits[place(s, i, c)] - log_sum);
            assert_within(gradient[place(s, i, c)], g * (mass * p - share_of(args, s, i, c)),
                          2e-6 * g * (mass + 1), kernels);
        }
    }
}

static void check_all(bool weighted, bool soft, double smoothing)
{
    for (int k = 0; k < SHAPES; k++) {
        fill(shapes[k]);
        for (int r = TERN_REDUCTION_MEAN; r <= TERN_REDUCTION_NONE; r++) {
            const tern_cross_entropy_args args =
                args_of(shapes[k], weighted, soft, smoothing, (tern_reduction)r);
            FOR_EACH_TABLE(kernels)
            {
                check_losses(&args, shapes[k], kernels);
                check_gradient(&args, shapes[k], kernels);
            }
        }
    }
    assert_int_equal(kernel_fault.set, 0);
}

static void labels_give_minus_the_log_of_their_probability(void **state)
{
    (void)state;
    check_all(false, false, 0);
}

static void weighted_means_divide_by_the_weights_of_the_labels(void **state)
{
    (void)state;
    check_all(true, false, 0);
}

static void smoothing_spreads_a_part_over_all_classes(void **state)
{
    (void)state;
    check_all(false, false, 0.1);
    check_all(true, false, 0.3);
}

static void probabilities_are_targets_and_the_mean_counts_samples(void **state)
{
    (void)state;
    check_all(false, true, 0);
    check_all(true, true, 0.1);
}

static void all_labels_ignored_is_nan_for_the_mean_and_zero_for_the_sum(void **state)
{
    (void)state;
    const shape s = {40, 10, 1};
    fill(s);
    for (int i = 0; i < 40; i++)
        labels[i] = -100;
    const tern_strided dx = VIEW(gradient, TERN_FLOAT32, 40, 10, 1);
    float one = 1;
    const tern_strided dloss = VIEW(&one, TERN_FLOAT32, 1);
    FOR_EACH_TABLE(kernels)
    {
        tern_cross_entropy_args args = args_of(s, true, false, 0, TERN_REDUCTION_MEAN);
        assert_int_equal(kernels->cross_entropy(&kernel_exec, &args), 0);
        assert_true(isnan(losses[0]));
        assert_int_equal(kernels->cross_entropy_grad(&kernel_exec, &args, &dx, &dloss), 0);
        for (int i = 0; i < 400; i++)
            assert_within(gradient[i], 0, 0, kernels);
        args.reduction = TERN_REDUCTION_SUM;
        assert_int_equal(kernels->cross_entropy(&kernel_exec, &args), 0);
        assert_within(losses[0], 0, 0, kernels);
    }
}

static void the_first_label_out_of_range_is_reported_and_counts_as_ignored(void **state)
{
    (void)state;
    const shape s = {2000, 10, 2};
    fill(s);
    for (int i = 0; i < 4000; i++)
        labels[i] = i % 10;
    labels[3999] = 10;
    labels[1234] = -1;
    labels[3000] = INT64_MAX;
    const tern_cross_entropy_args args = args_of(s, false, false, 0, TERN_REDUCTION_SUM);
    FOR_EACH_TABLE(kernels)
    {
        double sum = 0;
        kernel_fault = (tern_fault){0};
        assert_int_equal(kernels->cross_entropy(&kernel_exec, &args), 0);
        assert_int_equal(kernel_fault.set, 1);
        assert_int_equal(kernel_fault.location, 7);
        assert_int_equal(kernel_fault.element, 1234);
        assert_int_equal(kernel_fault.value, -1);
        assert_within(total, 3997, 0, kernels);
        for (int i = 0; i < 4000; i++)
            if (i != 3999 && i != 1234 && i != 3000)
                sum += expected_loss(&args, s, i);
        assert_within(losses[0], sum, 1e-6 * sum, kernels);
    }
    kernel_fault = (tern_fault){0};
}

// Far from 0 exp overflows or underflows; the loss does not.
static void huge_logits_have_a_finite_loss(void **state)
{
    (void)state;
    const shape s = {2, 3, 1};
    const float values[] = {1000, 999, 1000, -2000, -2001, -1999};
    memcpy(logits, values, sizeof values);
    labels[0] = 1;
    labels[1] = 2;
    const tern_cross_entropy_args args = args_of(s, false, false, 0, TERN_REDUCTION_NONE);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->cross_entropy(&kernel_exec, &args), 0);
        assert_within(losses[0], log(2 + exp(-1)) + 1, 1e-6, kernels);
        assert_within(losses[1], log(1 + exp(-1) + exp(-2)), 1e-6, kernels);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_give_minus_the_log_of_their_probability),
        cmocka_unit_test(weighted_means_divide_by_the_weights_of_the_labels),
        cmocka_unit_test(smoothing_spreads_a_part_over_all_classes),
        cmocka_unit_test(probabilities_are_targets_and_the_mean_counts_samples),
        cmocka_unit_test(all_labels_ignored_is_nan_for_the_mean_and_zero_for_the_sum),
        cmocka_unit_test(the_first_label_out_of_range_is_reported_and_counts_as_ignored),
        cmocka_unit_test(huge_logits_have_a_finite_loss),
    };
    return cmocka_run_group_tests_name("cross_entropy_kernel", tests, kernel_setup, NULL);
}
