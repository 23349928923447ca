// SPDX-License-Identifier: Apache-2.0
// Metrics are torchmetrics', over several batches, of one, and merged from replicas.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden_test.h"

#define MAX_VALUES 64

static tern_device device;

// ---- the metric of a case -----------------------------------------------------------------------

static bool word_is(const golden_case *c, const char *word, const char *value)
{
    const char *text = golden_text(c, word);
    return text && strcmp(text, value) == 0;
}

// The place of a word's value among names, from 1 on; 0 where the case has no such word.
static int choice(const golden_case *c, const char *word, const char *const *names)
{
    for (int i = 0; golden_text(c, word) && names[i]; i++)
        if (word_is(c, word, names[i]))
            return i + 1;
    assert_null(golden_text(c, word));
    return 0;
}

static tern_metric_task task_of(const golden_case *c)
{
    return (tern_metric_task)choice(
        c, "task", (const char *const[]){"binary", "multiclass", "multilabel", NULL});
}

static tern_average average_of(const golden_case *c)
{
    return (tern_average)choice(c, "average",
                                (const char *const[]){"micro", "macro", "weighted", "none", NULL});
}

static int64_t integer(const golden_case *c, const char *word, int64_t otherwise)
{
    return golden_text(c, word) ? (int64_t)golden_number(c, word, 0) : otherwise;
}

static int64_t ignored(const golden_case *c)
{
    return integer(c, "ignore_index", TERN_IGNORE_INDEX_UNSPECIFIED);
}

typedef tern_metric *classification_fn(const tern_metric_classification_options *options);

static tern_metric *make_classification(const golden_case *c, classification_fn *make)
{
    tern_metric_classification_options o = tern_metric_classification_defaults();
    o.task = task_of(c);
    o.num_classes = integer(c, "num_classes", 0);
    o.num_labels = integer(c, "num_labels", 0);
    o.top_k = integer(c, "top_k", 1);
    o.threshold = golden_text(c, "threshold") ? golden_number(c, "threshold", 0) : o.threshold;
    o.average = average_of(c);
    o.ignore_index = ignored(c);
    return make(&o);
}

static tern_metric *make_confusion_matrix(const golden_case *c)
{
    return tern_metric_confusion_matrix(.task = task_of(c),
                                        .num_classes = integer(c, "num_classes", 0),
                                        .num_labels = integer(c, "num_labels", 0),
                                        .ignore_index = ignored(c),
                                        .normalize = (tern_confusion_normalize)choice(
                                            c, "normalize",
                                            (const char *const[]){"true", "pred", "all", NULL}));
}

static tern_metric *make_auroc(const golden_case *c)
{
    return tern_metric_auroc(.task = task_of(c), .num_classes = integer(c, "num_classes", 0),
                             .num_labels = integer(c, "num_labels", 0), .average = average_of(c),
                             .ignore_index = ignored(c));
}

static tern_metric *make_accuracy(const golden_case *c)
{
    return make_classification(c, tern_metric_accuracy_with);
}

static tern_metric *make_precision(const golden_case *c)
{
    return make_classification(c, tern_metric_precision_with);
}

static tern_metric *make_recall(const golden_case *c)
{
    return make_classification(c, tern_metric_recall_with);
}

static tern_metric *make_f1(const golden_case *c)
{
    return make_classification(c, tern_metric_f1_with);
}

static tern_metric *make_absolute(const golden_case *c)
{
    return tern_metric_mean_absolute_error(.num_outputs = integer(c, "num_outputs", 1));
}

static tern_metric *make_squared(const golden_case *c)
{
    return tern_metric_mean_squared_error(.num_outputs = integer(c, "num_outputs", 1),
                                          .squared = integer(c, "squared", 1) != 0);
}

static tern_metric *make_r2_score(const golden_case *c)
{
    return tern_metric_r2_score(.num_outputs = integer(c, "num_outputs", 1),
                                .adjusted = integer(c, "adjusted", 0),
                                .multioutput = (tern_multioutput)choice(
                                    c, "multioutput",
                                    (const char *const[]){"uniform_average", "raw_values",
                                                          "variance_weighted", NULL}));
}

static tern_metric *make_perplexity(const golden_case *c)
{
    return tern_metric_perplexity(.ignore_index = ignored(c));
}

static tern_metric *make_mean(const golden_case *c)
{
    return tern_metric_mean(.ignore_nan = integer(c, "ignore_nan", 0) != 0);
}

static const struct {
    const char *kind;
    tern_metric *(*make)(const golden_case *c);
} kinds[] = {
    {"accuracy", make_accuracy},
    {"precision", make_precision},
    {"recall", make_recall},
    {"f1", make_f1},
    {"confusion_matrix", make_confusion_matrix},
    {"auroc", make_auroc},
    {"mean_absolute_error", make_absolute},
    {"mean_squared_error", make_squared},
    {"r2_score", make_r2_score},
    {"perplexity", make_perplexity},
    {"mean", make_mean},
};

static tern_metric *metric_of(const golden_case *c)
{
    for (int i = 0; i < COUNT(kinds); i++)
        if (word_is(c, "kind", kinds[i].kind))
            return kinds[i].make(c);
    fail_msg("%s: there is no such kind", c->name);
    return NULL;
}

// ---- batches ------------------------------------------------------------------------------------

static tern_tensor *tensor_of(const golden_case *c, const char *name, int batch)
{
    char full[32];
    snprintf(full, sizeof full, "%s%d", name, batch);
    const golden_array *a = golden_find_array(c, full);
    return a ? tern_from_data(a->shape, a->data, .dtype = a->dtype, .device = device) : NULL;
}

static void update(tern_metric *metric, const golden_case *c, int batch)
{
    tern_scope scope = tern_scope_open();
    if (tern_metric_update(metric, tensor_of(c, "preds", batch), tensor_of(c, "target", batch)))
        fail_msg("%s: %s", c->name, tern_error_message());
    tern_scope_close(scope);
}

static void assert_is(const golden_case *c, const char *name, tern_tensor *computed)
{
    const golden_array *a = golden_find_array(c, name);
    double values[MAX_VALUES], expected[MAX_VALUES];
    assert_fine();
    if (!a || a->numel > MAX_VALUES || !tern_shape_equal(a->shape, tern_shape_of(computed)))
        fail_msg("%s: %s is of another shape", c->name, name);
    const size_t nbytes = (size_t)a->numel * sizeof(double);
    tern_tensor *stored = tern_from_data(a->shape, a->data, .dtype = a->dtype);
    assert_int_equal(tern_to_host(tern_to_dtype(stored, TERN_FLOAT64), expected, nbytes), TERN_OK);
    assert_int_equal(tern_to_host(tern_to_dtype(computed, TERN_FLOAT64), values, nbytes), TERN_OK);
    const double tolerance = a->dtype == TERN_INT64 ? 0 : 2e-6; // torchmetrics adds in float32
    for (int64_t i = 0; i < a->numel; i++)
        assert_near(name, i, values[i], expected[i], tolerance, tolerance);
}

static void assert_computed(const golden_case *c, tern_metric *metric)
{
    assert_is(c, "expected", tern_metric_compute(metric));
    if (golden_find_array(c, "standard_error"))
        assert_is(c, "standard_error", tern_metric_standard_error(metric));
}

// Of all batches in their order, again after a reset, and merged of two that had some each.
static void values_are_torchmetrics(void **state)
{
    const golden_case *c = *state;
    const int batches = (int)golden_number(c, "batches", 0);
    tern_scope scope = tern_scope_open();
    tern_metric *whole = metric_of(c), *first = metric_of(c), *rest = metric_of(c);
    assert_fine();
    for (int round = 0; round < 2; round++) {
        tern_metric_reset(whole);
        for (int i = 0; i < batches; i++)
            update(whole, c, i);
        assert_computed(c, whole);
    }
    for (int i = 0; i < batches; i++)
        update(i == 0 ? rest : first, c, i);
    assert_int_equal(tern_metric_merge(first, rest), TERN_OK);
    assert_int_equal(tern_metric_updates(first), batches);
    assert_computed(c, first);
    tern_free(whole, first, rest);
    tern_scope_close(scope);
}

int main(int argc, char **argv)
{
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu", &device))
        return tern_error_print(stderr);
    return golden_run("metrics", values_are_torchmetrics);
}
