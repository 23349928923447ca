// SPDX-License-Identifier: Apache-2.0
// Metrics on every kind of device: where their states are, what they count, and what they refuse.
// Their numbers are compared with torchmetrics' in tests/golden/test_metrics_golden.c.
#include "device/device_check.h"
#include "device/sim.h"
#include "metric_test.h"

#define UPDATE(metric, count, ...) update_on(here, metric, count, __VA_ARGS__)
#define INTS(...)                  ((const int64_t[]){__VA_ARGS__})

// ---- counting -----------------------------------------------------------------------------------

static void a_smaller_last_batch_counts_as_its_samples(void **state)
{
    (void)state;
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    assert_int_equal(UPDATE(accuracy, 4, INTS(0, 1, 2, 2), INTS(0, 1, 2, 0)), TERN_OK);
    assert_int_equal(UPDATE(accuracy, 1, INTS(1), INTS(0)), TERN_OK);
    assert_near(tern_metric_value(accuracy), 3.0 / 5, 1e-15, 0);
    assert_int_equal(tern_metric_updates(accuracy), 2);
    tern_metric_free(accuracy);
}

// 2^53 + 1 is no double.
static void counts_are_exact_where_doubles_are_not(void **state)
{
    (void)state;
    tern_metric *matrix = tern_metric_confusion_matrix(.num_classes = 3);
    assert_int_equal(UPDATE(matrix, 1, INTS(1), INTS(2)), TERN_OK);
    for (int i = 0; i < 53; i++) { // it doubles
        tern_metric *twin = tern_metric_confusion_matrix(.num_classes = 3);
        assert_int_equal(tern_metric_merge(twin, matrix), TERN_OK);
        assert_int_equal(tern_metric_merge(matrix, twin), TERN_OK);
        tern_metric_free(twin);
    }
    assert_int_equal(UPDATE(matrix, 1, INTS(1), INTS(2)), TERN_OK);
    tern_tensor *cell = tern_select(tern_select(tern_metric_compute(matrix), 0, 2), 0, 1);
    assert_true(tern_item_int(cell) == (INT64_C(1) << 53) + 1);
    tern_metric_free(matrix);
}

static void a_large_mean_costs_r2_no_digits(void **state)
{
    (void)state;
    tern_metric *r2 = tern_metric_r2_score();
    for (int batch = 0; batch < 3; batch++) { // targets 1e9 and 1e9 + 2, half a unit missed
        const double values[] = {1e9, 1e9 + 2};
        tern_tensor *y =
            tern_from_data(tern_dims(2), values, .dtype = TERN_FLOAT64, .device = here);
        assert_int_equal(tern_metric_update(r2, tern_add_scalar(y, 0.5), y), TERN_OK);
    }
    assert_near(tern_metric_value(r2), 0.75, 1e-12, 0); // 1 - 6 / 4 / 6
    tern_metric_free(r2);
}

static void nan_among_preds_or_targets_is_no_score_of_r2(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        const double values[] = {1, NAN, 2}, whole[] = {1, 2, 4};
        tern_tensor *a = tern_from_data(tern_dims(3), values, .device = here);
        tern_tensor *b = tern_from_data(tern_dims(3), whole, .device = here);
        tern_metric *r2 = tern_metric_r2_score();
        assert_int_equal(tern_metric_update(r2, which ? b : a, which ? a : b), TERN_OK);
        assert_true(isnan(tern_metric_value(r2)));
        tern_metric_free(r2);
    }
    assert_no_error();
}

static void a_score_that_is_nan_is_the_largest(void **state)
{
    (void)state;
    const float scores[] = {NAN, 1, 2, 1, NAN, 0};
    tern_metric *top2 = tern_metric_accuracy(.num_classes = 3, .top_k = 2);
    tern_tensor *x = tern_from_data(tern_dims(2, 3), scores, .device = here);
    assert_int_equal(tern_metric_update(top2, x, labels_on(here, 2, INTS(0, 0))), TERN_OK);
    assert_string_equal(tern_metric_name(top2), "top2_accuracy");
    assert_near(tern_metric_value(top2), 1, 0, 0); // NaN is the largest, as argmax has it
    assert_int_equal(tern_metric_update(top2, x, labels_on(here, 2, INTS(1, 2))), TERN_OK);
    assert_near(tern_metric_value(top2), 0.5, 0, 0);
    tern_metric_free(top2);
}

static void truths_may_be_bool_integer_or_floating(void **state)
{
    (void)state;
    static const tern_dtype dtypes[] = {TERN_BOOL, TERN_UINT8, TERN_INT32, TERN_FLOAT32,
                                        TERN_BFLOAT16};
    const float scores[] = {0.9f, 0.2f, 0.6f}, truths[] = {1, 0, 0};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        tern_metric *accuracy = tern_metric_accuracy(.threshold = 0.7);
        tern_tensor *y = tern_from_data(tern_dims(3), truths, .device = here);
        assert_int_equal(tern_metric_update(accuracy,
                                            tern_from_data(tern_dims(3), scores, .device = here),
                                            tern_to_dtype(y, dtypes[i])),
                         TERN_OK);
        assert_near(tern_metric_value(accuracy), 1, 0, 0);
        tern_metric_free(accuracy);
    }
}

static void an_empty_batch_counts_nothing(void **state)
{
    (void)state;
    tern_metric *list[] = {tern_metric_f1(.num_classes = 3, .average = TERN_AVERAGE_MACRO),
                           tern_metric_confusion_matrix(.num_classes = 3),
                           tern_metric_auroc(.num_classes = 3)};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(UPDATE(list[i], 0, INTS(0), INTS(0)), TERN_OK);
        assert_near(tern_item(tern_sum_all(tern_metric_compute(list[i]))), 0, 0, 0);
    }
    tern_free(list[0], list[1], list[2]);
}

static void an_update_leaves_no_tensor_and_no_history(void **state)
{
    (void)state;
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3, .top_k = 2);
    tern_tensor *x = tern_set_requires_grad(scores_on(here, 2, INTS(0, 1)), true);
    tern_tensor *y = labels_on(here, 2, INTS(0, 2));
    assert_int_equal(tern_metric_update(accuracy, tern_mul_scalar(x, 2), y), TERN_OK);
    const int64_t live = tern_live_tensors();
    tern_tensor *twice = tern_mul_scalar(x, 2);
    assert_int_equal(tern_metric_update(accuracy, twice, y), TERN_OK);
    assert_int_equal(tern_live_tensors(), live + 1); // `twice`
    assert_true(tern_grad_enabled());
    assert_false(tern_requires_grad(tern_metric_compute(accuracy)));
    tern_metric_free(accuracy);
}

// ---- labels out of range ------------------------------------------------------------------------

// The CPU says it at once, and a CUDA device when it is waited for; it does not count on either.
static void check_bad(tern_metric *metric, tern_tensor *preds, tern_tensor *target,
                      const char *sentence)
{
    if (!tern_metric_update(metric, preds, target))
        assert_int_equal(tern_synchronize(here), TERN_ERR_INDEX);
    assert_error(TERN_ERR_INDEX, sentence);
    tern_zero_grad(target); // clears the device's record
    tern_metric_free(metric);
}

static void labels_out_of_range_name_the_sample(void **state)
{
    (void)state;
    tern_tensor *x = scores_on(here, 3, INTS(0, 1, 2));
    check_bad(tern_metric_accuracy(.num_classes = 3), x, labels_on(here, 3, INTS(0, 3, 1)),
              "accuracy: label of sample 1 is 3, but must be 0 to 2");
    check_bad(tern_metric_accuracy(.num_classes = 3, .top_k = 2), x,
              labels_on(here, 3, INTS(0, 1, -1)),
              "accuracy: label of sample 2 is -1, but must be 0 to 2");
    check_bad(tern_metric_f1(.num_classes = 3, .average = TERN_AVERAGE_NONE), x,
              labels_on(here, 3, INTS(7, 1, 2)), "f1: label of sample 0 is 7, but must be 0 to 2");
    check_bad(tern_metric_confusion_matrix(.num_classes = 3, .ignore_index = -1), x,
              labels_on(here, 3, INTS(-1, 1, 9)),
              "confusion_matrix: label of sample 2 is 9, but must be 0 to 2");
    check_bad(tern_metric_auroc(.num_classes = 3), x, labels_on(here, 3, INTS(0, 1, 3)),
              "auroc: label of sample 2 is 3, but must be 0 to 2");
    check_bad(tern_metric_recall(.num_classes = 3), labels_on(here, 2, INTS(0, 5)),
              labels_on(here, 2, INTS(0, 1)),
              "recall: prediction of sample 1 is 5, but must be 0 to 2");
    check_bad(tern_metric_precision(), labels_on(here, 2, INTS(0, 1)),
              labels_on(here, 2, INTS(2, 1)), "precision: target 0 is 2, but must be 0 to 1");
    tern_tensor *half = tern_full(tern_dims(2), 0.5, .device = here);
    check_bad(tern_metric_accuracy(), half, half, "accuracy: target 0 is -1, but must be 0 to 1");
    check_bad(tern_metric_perplexity(), tern_reshape(x, tern_dims(1, 3, 3)),
              tern_reshape(labels_on(here, 3, INTS(0, 1, 3)), tern_dims(1, 3)),
              "perplexity: label of sample 2 is 3, but must be 0 to 2");
}

static void what_is_out_of_range_does_not_count(void **state)
{
    (void)state;
    tern_metric *matrix = tern_metric_confusion_matrix(.num_classes = 3);
    assert_int_equal(UPDATE(matrix, 2, INTS(0, 1), INTS(0, 2)), TERN_OK);
    tern_tensor *x = scores_on(here, 3, INTS(2, 2, 2)), *y = labels_on(here, 3, INTS(3, -1, -4));
    if (!tern_metric_update(matrix, x, y))
        assert_int_equal(tern_synchronize(here), TERN_ERR_INDEX);
    tern_error_clear();
    tern_zero_grad(y); // clears the device's record
    assert_tensor(tern_metric_compute(matrix), tern_dims(3, 3), 1, 0, 0, 0, 0, 0, 0, 1, 0);
    tern_metric_free(matrix);
}

// ---- where states are ---------------------------------------------------------------------------

static void states_follow_the_first_update(void **state)
{
    (void)state;
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    char sentence[100];
    assert_int_equal(UPDATE(accuracy, 1, INTS(0), INTS(0)), TERN_OK);
    assert_true(is_on(tern_metric_compute(accuracy), here));
    snprintf(sentence, sizeof sentence,
             "metric_update: preds are on %s, but the states of accuracy on ",
             tern_device_string(tern_cpu(0)));
    assert_status(update_on(tern_cpu(0), accuracy, 1, INTS(0), INTS(0)), TERN_ERR_DEVICE, sentence);
    assert_near(tern_metric_value(accuracy), 1, 0, 0);
    tern_metric_reset(accuracy);
    assert_int_equal(update_on(tern_cpu(0), accuracy, 2, INTS(0, 1), INTS(0, 0)), TERN_OK);
    assert_true(is_on(tern_metric_compute(accuracy), tern_cpu(0)));
    assert_near(tern_metric_value(accuracy), 0.5, 0, 0);
    tern_metric_free(accuracy);
}

static void states_that_were_moved_stay_there(void **state)
{
    (void)state;
    tern_metric *auroc = tern_metric_auroc(.num_classes = 3);
    assert_int_equal(update_on(tern_cpu(0), auroc, 3, INTS(0, 1, 2), INTS(0, 1, 2)), TERN_OK);
    assert_ptr_equal(tern_metric_to(auroc, here), auroc);
    assert_int_equal(UPDATE(auroc, 2, INTS(0, 1), INTS(0, 1)), TERN_OK);
    assert_near(tern_metric_value(auroc), 1, 0, 0);
    tern_metric_reset(auroc);
    assert_status(update_on(tern_cpu(0), auroc, 1, INTS(0), INTS(0)), TERN_ERR_DEVICE,
                  "tern_metric_to moves them");
    assert_null_with(tern_metric_to(auroc, (tern_device){kind, 99}), TERN_ERR_DEVICE, "99");
    tern_metric_free(auroc);
}

static void preds_and_target_are_on_one_device(void **state)
{
    (void)state;
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    char sentence[100];
    snprintf(sentence, sizeof sentence, "target is on %s; tern_to moves one of them",
             tern_device_string(tern_cpu(0)));
    assert_status(tern_metric_update(accuracy, scores_on(here, 1, INTS(0)),
                                     labels_on(tern_cpu(0), 1, INTS(0))),
                  TERN_ERR_DEVICE, sentence);
    tern_metric_free(accuracy);
}

static void replicas_merge_from_other_devices(void **state)
{
    (void)state;
    tern_metric *a = tern_metric_auroc(.num_classes = 3), *b = tern_metric_auroc(.num_classes = 3);
    tern_metric *mean = tern_metric_mean(), *other = tern_metric_mean();
    assert_int_equal(UPDATE(a, 2, INTS(0, 1), INTS(0, 2)), TERN_OK);
    assert_int_equal(update_on(tern_cpu(0), b, 3, INTS(0, 1, 2), INTS(0, 1, 2)), TERN_OK);
    assert_int_equal(tern_metric_merge(a, b), TERN_OK);
    assert_true(is_on(tern_metric_compute(a), here));
    assert_near(tern_metric_value(a), (1 + 0.875 + 0.75) / 3, 1e-15, 0); // by pairs, by hand
    assert_int_equal(tern_metric_update(mean, tern_full(tern_dims(2), 1.0, .device = here), NULL),
                     TERN_OK);
    assert_int_equal(tern_metric_update(other, tern_full(tern_dims(1), 7.0), NULL), TERN_OK);
    assert_int_equal(tern_metric_merge(mean, other), TERN_OK);
    assert_near(tern_metric_value(mean), 3, 1e-15, 0);
    assert_near(tern_item(tern_metric_standard_error(mean)), 2, 1e-15, 0); // sqrt(12 / 3)
    tern_free(a, b, mean, other);
}

static void replicas_of_other_options_are_not_merged(void **state)
{
    (void)state;
    tern_metric *counts = tern_metric_confusion_matrix(.num_classes = 3);
    tern_metric *shares =
        tern_metric_confusion_matrix(.num_classes = 3, .normalize = TERN_CONFUSION_TRUE);
    tern_metric *mean = tern_metric_r2_score(.num_outputs = 2);
    tern_metric *same =
        tern_metric_r2_score(.num_outputs = 2, .multioutput = TERN_MULTIOUTPUT_UNIFORM_AVERAGE);
    tern_metric *raw =
        tern_metric_r2_score(.num_outputs = 2, .multioutput = TERN_MULTIOUTPUT_RAW_VALUES);
    assert_status(tern_metric_merge(counts, shares), TERN_ERR_ARG, "normalize=true");
    assert_status(tern_metric_merge(mean, raw), TERN_ERR_ARG, "multioutput=raw_values");
    assert_int_equal(tern_metric_merge(mean, same), TERN_OK);
    tern_free(counts, shares, mean, same, raw);
}

// ---- one's own ----------------------------------------------------------------------------------

static tern_status update_own(largest *own, double value, tern_device device)
{
    return tern_metric_update(&own->base, tern_full(tern_dims(2), value, .device = device),
                              tern_full(tern_dims(2), 1.0, .device = device));
}

static void a_metric_of_ones_own_does_all_of_it(void **state)
{
    (void)state;
    largest *own = largest_new(), *other = largest_new();
    assert_int_equal(update_own(own, -4, here), TERN_OK);
    assert_int_equal(update_own(own, 2, here), TERN_OK);
    assert_near(tern_metric_value(&own->base), 5, 0, 0);
    assert_int_equal(update_own(other, 9, tern_cpu(0)), TERN_OK);
    assert_int_equal(tern_metric_merge(&own->base, &other->base), TERN_OK);
    assert_near(tern_metric_value(&own->base), 8, 0, 0);
    tern_metric_reset(&own->base);
    assert_int_equal(own->resets, 1);
    assert_int_equal(update_own(own, 2, here), TERN_OK);
    assert_near(tern_metric_value(&own->base), 1, 0, 0);
    tern_free(&own->base, &other->base);
}

static void a_failure_of_ones_own_is_said(void **state)
{
    (void)state;
    largest *own = largest_new();
    own->fails = true;
    assert_sentence(update_own(own, 0, here), TERN_ERR_NUMERIC, "largest: says why");
    own->fails = false;
    assert_int_equal(tern_metric_updates(&own->base), 0);
    assert_int_equal(update_own(own, 0, here), TERN_OK);
    own->is_silent = true;
    assert_sentence(update_own(own, 0, here), TERN_ERR_ARG,
                    "metric_update: largest failed and did not say why");
    assert_null_with(tern_metric_compute(&own->base), TERN_ERR_STATE,
                     "metric_compute: largest failed and did not say why");
    assert_int_equal(tern_metric_updates(&own->base), 1);
    tern_metric_free(&own->base);
}

// ---- graphs -------------------------------------------------------------------------------------

static void a_captured_update_counts_on_when_it_is_replayed(void **state)
{
    (void)state;
    tern_metric *f1 = tern_metric_f1(.num_classes = 3, .average = TERN_AVERAGE_MICRO);
    tern_tensor *x = scores_on(here, 2, INTS(0, 1)), *y = labels_on(here, 2, INTS(0, 2));
    tern_metric *late = tern_metric_accuracy(.num_classes = 3);
    tern_metric *keeps = tern_metric_auroc(.num_classes = 3);
    assert_int_equal(tern_metric_update(f1, x, y), TERN_OK);
    assert_int_equal(tern_metric_update(keeps, x, y), TERN_OK);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_status(tern_metric_update(late, x, y), TERN_ERR_STATE, "update the metric once before");
    assert_status(tern_metric_update(keeps, x, y), TERN_ERR_STATE, "keeps what it is given");
    assert_int_equal(tern_metric_update(f1, x, y), TERN_OK);
    tern_cuda_graph *graph = tern_cuda_graph_end();
    assert_non_null(graph);
    assert_int_equal(tern_copy_(y, labels_on(here, 2, INTS(0, 1))) != NULL, true);
    for (int i = 0; i < 3; i++)
        assert_int_equal(tern_cuda_graph_replay(graph), TERN_OK);
    assert_near(tern_metric_value(f1), 7.0 / 8, 1e-15, 0); // 1 of 2, then 6 of 6
    tern_cuda_graph_free(graph);
    tern_free(f1, late, keeps);
}

static void updating_and_computing_wait_for_nothing(void **state)
{
    (void)state;
    if (!sim_begin())
        skip();
    tern_metric_list list = tern_metrics(
        tern_metric_accuracy(.num_classes = 3), tern_metric_f1(.num_classes = 3, .top_k = 2),
        tern_metric_recall(.num_classes = 3, .average = TERN_AVERAGE_MACRO, .ignore_index = 1),
        tern_metric_confusion_matrix(.num_classes = 3), tern_metric_auroc(.num_classes = 3),
        tern_metric_perplexity());
    tern_tensor *x = scores_on(here, 3, INTS(0, 1, 2)), *y = labels_on(here, 3, INTS(0, 1, 1));
    for (int round = 0; round < 2; round++) { // the first one makes states and memory
        if (round == 1)
            sim.trace_waits();
        for (int i = 0; i < list.count; i++) {
            assert_int_equal(tern_metric_update(list.at[i], x, y), TERN_OK);
            assert_non_null(tern_metric_compute(list.at[i]));
        }
    }
    tern_sim_wait wait;
    assert_int_equal(sim.waits(&wait, 1), 0);
    tern_metrics_free(list);
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    if (nothing)
        return nothing;
    const struct CMUnitTest everywhere[] = {
        CHECK_TEST(a_smaller_last_batch_counts_as_its_samples),
        CHECK_TEST(counts_are_exact_where_doubles_are_not),
        CHECK_TEST(a_large_mean_costs_r2_no_digits),
        CHECK_TEST(nan_among_preds_or_targets_is_no_score_of_r2),
        CHECK_TEST(a_score_that_is_nan_is_the_largest),
        CHECK_TEST(truths_may_be_bool_integer_or_floating),
        CHECK_TEST(an_empty_batch_counts_nothing),
        CHECK_TEST(an_update_leaves_no_tensor_and_no_history),
        CHECK_TEST(labels_out_of_range_name_the_sample),
        CHECK_TEST(what_is_out_of_range_does_not_count),
        CHECK_TEST(states_follow_the_first_update),
        CHECK_TEST(states_that_were_moved_stay_there),
        CHECK_TEST(preds_and_target_are_on_one_device),
        CHECK_TEST(replicas_merge_from_other_devices),
        CHECK_TEST(replicas_of_other_options_are_not_merged),
        CHECK_TEST(a_metric_of_ones_own_does_all_of_it),
        CHECK_TEST(a_failure_of_ones_own_is_said),
    };
    const struct CMUnitTest on_cuda[] = {
        CHECK_TEST(a_captured_update_counts_on_when_it_is_replayed),
        CHECK_TEST(updating_and_computing_wait_for_nothing),
    };
    RUN_DEVICE_TESTS(everywhere, on_cuda);
}
