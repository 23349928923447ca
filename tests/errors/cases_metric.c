// SPDX-License-Identifier: Apache-2.0
// metric.h
#include "errors.h"

static tern_metric *accuracy_new(void)
{
    return tern_metric_accuracy(.num_classes = 3);
}

// The status of an update of a metric that is made for it.
static tern_status update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    const tern_status status = tern_metric_update(metric, preds, target);
    tern_metric_free(metric);
    return status;
}

// A freed one is found while its memory is kept.
static tern_metric *freed(void)
{
    tern_metric *metric = accuracy_new();
    tern_metric_free(metric);
    return metric;
}

#define NO_METRIC(function, op, ...)                                                               \
    REFUSES(function, "a metric that is NULL", TERN_ERR_NULL, op ": metric is NULL", __VA_ARGS__)

// ---- counting references ------------------------------------------------------------------------

TAKES(tern_metric_retain, "NULL", !tern_metric_retain(NULL))
REFUSES(tern_metric_retain, "one that was freed", TERN_ERR_STATE,
        "metric_retain: this metric was freed already (accuracy)", tern_metric_retain(freed()))
CANNOT_FAIL(tern_metric_free, "NULL is fine", (tern_metric_free(NULL), 1))
TAKES(tern_metric_free, "NULL", (tern_metric_free(NULL), 1))

// ---- updating and reading -----------------------------------------------------------------------

NO_METRIC(tern_metric_update, "metric_update", tern_metric_update(NULL, f->x, f->labels))
REFUSES(tern_metric_update, "preds that are NULL", TERN_ERR_NULL, "metric_update: preds is NULL",
        update(accuracy_new(), NULL, f->labels))
REFUSES(tern_metric_update, "a target that is NULL", TERN_ERR_NULL, "metric_update: target is NULL",
        update(accuracy_new(), f->x, NULL))
REFUSES(tern_metric_update, "preds that died", TERN_ERR_STATE, "metric_update: preds|died",
        update(accuracy_new(), f->dead, f->labels))
REFUSES(tern_metric_update, "a target that died", TERN_ERR_STATE, "metric_update: target|died",
        update(accuracy_new(), f->x, f->dead))
REFUSES(tern_metric_update, "two devices", TERN_ERR_DEVICE,
        "metric_update: accuracy: preds are on cpu:1 and target is on cpu:0",
        update(accuracy_new(), f->far, f->labels))
NO_METRIC(tern_metric_compute, "metric_compute", tern_metric_compute(NULL))
NO_METRIC(tern_metric_value, "metric_value", isnan(tern_metric_value(NULL)))
NO_METRIC(tern_metric_reset, "metric_reset", (tern_metric_reset(NULL), 1))
NO_METRIC(tern_metric_name, "metric_name", tern_metric_name(NULL)[0] == 0)
NO_METRIC(tern_metric_updates, "metric_updates", tern_metric_updates(NULL) == -1)
NO_METRIC(tern_metric_to, "metric_to", tern_metric_to(NULL, tern_cpu(0)))

static double value_of(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    double value = NAN;
    if (!preds || !tern_metric_update(metric, preds, target))
        value = tern_metric_value(metric);
    tern_metric_free(metric);
    return value;
}

REFUSES(tern_metric_value, "a metric without updates", TERN_ERR_STATE,
        "metric_value: accuracy has not been updated since it was made or reset",
        isnan(value_of(accuracy_new(), NULL, NULL)))
REFUSES(tern_metric_value, "a metric of several numbers", TERN_ERR_SHAPE,
        "metric_value: confusion_matrix is int64 (3, 3)|not one number; see tern_metric_compute",
        isnan(value_of(tern_metric_confusion_matrix(.num_classes = 3), f->x, f->labels)))

// ---- merging and saving -------------------------------------------------------------------------

static tern_status merge(tern_metric *metric, tern_metric *other)
{
    const tern_status status = tern_metric_merge(metric, other);
    tern_metric_free(metric);
    if (other != metric)
        tern_metric_free(other);
    return status;
}

static tern_status merge_itself(void)
{
    tern_metric *metric = accuracy_new();
    return merge(metric, metric);
}

NO_METRIC(tern_metric_merge, "metric_merge", tern_metric_merge(NULL, NULL))
REFUSES(tern_metric_merge, "another one that is NULL", TERN_ERR_NULL, "metric_merge: other is NULL",
        merge(accuracy_new(), NULL))
REFUSES(tern_metric_merge, "the metric itself", TERN_ERR_ARG,
        "metric_merge: other is the metric itself (accuracy)", merge_itself())
REFUSES(tern_metric_merge, "another kind", TERN_ERR_ARG,
        "metric_merge: the metric is accuracy(multiclass, num_classes=3|but other is "
        "recall(multiclass, num_classes=3",
        merge(accuracy_new(), tern_metric_recall(.num_classes = 3)))

NO_METRIC(tern_visit_metric, "visit_metric", tern_visit_metric(NULL, "a", NULL))
static tern_status visit_without_visitor(void)
{
    tern_metric *metric = accuracy_new();
    const tern_status status = tern_visit_metric(NULL, "a", metric);
    tern_metric_free(metric);
    return status;
}
REFUSES(tern_visit_metric, "a visitor that is NULL", TERN_ERR_NULL, "visit_part: visitor is NULL",
        visit_without_visitor())

REFUSES(tern_checkpoint_metric, "a checkpoint that is NULL", TERN_ERR_NULL,
        "checkpoint_metric: checkpoint is NULL", tern_checkpoint_metric(NULL, "a", NULL))
REFUSES(tern_checkpoint_metric, "a name that is NULL", TERN_ERR_NULL,
        "checkpoint_metric: name is NULL", tern_checkpoint_metric(f->checkpoint, NULL, NULL))
NO_METRIC(tern_checkpoint_metric, "checkpoint_metric",
          tern_checkpoint_metric(f->checkpoint, "a", NULL))

// ---- lists --------------------------------------------------------------------------------------

REFUSES(tern_metrics_make, "too many", TERN_ERR_ARG, "metrics_make: 17 metrics; a list has 0 to 16",
        tern_metrics_make(17, (tern_metric *[17]){NULL}).count == 0)
REFUSES(tern_metrics_make, "an array that is NULL", TERN_ERR_NULL, "metrics_make: metrics is NULL",
        tern_metrics_make(1, NULL).count == 0)
REFUSES(tern_metrics_make, "one that is NULL", TERN_ERR_NULL, "metrics_make: a metric is NULL",
        tern_metrics_make(1, (tern_metric *[1]){NULL}).count == 1)
CANNOT_FAIL(tern_metrics_free, "NULL is fine", (tern_metrics_free((tern_metric_list){0}), 1))

// ---- evaluating ---------------------------------------------------------------------------------

REFUSES(tern_evaluate_with, "options that are NULL", TERN_ERR_NULL, "evaluate: options is NULL",
        tern_evaluate_with(NULL))
REFUSES(tern_evaluate_with, "a net that is NULL", TERN_ERR_NULL, "evaluate: net is NULL",
        tern_evaluate(NULL, f->loader))
REFUSES(tern_evaluate_with, "a loader that is NULL", TERN_ERR_NULL, "evaluate: loader is NULL",
        tern_evaluate(f->net, NULL))
static double loss;
REFUSES(tern_evaluate_with, "a loss without a criterion", TERN_ERR_ARG,
        "evaluate: .loss needs a .criterion", tern_evaluate(f->net, f->loader, .loss = &loss))
REFUSES(tern_evaluate_with, "a reduction that is none", TERN_ERR_ARG,
        "evaluate: reduction is 4, not MEAN, SUM or NONE",
        tern_evaluate(f->net, f->loader, .reduction = TERN_REDUCTION_BATCHMEAN))
REFUSES(tern_evaluate_with, "a list that is too long", TERN_ERR_ARG,
        "evaluate: a list of 17 metrics; it has 0 to 16",
        tern_evaluate(f->net, f->loader, .metrics = (tern_metric_list){17, {NULL}}))
REFUSES(tern_evaluate_with, "a metric that is NULL", TERN_ERR_NULL, "evaluate: metric is NULL",
        tern_evaluate(f->net, f->loader, .metrics = (tern_metric_list){1, {NULL}}))

// ---- one's own ----------------------------------------------------------------------------------

static tern_status no_update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    (void)metric, (void)preds, (void)target;
    return TERN_OK;
}
static tern_tensor *no_value(tern_metric *metric)
{
    (void)metric;
    return NULL;
}

static const tern_metric_class nameless = {
    .size = sizeof(tern_metric), .update = no_update, .compute = no_value};
static const tern_metric_class without_update = {
    .name = "a", .size = sizeof(tern_metric), .compute = no_value};
static const tern_metric_class without_compute = {
    .name = "a", .size = sizeof(tern_metric), .update = no_update};
static const tern_metric_class small = {
    .name = "a", .size = 8, .update = no_update, .compute = no_value};
static const tern_metric_class fine = {
    .name = "a", .size = sizeof(tern_metric), .update = no_update, .compute = no_value};

REFUSES(tern_metric_new, "a class that is NULL", TERN_ERR_NULL, "metric_new: metric_class is NULL",
        tern_metric_new(NULL, NULL))
REFUSES(tern_metric_new, "a class without a name", TERN_ERR_NULL,
        "metric_new: the class's name is NULL", tern_metric_new(&nameless, NULL))
REFUSES(tern_metric_new, "a class without update", TERN_ERR_NULL,
        "metric_new: the class's update is NULL", tern_metric_new(&without_update, NULL))
REFUSES(tern_metric_new, "a class without compute", TERN_ERR_NULL,
        "metric_new: the class's compute is NULL", tern_metric_new(&without_compute, NULL))
REFUSES(tern_metric_new, "a struct that is too small", TERN_ERR_ARG,
        "metric_new: the struct of a has 8 bytes, less than the tern_metric it begins with",
        tern_metric_new(&small, NULL))
REFUSES(tern_metric_new, "an empty name", TERN_ERR_ARG,
        "metric_new: the name of a metric has 1 to 63 bytes, not 0", tern_metric_new(&fine, ""))

static tern_tensor *slot;
static tern_status add_state(const char *name, tern_tensor **to, tern_shape shape, bool updated)
{
    tern_metric *metric = tern_metric_new(&fine, NULL);
    tern_tensor *any = updated ? tern_zeros(tern_dims()) : NULL;
    tern_status status = any ? tern_metric_update(metric, any, any) : TERN_OK;
    if (!status)
        status = tern_metric_add_state(metric, name, to, shape, TERN_INT64);
    tern_metric_free(metric);
    return status;
}

NO_METRIC(tern_metric_add_state, "metric_add_state",
          tern_metric_add_state(NULL, "a", &slot, tern_dims(), TERN_INT64))
REFUSES(tern_metric_add_state, "a name that is NULL", TERN_ERR_NULL,
        "metric_add_state: name is NULL", add_state(NULL, &slot, tern_dims(), false))
REFUSES(tern_metric_add_state, "a slot that is NULL", TERN_ERR_NULL,
        "metric_add_state: slot is NULL", add_state("a", NULL, tern_dims(), false))
REFUSES(tern_metric_add_state, "a name of the library's", TERN_ERR_ARG,
        "metric_add_state: \"kind\" is a name of the library's own",
        add_state("kind", &slot, tern_dims(), false))
REFUSES(tern_metric_add_state, "a negative size", TERN_ERR_SHAPE, "-1",
        add_state("a", &slot, tern_dims(-1), false))
REFUSES(tern_metric_add_state, "a metric with updates", TERN_ERR_STATE,
        "metric_add_state: a has been updated already; states are added before",
        add_state("a", &slot, tern_dims(), true))
