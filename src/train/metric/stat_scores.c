// SPDX-License-Identifier: Apache-2.0
// Accuracy, precision, recall and F1: quotients of how many samples were predicted and are so.
#include <tern/autograd.h>
#include <tern/ops.h>
#include "ops/launch.h"
#include "train/metric/classification.h"

typedef enum stat_score { ACCURACY, PRECISION, RECALL, F1 } stat_score;

// Rows of the counts. What is neither of the first three is in the last alone.
enum { BOTH, PREDICTED, ACTUAL, ALL, ROWS };

typedef struct stat_scores {
    tern_metric base;
    tern_classification c;
    stat_score score;
    tern_tensor *counts; // (ROWS, C): int64; C is 1 where classes are counted together
} stat_scores;

// ---- counting -----------------------------------------------------------------------------------

// Of all classes together: both, and all of the samples three times.
static tern_tensor *count_together(const tern_class_samples *s)
{
    tern_tensor *right = tern_logical_and(tern_eq(s->preds, s->target), s->counts);
    tern_tensor *both = right ? tern_sum_all(right) : NULL, *all = tern_sum_all(s->counts);
    tern_tensor *const rows[ROWS] = {both, all, all, all};
    return both && all ? tern_reshape(tern_stack(rows, ROWS, 0), tern_dims(ROWS, 1)) : NULL;
}

// Of each class, by one pass over bins for the rows.
static tern_tensor *count_classes(const tern_class_samples *s, int64_t classes)
{
    tern_tensor *counts = tern_to_dtype(s->counts, TERN_INT64);
    tern_tensor *right = tern_eq(s->preds, s->target);
    tern_tensor *both = right ? tern_mul(counts, tern_to_dtype(right, TERN_INT64)) : NULL;
    tern_tensor *const bins[] = {s->target, tern_add_scalar(s->preds, PREDICTED * classes),
                                 tern_add_scalar(s->target, ACTUAL * classes)};
    tern_tensor *const amounts[] = {both, counts, counts};
    if (!both || !bins[1] || !bins[2])
        return NULL;
    tern_tensor *all_bins = tern_cat(bins, ALL, 0), *all_amounts = tern_cat(amounts, ALL, 0);
    if (!all_bins || !all_amounts)
        return NULL;
    return tern_reshape(tern_classification_bincount(all_bins, all_amounts, ROWS * classes),
                        tern_dims(ROWS, classes));
}

// Of each label.
static tern_tensor *count_labels(const tern_truth_samples *s)
{
    tern_tensor *predicted = tern_logical_and(s->preds, s->counts);
    tern_tensor *actual = tern_logical_and(s->target, s->counts);
    tern_tensor *both = tern_logical_and(predicted, actual);
    tern_tensor *const masks[ROWS] = {both, predicted, actual, s->counts};
    tern_tensor *rows[ROWS];
    for (int i = 0; i < ROWS; i++) {
        rows[i] = masks[i] ? tern_sum(masks[i], tern_axes(0, 2), false) : NULL;
        if (!rows[i])
            return NULL;
    }
    return tern_stack(rows, ROWS, 0);
}

static tern_tensor *count(const stat_scores *self, tern_tensor *preds, tern_tensor *target)
{
    tern_class_samples classes;
    tern_truth_samples truths;
    if (self->c.task != TERN_TASK_MULTICLASS)
        return tern_classification_truths(&self->c, preds, target, &truths) ? NULL
                                                                            : count_labels(&truths);
    if (tern_classification_classes(&self->c, preds, target, &classes))
        return NULL;
    return self->c.average == TERN_AVERAGE_MICRO ? count_together(&classes)
                                                 : count_classes(&classes, self->c.classes);
}

static tern_status update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    stat_scores *self = (stat_scores *)metric;
    tern_tensor *counts = count(self, preds, target);
    return counts && tern_add_(self->counts, counts) ? TERN_OK : tern_error_code();
}

// ---- quotients ----------------------------------------------------------------------------------

// Rows of the counts, of each class or label: float64 (C).
typedef struct count_rows {
    tern_tensor *at[ROWS];
} count_rows;

static tern_tensor *score(const stat_scores *self, const count_rows *rows)
{
    tern_tensor *both = rows->at[BOTH], *predicted = rows->at[PREDICTED];
    tern_tensor *actual = rows->at[ACTUAL], *all = rows->at[ALL];
    switch (self->score) {
    case ACCURACY: // of truths: all but those of one kind
        if (self->c.task == TERN_TASK_MULTICLASS)
            return tern_metric_divide(both, actual);
        return tern_metric_divide(
            tern_add(tern_sub(all, tern_add(predicted, actual)), tern_mul_scalar(both, 2)), all);
    case PRECISION:
        return tern_metric_divide(both, predicted);
    case RECALL:
        return tern_metric_divide(both, actual);
    case F1:
        return tern_metric_divide(tern_mul_scalar(both, 2), tern_add(predicted, actual));
    }
    return NULL;
}

// Classes that are nowhere do not count, labels do; with top_k those that are no target do not, but
// for F1, as in torchmetrics.
static tern_tensor *weights(const stat_scores *self, const count_rows *rows)
{
    const tern_classification *c = &self->c;
    if (c->average == TERN_AVERAGE_WEIGHTED)
        return rows->at[ACTUAL];
    if (c->task != TERN_TASK_MULTICLASS)
        return tern_ones_like(rows->at[ALL]);
    tern_tensor *somewhere = c->top_k > 1 && self->score != F1
                                 ? rows->at[ACTUAL]
                                 : tern_add(rows->at[PREDICTED], rows->at[ACTUAL]);
    return tern_to_dtype(tern_gt_scalar(somewhere, 0), TERN_FLOAT64);
}

static tern_tensor *mean(tern_tensor *scores, tern_tensor *weight)
{
    if (!scores || !weight)
        return NULL;
    return tern_sum_all(tern_metric_divide(tern_mul(scores, weight), tern_sum_all(weight)));
}

static tern_tensor *compute(tern_metric *metric)
{
    const stat_scores *self = (const stat_scores *)metric;
    const tern_average average = self->c.average;
    const bool together = self->c.task == TERN_TASK_BINARY || average == TERN_AVERAGE_MICRO;
    tern_tensor *counts = together ? tern_sum(self->counts, tern_axes(1), false) : self->counts;
    count_rows rows;
    for (int i = 0; i < ROWS; i++) {
        rows.at[i] = tern_to_dtype(tern_select(counts, 0, i), TERN_FLOAT64);
        if (!rows.at[i])
            return NULL;
    }
    tern_tensor *scores = score(self, &rows);
    return together || average == TERN_AVERAGE_NONE ? scores : mean(scores, weights(self, &rows));
}

// ---- making one ---------------------------------------------------------------------------------

static void describe(const tern_metric *metric, char *buffer, size_t size)
{
    tern_classification_describe(&((const stat_scores *)metric)->c, buffer, size);
}

#define CLASS(label)                                                                               \
    {                                                                                              \
        .name = (label), .size = sizeof(stat_scores), .update = update, .compute = compute,        \
        .describe = describe                                                                       \
    }
static const tern_metric_class classes[] = {[ACCURACY] = CLASS("accuracy"),
                                            [PRECISION] = CLASS("precision"),
                                            [RECALL] = CLASS("recall"),
                                            [F1] = CLASS("f1")};

static tern_metric *make(const char *function, stat_score score,
                         const tern_metric_classification_options *o)
{
    tern_classification c;
    char name[TERN_METRIC_NAME_SIZE];
    if (tern_classification_make(function, classes[score].name, o, TERN_AVERAGE_MICRO, &c))
        return NULL;
    snprintf(name, sizeof name, "top%lld_%s", (long long)c.top_k, c.name);
    stat_scores *self = (stat_scores *)tern_metric_new(&classes[score], o->name       ? o->name
                                                                        : c.top_k > 1 ? name
                                                                                      : NULL);
    if (!self)
        return NULL;
    self->c = c;
    self->score = score;
    const bool together = c.task == TERN_TASK_MULTICLASS && c.average == TERN_AVERAGE_MICRO;
    if (!tern_metric_add_state(&self->base, "counts", &self->counts,
                               tern_dims(ROWS, together ? 1 : c.classes), TERN_INT64))
        return &self->base;
    tern_metric_free(&self->base);
    return NULL;
}

tern_metric *tern_metric_accuracy_with(const tern_metric_classification_options *options)
{
    return make("metric_accuracy", ACCURACY, options);
}

tern_metric *tern_metric_precision_with(const tern_metric_classification_options *options)
{
    return make("metric_precision", PRECISION, options);
}

tern_metric *tern_metric_recall_with(const tern_metric_classification_options *options)
{
    return make("metric_recall", RECALL, options);
}

tern_metric *tern_metric_f1_with(const tern_metric_classification_options *options)
{
    return make("metric_f1", F1, options);
}
