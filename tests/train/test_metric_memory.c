// SPDX-License-Identifier: Apache-2.0
// Metrics and evaluations where there is no memory: each allocation fails once, and what a call was
// to change is as before.
#include "metric_test.h"
#include "support/memory_hook.h"
#include "support/state_check.h"
#include "support/tensor_check.h"

#define INTS(...) ((const int64_t[]){__VA_ARGS__})

// ---- every kind ---------------------------------------------------------------------------------

static tern_metric *accuracy(void)
{
    return tern_metric_accuracy(.num_classes = 3, .top_k = 2, .ignore_index = -1);
}

static tern_metric *f1(void)
{
    return tern_metric_f1(.num_classes = 3, .average = TERN_AVERAGE_MACRO);
}

static tern_metric *recall(void)
{
    return tern_metric_recall(.num_labels = 3, .average = TERN_AVERAGE_WEIGHTED);
}

static tern_metric *confusion_matrix(void)
{
    return tern_metric_confusion_matrix(.num_labels = 3, .normalize = TERN_CONFUSION_TRUE);
}

static tern_metric *auroc(void)
{
    return tern_metric_auroc(.num_classes = 3, .average = TERN_AVERAGE_WEIGHTED);
}

static tern_metric *squared_error(void)
{
    return tern_metric_mean_squared_error(.num_outputs = 3, .squared = false);
}

static tern_metric *r2_score(void)
{
    return tern_metric_r2_score(.num_outputs = 3, .adjusted = 1);
}

static tern_metric *perplexity(void)
{
    return tern_metric_perplexity(.ignore_index = 0);
}

static tern_metric *mean(void)
{
    return tern_metric_mean(.ignore_nan = true);
}

// What a metric takes: scores and classes, or truths and values, of one shape.
static const struct {
    tern_metric *(*make)(void);
    bool classes;
} kinds[] = {{accuracy, true},          {f1, true},         {recall, false},
             {confusion_matrix, false}, {auroc, true},      {squared_error, false},
             {r2_score, false},         {perplexity, true}, {mean, false}};
#define KINDS ((int)(sizeof kinds / sizeof *kinds))

static tern_status update(tern_metric *metric, bool classes)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *preds = scope ? scores_on(tern_cpu(0), 4, INTS(0, 1, 2, 0)) : NULL;
    tern_tensor *target = !preds    ? NULL
                          : classes ? labels_on(tern_cpu(0), 4, INTS(0, 1, 1, 2))
                                    : scores_on(tern_cpu(0), 4, INTS(0, 1, 1, 2));
    const tern_status status =
        target ? tern_metric_update(metric, preds, target) : tern_error_code();
    tern_scope_close(scope);
    return status;
}

static tern_status compute(tern_metric *metric, bool classes)
{
    (void)classes;
    tern_scope scope = tern_scope_open();
    const tern_tensor *value = scope ? tern_metric_compute(metric) : NULL;
    const tern_status status = value ? TERN_OK : tern_error_code();
    tern_scope_close(scope);
    return status;
}

static tern_status merge(tern_metric *metric, bool classes)
{
    static tern_metric *other;
    for (int i = 0; i < KINDS && !other; i++) {
        tern_metric *like = kinds[i].make();
        if (like && like->klass == metric->klass && !update(like, classes))
            other = like;
        else
            tern_metric_free(like);
        if (tern_error_pending())
            return tern_error_code();
    }
    const tern_status status = tern_metric_merge(metric, other);
    tern_metric_free(other);
    other = NULL;
    return status;
}

static tern_status move(tern_metric *metric, bool classes)
{
    (void)classes;
    return tern_metric_to(metric, tern_cpu(0)) ? TERN_OK : tern_error_code();
}

static tern_status visit(void *metric, tern_state_visitor *visitor)
{
    return tern_visit_metric(visitor, "metric", metric);
}

// ---- failing each allocation --------------------------------------------------------------------

typedef tern_status metric_call(tern_metric *metric, bool classes);

// Whether the call went through because there were no more allocations to fail.
static bool check_nth(int kind, metric_call *call, int64_t n)
{
    tern_metric *metric = kinds[kind].make();
    assert_int_equal(update(metric, kinds[kind].classes), TERN_OK);
    tern_state *own = tern_state_of(visit, metric), *before = tern_state_copy(own);
    fail_nth_allocation(n);
    const tern_status status = call(metric, kinds[kind].classes);
    const bool failed = memory.failed > 0;
    fail_nth_allocation(0);
    assert_int_equal(status, failed ? TERN_ERR_NOMEM : TERN_OK);
    tern_error_clear();
    tern_state_free(own);
    own = tern_state_of(visit, metric);
    if (failed)
        check_states(own, before, true);
    tern_free(own, before, metric);
    return !failed;
}

static void check_each(metric_call *call, int64_t least)
{
    for (int kind = 0; kind < KINDS; kind++) {
        int64_t n = 1;
        while (!check_nth(kind, call, n))
            n++;
        assert_true(n > least);
    }
}

static void an_update_changes_nothing(void **state)
{
    (void)state;
    check_each(update, 5);
}

static void a_value_is_there_or_not(void **state)
{
    (void)state;
    check_each(compute, 1);
}

static void a_merge_changes_nothing(void **state)
{
    (void)state;
    check_each(merge, 5);
}

static void a_move_changes_nothing(void **state)
{
    (void)state;
    check_each(move, 0);
}

static void a_constructor_leaves_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        bool failed = true;
        for (int64_t n = 1; failed; n++) {
            fail_nth_allocation(n);
            tern_metric *metric = kinds[kind].make();
            failed = memory.failed > 0;
            fail_nth_allocation(0);
            assert_int_equal(metric == NULL, failed);
            tern_error_clear();
            tern_metric_free(metric);
        }
    }
}

// ---- evaluations --------------------------------------------------------------------------------

static void an_evaluation_leaves_the_modes(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(3, 3), tern_nn_dropout(0.5));
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_dataset *data = tern_data_tensors(scores_on(tern_cpu(0), 4, INTS(0, 1, 2, 0)),
                                           labels_on(tern_cpu(0), 4, INTS(0, 1, 1, 2)));
    tern_loader *loader = tern_loader_new(data, .batch_size = 3);
    tern_metric *metric = f1();
    bool failed = true;
    int64_t n = 1;
    for (; failed; n++) {
        double loss = 0;
        fail_nth_allocation(n);
        const tern_status status = tern_evaluate(net, loader, .criterion = criterion, .loss = &loss,
                                                 .metrics = tern_metrics(metric));
        failed = memory.failed > 0;
        fail_nth_allocation(0);
        assert_int_equal(status, failed ? TERN_ERR_NOMEM : TERN_OK);
        assert_int_equal(isnan(loss) != 0, failed);
        assert_true(tern_module_is_training(net));
        assert_true(tern_module_is_training(tern_module_child_at(net, 1)));
        tern_error_clear();
    }
    assert_true(n > 20);
    tern_free(metric, loader, data, criterion, net);
}

int main(void)
{
    setenv("TERN_CACHE", "0", 1); // so that the allocator sees everything
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        CHECK_TEST(an_update_changes_nothing),    CHECK_TEST(a_value_is_there_or_not),
        CHECK_TEST(a_merge_changes_nothing),      CHECK_TEST(a_move_changes_nothing),
        CHECK_TEST(a_constructor_leaves_nothing), CHECK_TEST(an_evaluation_leaves_the_modes),
    };
    const int failed = cmocka_run_group_tests_name("metrics without memory", tests, NULL, NULL);
    return failed ? failed : all_given_back();
}
