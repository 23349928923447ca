// SPDX-License-Identifier: Apache-2.0
// Making and freeing metrics, and what all of them do alike: updating, computing, resetting.
#include "train/metric/metric.h"

#include <math.h>
#include <string.h>
#include <tern/autograd.h>
#include <tern/ops.h>
#include "base/callback.h"
#include "base/mem.h"
#include "device/capture.h"
#include "tensor/liveness.h"

static tern_status check_class(const char *op, const tern_metric_class *klass)
{
    if (!klass || !klass->name || !klass->update || !klass->compute)
        return tern_null_error(op, !klass           ? "metric_class"
                                   : !klass->name   ? "the class's name"
                                   : !klass->update ? "the class's update"
                                                    : "the class's compute");
    TERN_CHECK(klass->size >= sizeof(tern_metric), TERN_ERR_ARG,
               "%s: the struct of %s has %zu bytes, less than the tern_metric it begins with", op,
               klass->name, klass->size);
    return TERN_OK;
}

// ---- making and freeing -------------------------------------------------------------------------

tern_metric *tern_metric_new(const tern_metric_class *klass, const char *name)
{
    static const char op[] = "metric_new";
    if (check_class(op, klass))
        return NULL;
    name = name ? name : klass->name;
    TERN_CHECK_PTR(*name && strlen(name) < TERN_METRIC_NAME_SIZE, TERN_ERR_ARG,
                   "%s: the name of a metric has 1 to %d bytes, not %zu", op,
                   TERN_METRIC_NAME_SIZE - 1, strlen(name));
    tern_metric *metric = tern_mem_alloc(klass->size);
    struct tern_metric_private_ *private = metric ? tern_mem_alloc(sizeof *private) : NULL;
    if (!private) {
        tern_mem_free(metric, klass->size);
        return NULL;
    }
    strcpy(private->name, name);
    private->device = tern_cpu(0);
    *metric = (tern_metric){.klass = klass, .refs_ = 1, .private_ = private};
    return metric;
}

tern_metric *tern_metric_retain(tern_metric *metric)
{
    if (!metric || tern_check_metric("metric_retain", metric))
        return NULL;
    __atomic_fetch_add(&metric->refs_, 1, __ATOMIC_RELAXED);
    return metric;
}

void tern_metric_free(tern_metric *metric)
{
    if (!metric || tern_check_metric("metric_free", metric) ||
        __atomic_sub_fetch(&metric->refs_, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (metric->klass->free) {
        tern_callback_begin();
        metric->klass->free(metric);
        tern_callback_end();
    }
    tern_metric_free_states(metric);
    tern_mem_free(metric->private_, sizeof *metric->private_);
    tern_mem_free_deferred(metric, metric->klass->size, sizeof *metric);
}

// ---- updating -----------------------------------------------------------------------------------

#define UPDATE "metric_update"

static tern_status check_inputs(const tern_metric *metric, const tern_tensor *preds,
                                const tern_tensor *target)
{
    TERN_TRY(tern_check_metric(UPDATE, metric));
    TERN_TRY(tern_check_tensor(UPDATE, "preds", preds));
    if (!target)
        return metric->klass->target_optional ? TERN_OK : tern_null_error(UPDATE, "target");
    TERN_TRY(tern_check_tensor(UPDATE, "target", target));
    TERN_CHECK(tern_same_device(tern_dev(preds), tern_dev(target)), TERN_ERR_DEVICE,
               UPDATE ": %s: preds are on %s and target is on %s; tern_to moves one of them",
               metric->private_->name, tern_device_string(tern_dev(preds)),
               tern_device_string(tern_dev(target)));
    return TERN_OK;
}

// The states come to the first update's device; a later one has to be there.
static tern_status bring_states(tern_metric *metric, tern_device device)
{
    struct tern_metric_private_ *private = metric->private_;
    const bool here = tern_same_device(private->device, device);
    TERN_CHECK(here || private->placement == TERN_METRIC_UNPLACED, TERN_ERR_DEVICE,
               UPDATE ": preds are on %s, but the states of %s on %s; tern_metric_to moves them",
               tern_device_string(device), private->name, tern_device_string(private->device));
    if (!here) {
        TERN_TRY(tern_capture_refuse(UPDATE, "the states would move; update the metric once "
                                             "before, or call tern_metric_to"));
        TERN_TRY(tern_metric_move_states(metric, device));
    }
    return TERN_OK;
}

// A call of the class, whose failure without a word is said.
static tern_status call_update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    tern_callback_begin();
    tern_status status = metric->klass->update(metric, preds, target);
    tern_callback_end();
    if (status && !tern_error_pending())
        return tern_error_raise(status, UPDATE ": %s failed and did not say why",
                                metric->private_->name);
    return tern_error_code();
}

static tern_status update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    struct tern_metric_private_ *private = metric->private_;
    TERN_TRY(bring_states(metric, tern_dev(preds)));
    TERN_TRY(call_update(metric, preds, target));
    private->updates++;
    if (private->placement == TERN_METRIC_UNPLACED)
    private->placement = TERN_METRIC_FOLLOWS;
    return TERN_OK;
}

tern_status tern_metric_update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    TERN_TRY(check_inputs(metric, preds, target));
    TERN_TRY(tern_error_code());
    tern_status status = TERN_ERR_NOMEM;
    tern_metric_retain(metric); // `update` may free it
    tern_scope scope = tern_scope_open();
    tern_no_grad
        if (scope)
            status = update(metric, preds, target);
    tern_scope_close(scope);
    tern_metric_free(metric);
    return status;
}

// ---- computing ----------------------------------------------------------------------------------

static tern_tensor *compute(const char *function, tern_metric *metric)
{
    if (tern_check_metric(function, metric) || tern_error_pending())
        return NULL;
    const char *name = metric->private_->name;
    TERN_CHECK_PTR(metric->private_->updates > 0, TERN_ERR_STATE,
                   "%s: %s has not been updated since it was made or reset", function, name);
    tern_scope scope = tern_scope_open();
    tern_tensor *value = NULL;
    tern_callback_begin();
    tern_no_grad
        if (scope)
            value = metric->klass->compute(metric);
    tern_callback_end();
    if (scope && !value && !tern_error_pending())
        tern_error_raise(TERN_ERR_STATE, "%s: %s failed and did not say why", function, name);
    if (!value || tern_error_pending() || tern_check_tensor(function, "the value", value)) {
        tern_scope_close(scope);
        return NULL;
    }
    return tern_scope_close_keep(scope, value);
}

tern_tensor *tern_metric_compute(tern_metric *metric)
{
    return compute("metric_compute", metric);
}

double tern_metric_value(tern_metric *metric)
{
    double value = NAN;
    tern_scope scope = tern_scope_open();
    const tern_tensor *computed = scope ? compute("metric_value", metric) : NULL;
    if (computed && computed->numel != 1)
        tern_error_raise(TERN_ERR_SHAPE,
                         "metric_value: %s is %s, not one number; see "
                         "tern_metric_compute",
                         metric->private_->name, tern_tensor_string(computed));
    else if (computed)
        value = tern_item(computed);
    tern_scope_close(scope);
    return value;
}

tern_tensor *tern_metric_divide(tern_tensor *a, tern_tensor *b)
{
    a = a ? tern_to_dtype(a, TERN_FLOAT64) : NULL;
    b = b ? tern_to_dtype(b, TERN_FLOAT64) : NULL;
    tern_tensor *quotient = a && b ? tern_div(a, b) : NULL;
    return quotient ? tern_masked_fill(quotient, tern_eq_scalar(b, 0), 0) : NULL;
}

// ---- what it is ---------------------------------------------------------------------------------

const char *tern_metric_name(const tern_metric *metric)
{
    return tern_check_metric("metric_name", metric) ? "" : metric->private_->name;
}

int64_t tern_metric_updates(const tern_metric *metric)
{
    return tern_check_metric("metric_updates", metric) ? -1 : metric->private_->updates;
}

void tern_metric_describe(const tern_metric *metric, char text[TERN_METRIC_DESCRIPTION_SIZE])
{
    char options[200] = "";
    if (metric->klass->describe)
        metric->klass->describe(metric, options, sizeof options);
    options[sizeof options - 1] = 0;
    snprintf(text, TERN_METRIC_DESCRIPTION_SIZE, "%.50s(%s)", metric->klass->name, options);
}

// ---- lists --------------------------------------------------------------------------------------

tern_metric_list tern_metrics_make(int64_t count, tern_metric *const *metrics)
{
    tern_metric_list list = {0, {NULL}};
    if (count < 0 || count > TERN_METRICS) {
        tern_error_raise(TERN_ERR_ARG, "metrics_make: %lld metrics; a list has 0 to %d",
                         (long long)count, TERN_METRICS);
        return list;
    }
    if (count > 0 && !metrics)
        return (void)tern_null_error("metrics_make", "metrics"), list;
    list.count = (int)count;
    for (int i = 0; i < list.count; i++) {
        list.at[i] = metrics[i];
        if (!metrics[i])
            (void)tern_null_error("metrics_make", "a metric");
    }
    return list;
}

void tern_metrics_free(tern_metric_list list)
{
    for (int i = 0; i < list.count && i < TERN_METRICS; i++)
        tern_metric_free(list.at[i]);
}
