// SPDX-License-Identifier: Apache-2.0
// Mean absolute and mean squared errors.
#include <tern/ops.h>
#include "base/text.h"
#include "ops/launch.h"
#include "train/metric/metric.h"

typedef struct error_metric {
    tern_metric base;
    int64_t num_outputs;
    bool root;
    tern_tensor *sum;   // float64: (), or (O)
    tern_tensor *count; // int64 ()
} error_metric;

tern_status tern_metric_check_regression(const tern_metric *metric, int64_t num_outputs,
                                         const tern_tensor *preds, const tern_tensor *target)
{
    const char *name = metric->private_->name;
    TERN_CHECK(preds->dtype != TERN_BOOL && target->dtype != TERN_BOOL, TERN_ERR_DTYPE,
               "metric_update: %s: preds is %s and target %s, but must be numbers", name,
               tern_dtype_name(preds->dtype), tern_dtype_name(target->dtype));
    TERN_CHECK(tern_shape_equal(tern_shape_get(preds), tern_shape_get(target)), TERN_ERR_SHAPE,
               "metric_update: %s: preds is %s and target %s, but must be of one shape", name,
               tern_shape_string(tern_shape_get(preds)), tern_shape_string(tern_shape_get(target)));
    TERN_CHECK(num_outputs == 1 || (target->rank == 2 && target->size[1] == num_outputs),
               TERN_ERR_SHAPE, "metric_update: %s: target is %s, but must be (N, %lld)", name,
               tern_shape_string(tern_shape_get(target)), (long long)num_outputs);
    return TERN_OK;
}

// ---- adding up ----------------------------------------------------------------------------------

static tern_tensor *difference(tern_tensor *preds, tern_tensor *target)
{
    return tern_sub(tern_to_dtype(preds, TERN_FLOAT64), tern_to_dtype(target, TERN_FLOAT64));
}

static tern_status add(error_metric *self, tern_tensor *errors, const tern_tensor *target)
{
    const bool several = self->num_outputs > 1;
    tern_tensor *sum = !errors   ? NULL
                       : several ? tern_sum(errors, tern_axes(0), false)
                                 : tern_sum_all(errors);
    const int64_t count = several ? target->size[0] : target->numel;
    if (!sum || !tern_add_(self->sum, sum) || !tern_add_scalar_(self->count, count))
        return tern_error_code();
    return TERN_OK;
}

static tern_status update_absolute(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    error_metric *self = (error_metric *)metric;
    TERN_TRY(tern_metric_check_regression(metric, self->num_outputs, preds, target));
    tern_tensor *errors = difference(preds, target);
    return add(self, errors ? tern_abs(errors) : NULL, target);
}

static tern_status update_squared(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    error_metric *self = (error_metric *)metric;
    TERN_TRY(tern_metric_check_regression(metric, self->num_outputs, preds, target));
    tern_tensor *errors = difference(preds, target);
    return add(self, errors ? tern_mul(errors, errors) : NULL, target);
}

static tern_tensor *compute(tern_metric *metric)
{
    const error_metric *self = (const error_metric *)metric;
    tern_tensor *mean = tern_div(self->sum, tern_to_dtype(self->count, TERN_FLOAT64));
    return self->root && mean ? tern_sqrt(mean) : mean;
}

// ---- making one ---------------------------------------------------------------------------------

static void describe(const tern_metric *metric, char *buffer, size_t size)
{
    const error_metric *self = (const error_metric *)metric;
    tern_writer out = {.buffer = buffer, .size = size};
    tern_write(&out, "num_outputs=%lld%s", (long long)self->num_outputs,
               self->root ? ", squared=false" : "");
}

static const tern_metric_class absolute_class = {.name = "mean_absolute_error",
                                                 .size = sizeof(error_metric),
                                                 .update = update_absolute,
                                                 .compute = compute,
                                                 .describe = describe};
static const tern_metric_class squared_class = {.name = "mean_squared_error",
                                                .size = sizeof(error_metric),
                                                .update = update_squared,
                                                .compute = compute,
                                                .describe = describe};

static tern_metric *make(const char *function, const tern_metric_class *klass, const char *name,
                         int64_t num_outputs, bool root)
{
    TERN_CHECK_PTR(num_outputs >= 1, TERN_ERR_ARG, "%s: num_outputs is %lld, not 1 or more",
                   function, (long long)num_outputs);
    error_metric *self = (error_metric *)tern_metric_new(klass, name);
    if (!self)
        return NULL;
    self->num_outputs = num_outputs;
    self->root = root;
    const tern_shape shape = num_outputs > 1 ? tern_dims(num_outputs) : tern_dims();
    if (!tern_metric_add_state(&self->base, "sum", &self->sum, shape, TERN_FLOAT64) &&
        !tern_metric_add_state(&self->base, "count", &self->count, tern_dims(), TERN_INT64))
        return &self->base;
    tern_metric_free(&self->base);
    return NULL;
}

tern_metric *tern_metric_mean_absolute_error_with(const tern_metric_mean_absolute_error_options *o)
{
    static const char function[] = "metric_mean_absolute_error";
    if (!o)
        return (void)tern_null_error(function, "options"), NULL;
    return make(function, &absolute_class, o->name, o->num_outputs, false);
}

tern_metric *tern_metric_mean_squared_error_with(const tern_metric_mean_squared_error_options *o)
{
    static const char function[] = "metric_mean_squared_error";
    if (!o)
        return (void)tern_null_error(function, "options"), NULL;
    const char *name = o->name ? o->name : o->squared ? NULL : "root_mean_squared_error";
    return make(function, &squared_class, name, o->num_outputs, !o->squared);
}
