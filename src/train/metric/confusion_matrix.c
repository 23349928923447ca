// SPDX-License-Identifier: Apache-2.0
// The confusion matrix.
#include <string.h>
#include <tern/ops.h>
#include "base/text.h"
#include "ops/launch.h"
#include "train/metric/classification.h"

typedef struct confusion_matrix {
    tern_metric base;
    tern_classification c;
    tern_confusion_normalize normalize;
    tern_tensor *counts; // int64 (C, C), or (2, 2), or (L, 2, 2)
} confusion_matrix;

// ---- counting -----------------------------------------------------------------------------------

// high * base + low
static tern_tensor *digits(tern_tensor *high, int64_t base, tern_tensor *low)
{
    tern_tensor *raised = high ? tern_mul_scalar(high, base) : NULL;
    return raised && low ? tern_add(raised, low) : NULL;
}

static tern_tensor *count_classes(const confusion_matrix *self, tern_tensor *preds,
                                  tern_tensor *target)
{
    const int64_t classes = self->c.classes;
    tern_class_samples s;
    if (tern_classification_classes(&self->c, preds, target, &s))
        return NULL;
    tern_tensor *bins = digits(s.target, classes, s.preds);
    tern_tensor *amounts = tern_to_dtype(s.counts, TERN_INT64);
    return bins && amounts ? tern_classification_bincount(bins, amounts, classes * classes) : NULL;
}

static tern_tensor *as_number(tern_tensor *truth)
{
    return tern_to_dtype(truth, TERN_INT64);
}

static tern_tensor *count_truths(const confusion_matrix *self, tern_tensor *preds,
                                 tern_tensor *target)
{
    const int64_t labels = self->c.classes;
    tern_truth_samples s;
    if (tern_classification_truths(&self->c, preds, target, &s))
        return NULL;
    tern_tensor *label =
        tern_reshape(tern_arange(0, labels, 1, .dtype = TERN_INT64, .device = tern_dev(preds)),
                     tern_dims(1, labels, 1));
    tern_tensor *bins = digits(digits(label, 2, as_number(s.target)), 2, as_number(s.preds));
    tern_tensor *amounts = as_number(s.counts);
    if (!bins || !amounts)
        return NULL;
    return tern_classification_bincount(tern_reshape(bins, tern_dims(-1)),
                                        tern_reshape(amounts, tern_dims(-1)), 4 * labels);
}

static tern_status update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    confusion_matrix *self = (confusion_matrix *)metric;
    tern_tensor *counts =
        (self->c.task == TERN_TASK_MULTICLASS ? count_classes : count_truths)(self, preds, target);
    if (!counts || !tern_add_(self->counts, tern_reshape(counts, tern_shape_of(self->counts))))
        return tern_error_code();
    return TERN_OK;
}

// ---- quotients ----------------------------------------------------------------------------------

static tern_tensor *compute(tern_metric *metric)
{
    const confusion_matrix *self = (const confusion_matrix *)metric;
    tern_axis_list axes = tern_axes(-2, -1);
    switch (self->normalize) {
    case TERN_CONFUSION_UNSPECIFIED:
        return tern_clone(self->counts);
    case TERN_CONFUSION_TRUE:
        axes = tern_axes(-1);
        break;
    case TERN_CONFUSION_PRED:
        axes = tern_axes(-2);
        break;
    case TERN_CONFUSION_ALL:
        break;
    }
    return tern_metric_divide(self->counts, tern_sum(self->counts, axes, true));
}

// ---- making one ---------------------------------------------------------------------------------

static void describe(const tern_metric *metric, char *buffer, size_t size)
{
    const confusion_matrix *self = (const confusion_matrix *)metric;
    static const char *const normalized[] = {[TERN_CONFUSION_UNSPECIFIED] = "none",
                                             [TERN_CONFUSION_TRUE] = "true",
                                             [TERN_CONFUSION_PRED] = "pred",
                                             [TERN_CONFUSION_ALL] = "all"};
    tern_classification_describe(&self->c, buffer, size);
    const size_t length = strlen(buffer);
    tern_writer out = {.buffer = buffer + length, .size = size - length};
    tern_write(&out, ", normalize=%s", normalized[self->normalize]);
}

static const tern_metric_class confusion_matrix_class = {.name = "confusion_matrix",
                                                         .size = sizeof(confusion_matrix),
                                                         .update = update,
                                                         .compute = compute,
                                                         .describe = describe};

static tern_shape shape_of(const tern_classification *c)
{
    if (c->task == TERN_TASK_MULTICLASS)
        return tern_dims(c->classes, c->classes);
    return c->task == TERN_TASK_BINARY ? tern_dims(2, 2) : tern_dims(c->classes, 2, 2);
}

tern_metric *tern_metric_confusion_matrix_with(const tern_metric_confusion_matrix_options *o)
{
    static const char function[] = "metric_confusion_matrix";
    tern_classification c;
    if (!o)
        return (void)tern_null_error(function, "options"), NULL;
    tern_metric_classification_options task = {TERN_METRIC_CLASSIFICATION_DEFAULTS_};
    task.task = o->task;
    task.num_classes = o->num_classes;
    task.num_labels = o->num_labels;
    task.threshold = o->threshold;
    task.ignore_index = o->ignore_index;
    if (tern_classification_make(function, confusion_matrix_class.name, &task, TERN_AVERAGE_NONE,
                                 &c))
        return NULL;
    TERN_CHECK_PTR(o->normalize >= TERN_CONFUSION_UNSPECIFIED && o->normalize <= TERN_CONFUSION_ALL,
                   TERN_ERR_ARG, "%s: there is no normalize %d", function, (int)o->normalize);
    confusion_matrix *self = (confusion_matrix *)tern_metric_new(&confusion_matrix_class, o->name);
    if (!self)
        return NULL;
    self->c = c;
    self->normalize = o->normalize;
    if (!tern_metric_add_state(&self->base, "counts", &self->counts, shape_of(&c), TERN_INT64))
        return &self->base;
    tern_metric_free(&self->base);
    return NULL;
}
