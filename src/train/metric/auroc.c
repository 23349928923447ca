// SPDX-License-Identifier: Apache-2.0
// The area under the ROC curve, of all samples in order.
#include <tern/ops.h>
#include "device/capture.h"
#include "ops/launch.h"
#include "train/metric/classification.h"

typedef struct auroc {
    tern_metric base;
    tern_classification c;
    tern_tensor *scores; // float32 (M), or (M, C)
    tern_tensor *target; // int64 (M), of several labels (M, L); -1: does not count
} auroc;

// ---- keeping ------------------------------------------------------------------------------------

// (N, C, ..) as (M, C); without a second dimension (N, ..) as (M).
static tern_tensor *rows(tern_tensor *t, int64_t columns)
{
    if (!t || !columns)
        return t ? tern_reshape(t, tern_dims(-1)) : NULL;
    const int64_t n = tern_size(t, 0);
    tern_tensor *whole = tern_reshape(t, tern_dims(n, columns, n ? t->numel / n / columns : 0));
    return whole ? tern_reshape(tern_transpose(whole, 1, 2), tern_dims(-1, columns)) : NULL;
}

static tern_status update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    auroc *self = (auroc *)metric;
    const tern_classification *c = &self->c;
    const bool multiclass = c->task == TERN_TASK_MULTICLASS;
    const int64_t columns = c->task == TERN_TASK_BINARY ? 0 : c->classes;
    tern_tensor *classes, *counts;
    TERN_TRY(tern_capture_refuse("metric_update", "auroc keeps what it is given"));
    TERN_TRY(tern_classification_check_scores(c, preds, target));
    TERN_TRY(tern_classification_target(c, target, &classes, &counts));
    tern_tensor *scores = tern_classification_probabilities(
        preds, multiclass ? 1 : -1, c->task == TERN_TASK_MULTILABEL ? NULL : counts);
    classes = tern_masked_fill(classes, tern_logical_not(counts), -1);
    tern_tensor *const kept[] = {scores ? rows(tern_to_dtype(scores, TERN_FLOAT32), columns) : NULL,
                                 classes ? rows(classes, multiclass ? 0 : columns) : NULL};
    return kept[0] && kept[1] ? tern_metric_keep(metric, kept) : tern_error_code();
}

// ---- areas --------------------------------------------------------------------------------------

// How many of each run of equal scores: `runs` are their numbers, (M).
static tern_tensor *count_in_runs(tern_tensor *runs, tern_tensor *mask)
{
    tern_tensor *amounts = mask ? tern_to_dtype(mask, TERN_INT64) : NULL;
    return amounts ? tern_classification_bincount(runs, amounts, runs->numel) : NULL;
}

// Numbers of runs of equal scores among those that are in order: int64 (M).
static tern_tensor *number_runs(tern_tensor *sorted)
{
    const int64_t count = sorted->numel;
    tern_tensor *changes =
        tern_ne(tern_narrow(sorted, 0, 1, count - 1), tern_narrow(sorted, 0, 0, count - 1));
    tern_tensor *const parts[] = {
        tern_zeros(tern_dims(1), .dtype = TERN_BOOL, .device = tern_dev(sorted)), changes};
    if (!parts[0] || !parts[1])
        return NULL;
    tern_tensor *all = tern_cat(parts, 2, 0);
    return all ? tern_cumsum(tern_to_dtype(all, TERN_INT64), 0) : NULL;
}

// Twice the pairs of a sample that is so and one that is not, with the larger score before, equal
// ones counting half: of each run, what is not so times what is so in it and, twice, before it.
static tern_tensor *twice_pairs(tern_tensor *positives, tern_tensor *negatives)
{
    tern_tensor *until = tern_cumsum(positives, 0);
    tern_tensor *pairs =
        until ? tern_mul(negatives, tern_sub(tern_mul_scalar(until, 2), positives)) : NULL;
    return pairs ? tern_sum_all(pairs) : NULL;
}

// scores float32 (M), positive and negative bool (M): float64 ().
static tern_tensor *area(tern_tensor *scores, tern_tensor *positive, tern_tensor *negative)
{
    tern_tensor *order, *sorted = tern_sort(scores, 0, true, &order);
    tern_tensor *runs = sorted ? number_runs(sorted) : NULL;
    if (!runs || !positive || !negative)
        return NULL;
    tern_tensor *positives = count_in_runs(runs, tern_index_select(positive, 0, order));
    tern_tensor *negatives = count_in_runs(runs, tern_index_select(negative, 0, order));
    if (!positives || !negatives)
        return NULL;
    tern_tensor *pairs = tern_mul(tern_sum_all(positives), tern_sum_all(negatives));
    return pairs ? tern_metric_divide(twice_pairs(positives, negatives), tern_mul_scalar(pairs, 2))
                 : NULL;
}

// What is scored of a class or label, or of all labels together, which is -1.
typedef struct column {
    tern_tensor *scores, *positive, *negative; // (M)
} column;

static tern_status find_column(const auroc *self, int64_t i, column *out)
{
    tern_tensor *scores = tern_metric_kept(&self->base, &self->scores);
    tern_tensor *target = tern_metric_kept(&self->base, &self->target);
    const bool multiclass = self->c.task == TERN_TASK_MULTICLASS;
    if (!scores || !target)
        return tern_error_code();
    if (i >= 0 && scores->rank == 2)
        scores = tern_select(scores, 1, i);
    if (i >= 0 && target->rank == 2)
        target = tern_select(target, 1, i);
    out->scores = tern_reshape(scores, tern_dims(-1));
    target = tern_reshape(target, tern_dims(-1));
    if (!out->scores || !target)
        return tern_error_code();
    out->positive = tern_eq_scalar(target, multiclass ? i : 1);
    tern_tensor *counted = tern_ge_scalar(target, 0);
    out->negative = counted ? tern_logical_and(counted, tern_logical_not(out->positive)) : NULL;
    return out->positive && out->negative ? TERN_OK : tern_error_code();
}

// Into element `to` of areas and supports, in a scope of its own: there may be many classes.
static tern_status write_area(const auroc *self, int64_t i, int64_t to, tern_tensor *areas,
                              tern_tensor *supports)
{
    column of = {NULL};
    tern_status status = TERN_ERR_NOMEM;
    tern_scope scope = tern_scope_open();
    if (scope && !(status = find_column(self, i, &of))) {
        tern_tensor *found = area(of.scores, of.positive, of.negative);
        if (!found || !tern_copy_(tern_select(areas, 0, to), found) ||
            !tern_copy_(tern_select(supports, 0, to), tern_sum_all(of.positive)))
            status = tern_error_code();
    }
    tern_scope_close(scope);
    return status;
}

static tern_tensor *average_of(const auroc *self, tern_tensor *areas, tern_tensor *supports)
{
    if (areas->numel == 1)
        return tern_select(areas, 0, 0);
    if (self->c.average == TERN_AVERAGE_NONE)
        return areas;
    if (self->c.average != TERN_AVERAGE_WEIGHTED)
        return tern_mean_all(areas);
    tern_tensor *weights = tern_metric_divide(supports, tern_sum_all(supports));
    return weights ? tern_sum_all(tern_mul(areas, weights)) : NULL;
}

static tern_tensor *compute(tern_metric *metric)
{
    const auroc *self = (const auroc *)metric;
    const bool together = self->c.average == TERN_AVERAGE_MICRO;
    const int64_t count = together ? 1 : self->c.classes;
    const tern_device device = metric->private_->device;
    tern_tensor *areas = tern_zeros(tern_dims(count), .dtype = TERN_FLOAT64, .device = device);
    tern_tensor *supports = tern_zeros(tern_dims(count), .dtype = TERN_INT64, .device = device);
    if (!areas || !supports)
        return NULL;
    for (int64_t i = 0; self->scores && i < count; i++)
        if (write_area(self, together ? -1 : i, i, areas, supports))
            return NULL;
    return average_of(self, areas, supports);
}

// ---- making one ---------------------------------------------------------------------------------

static void describe(const tern_metric *metric, char *buffer, size_t size)
{
    tern_classification_describe(&((const auroc *)metric)->c, buffer, size);
}

static const tern_metric_class auroc_class = {.name = "auroc",
                                              .size = sizeof(auroc),
                                              .update = update,
                                              .compute = compute,
                                              .describe = describe};

static tern_status add_states(auroc *self)
{
    const tern_classification *c = &self->c;
    const tern_shape columns = tern_dims(c->classes), none = tern_dims();
    TERN_TRY(tern_metric_add_kept(&self->base, "scores", &self->scores,
                                  c->task == TERN_TASK_BINARY ? none : columns, TERN_FLOAT32));
    return tern_metric_add_kept(&self->base, "target", &self->target,
                                c->task == TERN_TASK_MULTILABEL ? columns : none, TERN_INT64);
}

tern_metric *tern_metric_auroc_with(const tern_metric_auroc_options *o)
{
    static const char function[] = "metric_auroc";
    tern_classification c;
    if (!o)
        return (void)tern_null_error(function, "options"), NULL;
    tern_metric_classification_options task = {TERN_METRIC_CLASSIFICATION_DEFAULTS_};
    task.task = o->task;
    task.num_classes = o->num_classes;
    task.num_labels = o->num_labels;
    task.average = o->average;
    task.ignore_index = o->ignore_index;
    if (tern_classification_make(function, auroc_class.name, &task, TERN_AVERAGE_MACRO, &c))
        return NULL;
    TERN_CHECK_PTR(c.average != TERN_AVERAGE_MICRO || c.task != TERN_TASK_MULTICLASS, TERN_ERR_ARG,
                   "%s: there is no micro average over classes; macro, weighted and none are",
                   function);
    auroc *self = (auroc *)tern_metric_new(&auroc_class, o->name);
    if (!self)
        return NULL;
    self->c = c;
    if (!add_states(self))
        return &self->base;
    tern_metric_free(&self->base);
    return NULL;
}
