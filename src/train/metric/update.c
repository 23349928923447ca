// SPDX-License-Identifier: Apache-2.0
// Calls of what a metric's class does: updating and computing.
#include <math.h>
#include <tern/autograd.h>
#include <tern/ops.h>
#include "base/callback.h"
#include "device/capture.h"
#include "tensor/liveness.h"
#include "train/metric/metric.h"

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
    tern_metric_private *inside = metric->private_;
    const bool here = tern_same_device(inside->device, device);
    TERN_CHECK(here || inside->placement == TERN_METRIC_UNPLACED, TERN_ERR_DEVICE,
               UPDATE ": preds are on %s, but the states of %s on %s; tern_metric_to moves them",
               tern_device_string(device), inside->name, tern_device_string(inside->device));
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
    tern_metric_private *inside = metric->private_;
    TERN_TRY(bring_states(metric, tern_dev(preds)));
    TERN_TRY(call_update(metric, preds, target));
    inside->updates++;
    if (inside->placement == TERN_METRIC_UNPLACED)
        inside->placement = TERN_METRIC_FOLLOWS;
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
