// SPDX-License-Identifier: Apache-2.0
// The mean of values with weights, and its standard error.
#include <math.h>
#include <tern/autograd.h>
#include <tern/ops.h>
#include "base/text.h"
#include "ops/launch.h"
#include "train/metric/moments.h"

typedef struct mean_metric {
    tern_metric base;
    bool ignore_nan;
    tern_moments moments;         // ()
    tern_tensor *squared_weights; // float64 (): their sum
} mean_metric;

// ---- adding up ----------------------------------------------------------------------------------

// Values and weights, flat and float64.
typedef struct weighted {
    tern_tensor *values, *weights;
} weighted;

static tern_status broadcast_weights(const mean_metric *self, tern_tensor *values,
                                     tern_tensor *weights, weighted *out)
{
    const char *name = self->base.private_->name;
    TERN_CHECK(values->dtype != TERN_BOOL && (!weights || weights->dtype != TERN_BOOL),
               TERN_ERR_DTYPE, "metric_update: %s: values and weights must be numbers, not bool",
               name);
    tern_tensor *x = tern_to_dtype(values, TERN_FLOAT64);
    tern_tensor *w = x ? tern_ones_like(x) : NULL;
    if (w && weights) {
        w = tern_mul(w, tern_to_dtype(weights, TERN_FLOAT64));
        TERN_CHECK(!w || tern_shape_equal(tern_shape_get(w), tern_shape_get(x)), TERN_ERR_SHAPE,
                   "metric_update: %s: weights %s do not broadcast to values %s", name,
                   tern_shape_string(tern_shape_get(weights)),
                   tern_shape_string(tern_shape_get(values)));
    }
    if (!w)
        return tern_error_code();
    *out = (weighted){tern_reshape(x, tern_dims(-1)), tern_reshape(w, tern_dims(-1))};
    return out->values && out->weights ? TERN_OK : tern_error_code();
}

// What is NaN, or has such a weight, becomes 0 with a weight of 0.
static tern_status leave_nan_out(weighted *of)
{
    tern_tensor *product = tern_add(of->values, of->weights);
    tern_tensor *nan = product ? tern_ne(product, product) : NULL;
    if (!nan)
        return tern_error_code();
    of->values = tern_masked_fill(of->values, nan, 0);
    of->weights = tern_masked_fill(of->weights, nan, 0);
    return of->values && of->weights ? TERN_OK : tern_error_code();
}

static tern_status set(mean_metric *self, const tern_moments *batch, tern_tensor *squares)
{
    tern_moments merged;
    tern_tensor *sum = tern_add(self->squared_weights, squares);
    TERN_TRY(tern_moments_merged(&self->moments, batch, &merged));
    if (!sum)
        return tern_error_code();
    TERN_TRY(tern_moments_set(&self->moments, &merged));
    return tern_copy_(self->squared_weights, sum) ? TERN_OK : tern_error_code();
}

static tern_status update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    mean_metric *self = (mean_metric *)metric;
    weighted of;
    tern_moments batch;
    TERN_TRY(broadcast_weights(self, preds, target, &of));
    if (of.values->numel == 0)
        return TERN_OK;
    if (self->ignore_nan)
        TERN_TRY(leave_nan_out(&of));
    TERN_TRY(tern_moments_of(of.values, of.weights, &batch));
    tern_tensor *squares = tern_mul(of.weights, of.weights);
    squares = squares ? tern_sum_all(squares) : NULL;
    return squares ? set(self, &batch, squares) : tern_error_code();
}

static tern_status merge(tern_metric *metric, const tern_metric *other)
{
    mean_metric *self = (mean_metric *)metric;
    const mean_metric *from = (const mean_metric *)other;
    tern_moments here;
    TERN_TRY(tern_moments_here(&from->moments, &self->moments, &here));
    tern_tensor *squares = tern_to(from->squared_weights, metric->private_->device);
    return squares ? set(self, &here, squares) : tern_error_code();
}

// ---- reading ------------------------------------------------------------------------------------

static tern_tensor *compute(tern_metric *metric)
{
    const mean_metric *self = (const mean_metric *)metric;
    tern_tensor *nothing = tern_eq_scalar(self->moments.weight, 0);
    return nothing ? tern_masked_fill(self->moments.mean, nothing, NAN) : NULL;
}

// s^2 / n = (deviations / weight) / (n - 1), n = weight^2 / squared_weights.
static tern_tensor *standard_error(const mean_metric *self)
{
    const tern_moments *m = &self->moments;
    tern_tensor *n = tern_div(tern_mul(m->weight, m->weight), self->squared_weights);
    tern_tensor *variance = tern_div(m->deviations, m->weight);
    if (!n || !variance)
        return NULL;
    return tern_sqrt(tern_div(variance, tern_sub_scalar(n, 1)));
}

static void describe(const tern_metric *metric, char *buffer, size_t size)
{
    tern_writer out = {.buffer = buffer, .size = size};
    tern_write(&out, "ignore_nan=%d", ((const mean_metric *)metric)->ignore_nan);
}

static const tern_metric_class mean_class = {.name = "mean",
                                             .size = sizeof(mean_metric),
                                             .update = update,
                                             .compute = compute,
                                             .merge = merge,
                                             .describe = describe,
                                             .target_optional = true};

tern_tensor *tern_metric_standard_error(tern_metric *metric)
{
    static const char function[] = "metric_standard_error";
    if (tern_check_metric(function, metric) || tern_error_pending())
        return NULL;
    TERN_CHECK_PTR(metric->klass == &mean_class, TERN_ERR_ARG,
                   "%s: %s has none; tern_metric_mean has", function, metric->private_->name);
    TERN_CHECK_PTR(metric->private_->updates > 0, TERN_ERR_STATE,
                   "%s: %s has not been updated since it was made or reset", function,
                   metric->private_->name);
    tern_scope scope = tern_scope_open();
    tern_tensor *error = NULL;
    tern_no_grad
        if (scope)
            error = standard_error((const mean_metric *)metric);
    return error ? tern_scope_close_keep(scope, error) : (tern_scope_close(scope), NULL);
}

// ---- making one ---------------------------------------------------------------------------------

tern_metric *tern_metric_mean_with(const tern_metric_mean_options *o)
{
    if (!o)
        return (void)tern_null_error("metric_mean", "options"), NULL;
    mean_metric *self = (mean_metric *)tern_metric_new(&mean_class, o->name);
    if (!self)
        return NULL;
    self->ignore_nan = o->ignore_nan;
    if (!tern_moments_add_states(&self->base, &self->moments, tern_dims()) &&
        !tern_metric_add_state(&self->base, "squared_weights", &self->squared_weights, tern_dims(),
                               TERN_FLOAT64))
        return &self->base;
    tern_metric_free(&self->base);
    return NULL;
}
