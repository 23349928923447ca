// SPDX-License-Identifier: Apache-2.0
// Metrics in states and checkpoints: they go on where they were, and others do not fit.
#include "metric_test.h"
#include "train_test.h"

#define UPDATE(metric, count, ...) update_on(tern_cpu(0), metric, count, __VA_ARGS__)
#define INTS(...)                  ((const int64_t[]){__VA_ARGS__})

static tern_checkpoint *checkpoint_with(tern_metric *metric)
{
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    assert_non_null(ck);
    assert_int_equal(tern_checkpoint_metric(ck, "metric", metric), TERN_OK);
    return ck;
}

static void save(tern_metric *metric)
{
    tern_checkpoint *ck = checkpoint_with(metric);
    assert_int_equal(tern_checkpoint_save(ck, 1), TERN_OK);
    tern_checkpoint_free(ck);
}

static int resume(tern_metric *metric)
{
    int64_t step = 0;
    tern_checkpoint *ck = checkpoint_with(metric);
    const int resumed = tern_checkpoint_resume(ck, &step);
    tern_checkpoint_free(ck);
    return resumed;
}

// Two updates, with a checkpoint between them that another metric resumes from.
static void check_goes_on(tern_metric *went_on, tern_metric *resumed)
{
    assert_int_equal(UPDATE(went_on, 3, INTS(0, 1, 2), INTS(0, 2, 2)), TERN_OK);
    save(went_on);
    assert_int_equal(UPDATE(resumed, 2, INTS(0, 1), INTS(1, 1)), TERN_OK); // is lost
    assert_int_equal(resume(resumed), 1);
    assert_int_equal(tern_metric_updates(resumed), 1);
    assert_int_equal(UPDATE(went_on, 2, INTS(2, 1), INTS(0, 1)), TERN_OK);
    assert_int_equal(UPDATE(resumed, 2, INTS(2, 1), INTS(0, 1)), TERN_OK);
    assert_near(tern_metric_value(resumed), tern_metric_value(went_on), 0, 0);
    tern_free(went_on, resumed);
}

static void a_resumed_metric_goes_on(void **state)
{
    (void)state;
    check_goes_on(tern_metric_f1(.num_classes = 3, .average = TERN_AVERAGE_MACRO),
                  tern_metric_f1(.num_classes = 3, .average = TERN_AVERAGE_MACRO));
}

static void rows_that_are_kept_go_on(void **state)
{
    (void)state;
    check_goes_on(tern_metric_auroc(.num_classes = 3), tern_metric_auroc(.num_classes = 3));
}

static void a_metric_without_rows_is_one_again(void **state)
{
    (void)state;
    tern_metric *empty = tern_metric_auroc(.num_classes = 3);
    tern_metric *filled = tern_metric_auroc(.num_classes = 3);
    save(empty);
    assert_int_equal(UPDATE(filled, 2, INTS(0, 1), INTS(1, 1)), TERN_OK);
    assert_int_equal(resume(filled), 1);
    assert_int_equal(tern_metric_updates(filled), 0);
    assert_null_with(tern_metric_compute(filled), TERN_ERR_STATE,
                     "metric_compute: auroc has not been updated since it was made or reset");
    assert_int_equal(UPDATE(filled, 3, INTS(0, 1, 2), INTS(0, 1, 2)), TERN_OK);
    assert_near(tern_metric_value(filled), 1, 0, 0);
    tern_free(empty, filled);
}

static void other_options_do_not_fit(void **state)
{
    (void)state;
    tern_metric *top1 = tern_metric_accuracy(.num_classes = 3);
    tern_metric *top2 = tern_metric_accuracy(.num_classes = 3, .top_k = 2);
    assert_int_equal(UPDATE(top1, 1, INTS(0), INTS(0)), TERN_OK);
    assert_int_equal(UPDATE(top2, 2, INTS(0, 1), INTS(0, 1)), TERN_OK);
    save(top1);
    assert_int_equal(resume(top2), -1);
    assert_error(TERN_ERR_ARG, "top_k=1");
    assert_near(tern_metric_value(top2), 1, 0, 0);
    assert_status(tern_metric_merge(top1, top2), TERN_ERR_ARG,
                  "metric_merge: the metric is accuracy(multiclass, num_classes=3, average=micro, "
                  "top_k=1), but other is accuracy(multiclass, num_classes=3, average=micro, "
                  "top_k=2)");
    tern_free(top1, top2);
}

static tern_status visit_metric(void *metric, tern_state_visitor *visitor)
{
    return tern_visit_metric(visitor, "auroc", metric);
}

static void damaged_rows_change_nothing(void **state)
{
    (void)state;
    tern_metric *auroc = tern_metric_auroc(.num_classes = 3);
    assert_int_equal(UPDATE(auroc, 3, INTS(0, 1, 2), INTS(0, 1, 2)), TERN_OK);
    tern_state *own = tern_state_of(visit_metric, auroc), *damaged = tern_state_copy(own);
    assert_non_null(tern_state_tensor(own, "auroc.scores"));
    assert_int_equal(tern_state_set_tensor(damaged, "auroc.target",
                                           tern_zeros(tern_dims(2), .dtype = TERN_INT64)),
                     TERN_OK);
    assert_status(tern_state_load(damaged, visit_metric, auroc), TERN_ERR_ARG, "auroc.");
    assert_int_equal(tern_state_set_tensor(damaged, "auroc.target", tern_zeros(tern_dims(3))),
                     TERN_OK);
    assert_status(tern_state_load(damaged, visit_metric, auroc), TERN_ERR_ARG, "auroc.target");
    assert_int_equal(tern_state_set_int(damaged, "auroc.updates", -1), TERN_OK);
    assert_status(tern_state_load(damaged, visit_metric, auroc), TERN_ERR_ARG,
                  "is -1, not 0 or more");
    assert_near(tern_metric_value(auroc), 1, 0, 0);
    tern_free(own, damaged, auroc);
}

static void a_metric_of_ones_own_is_saved(void **state)
{
    (void)state;
    largest *own = largest_new(), *other = largest_new();
    tern_metric_reset(&own->base);
    assert_int_equal(
        tern_metric_update(&own->base, tern_full(tern_dims(2), 3.0), tern_zeros(tern_dims(2))),
        TERN_OK);
    save(&own->base);
    assert_int_equal(resume(&other->base), 1);
    assert_int_equal(other->resets, 1);
    assert_near(tern_metric_value(&other->base), 3, 0, 0);
    tern_free(&own->base, &other->base);
}

static void a_checkpoint_holds_its_metric(void **state)
{
    (void)state;
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    tern_checkpoint *ck = checkpoint_with(accuracy);
    tern_metric_free(accuracy);
    assert_int_equal(UPDATE(accuracy, 1, INTS(0), INTS(0)), TERN_OK);
    assert_int_equal(tern_checkpoint_save(ck, 1), TERN_OK);
    tern_checkpoint_free(ck);
    tern_metric_free(accuracy);
    assert_error(TERN_ERR_STATE, "metric_free: this metric was freed already (accuracy)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_resumed_metric_goes_on),           FOLDER_TEST(rows_that_are_kept_go_on),
        FOLDER_TEST(a_metric_without_rows_is_one_again), FOLDER_TEST(other_options_do_not_fit),
        FOLDER_TEST(damaged_rows_change_nothing),        FOLDER_TEST(a_metric_of_ones_own_is_saved),
        FOLDER_TEST(a_checkpoint_holds_its_metric),
    };
    return cmocka_run_group_tests_name("metrics in states", tests, NULL, check_shutdown);
}
