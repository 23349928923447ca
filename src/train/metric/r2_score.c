// SPDX-License-Identifier: Apache-2.0
// The coefficient of determination.
#include <math.h>
#include <tern/ops.h>
#include "base/text.h"
#include "ops/launch.h"
#include "train/metric/moments.h"

#define NEAR_ZERO 1e-4 // torchmetrics' tolerance of sums

typedef struct r2_score {
    tern_metric base;
    int64_t num_outputs, adjusted;
    tern_multioutput multioutput;
    tern_moments target;   // (O)
    tern_tensor *residual; // float64 (O): the sum of (target - preds)^2
} r2_score;

// ---- adding up ----------------------------------------------------------------------------------

static tern_tensor *rows(const r2_score *self, tern_tensor *t)
{
    tern_tensor *x = tern_to_dtype(t, TERN_FLOAT64);
    return x ? tern_reshape(x, tern_dims(-1, self->num_outputs)) : NULL;
}

static tern_status set(r2_score *self, const tern_moments *target, tern_tensor *residual)
{
    tern_moments merged;
    tern_tensor *sum = tern_add(self->residual, residual);
    TERN_TRY(tern_moments_merged(&self->target, target, &merged));
    if (!sum)
        return tern_error_code();
    TERN_TRY(tern_moments_set(&self->target, &merged));
    return tern_copy_(self->residual, sum) ? TERN_OK : tern_error_code();
}

static tern_status update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    r2_score *self = (r2_score *)metric;
    tern_moments batch;
    TERN_TRY(tern_metric_check_regression(metric, self->num_outputs, preds, target));
    TERN_CHECK(target->rank == 1 || (target->rank == 2 && target->size[1] == self->num_outputs),
               TERN_ERR_SHAPE, "metric_update: %s: target is %s, but must be (N), or (N, %lld)",
               metric->private_->name, tern_shape_string(tern_shape_get(target)),
               (long long)self->num_outputs);
    if (target->numel == 0)
        return TERN_OK;
    tern_tensor *x = rows(self, preds), *y = rows(self, target);
    tern_tensor *errors = x && y ? tern_sub(y, x) : NULL;
    if (!errors)
        return tern_error_code();
    TERN_TRY(tern_moments_of(y, NULL, &batch));
    tern_tensor *squares = tern_mul(errors, errors);
    tern_tensor *residual = squares ? tern_sum(squares, tern_axes(0), false) : NULL;
    return residual ? set(self, &batch, residual) : tern_error_code();
}

static tern_status merge(tern_metric *metric, const tern_metric *other)
{
    r2_score *self = (r2_score *)metric;
    const r2_score *from = (const r2_score *)other;
    tern_moments here;
    TERN_TRY(tern_moments_here(&from->target, &self->target, &here));
    tern_tensor *residual = tern_to(from->residual, metric->private_->device);
    return residual ? set(self, &here, residual) : tern_error_code();
}

// ---- reading ------------------------------------------------------------------------------------

// NaN is not near 0, so that it stays.
static tern_tensor *is_not_near_zero(tern_tensor *sum)
{
    return tern_logical_not(tern_le_scalar(sum, NEAR_ZERO));
}

static tern_tensor *raw_scores(const r2_score *self)
{
    tern_tensor *total = self->target.deviations;
    tern_tensor *has_residual = is_not_near_zero(self->residual);
    tern_tensor *has_total = is_not_near_zero(total);
    tern_tensor *quotient = tern_div(self->residual, total);
    if (!has_residual || !has_total || !quotient)
        return NULL;
    tern_tensor *unexplained = tern_where(has_total, quotient, tern_ones_like(quotient));
    tern_tensor *explained = unexplained ? tern_add_scalar(tern_neg(unexplained), 1) : NULL;
    return explained ? tern_where(has_residual, explained, tern_ones_like(explained)) : NULL;
}

static tern_tensor *together(const r2_score *self, tern_tensor *scores)
{
    tern_tensor *total = self->target.deviations;
    switch (self->multioutput) {
    case TERN_MULTIOUTPUT_RAW_VALUES:
        return scores;
    case TERN_MULTIOUTPUT_VARIANCE_WEIGHTED:
        return tern_div(tern_sum_all(tern_mul(total, scores)), tern_sum_all(total));
    case TERN_MULTIOUTPUT_UNSPECIFIED:
    case TERN_MULTIOUTPUT_UNIFORM_AVERAGE:
        break;
    }
    return tern_mean_all(scores);
}

// 1 - (1 - score) (n - 1) / (n - k - 1) where that divides by more than 0.
static tern_tensor *adjust(const r2_score *self, tern_tensor *score)
{
    tern_tensor *n = self->target.weight;
    tern_tensor *left = tern_sub_scalar(n, (double)self->adjusted + 1);
    tern_tensor *enough = left ? tern_gt_scalar(left, 0) : NULL;
    tern_tensor *unexplained = tern_add_scalar(tern_neg(score), 1);
    if (!enough || !unexplained)
        return NULL;
    tern_tensor *factor = tern_div(tern_sub_scalar(n, 1), left);
    tern_tensor *adjusted = tern_add_scalar(tern_neg(tern_mul(unexplained, factor)), 1);
    return adjusted ? tern_where(enough, adjusted, score) : NULL;
}

static tern_tensor *compute(tern_metric *metric)
{
    const r2_score *self = (const r2_score *)metric;
    tern_tensor *scores = raw_scores(self);
    tern_tensor *score = scores ? together(self, scores) : NULL;
    if (score && self->adjusted)
        score = adjust(self, score);
    tern_tensor *few = tern_lt_scalar(self->target.weight, 2);
    return score && few ? tern_masked_fill(score, few, NAN) : NULL;
}

// ---- making one ---------------------------------------------------------------------------------

static void describe(const tern_metric *metric, char *buffer, size_t size)
{
    static const char *const outputs[] = {[TERN_MULTIOUTPUT_UNIFORM_AVERAGE] = "uniform_average",
                                          [TERN_MULTIOUTPUT_RAW_VALUES] = "raw_values",
                                          [TERN_MULTIOUTPUT_VARIANCE_WEIGHTED] =
                                              "variance_weighted"};
    const r2_score *self = (const r2_score *)metric;
    tern_writer out = {.buffer = buffer, .size = size};
    tern_write(&out, "num_outputs=%lld, adjusted=%lld, multioutput=%s",
               (long long)self->num_outputs, (long long)self->adjusted, outputs[self->multioutput]);
}

static const tern_metric_class r2_score_class = {.name = "r2_score",
                                                 .size = sizeof(r2_score),
                                                 .update = update,
                                                 .compute = compute,
                                                 .merge = merge,
                                                 .describe = describe};

static tern_status check(const char *function, const tern_metric_r2_score_options *o)
{
    if (!o)
        return tern_null_error(function, "options");
    TERN_CHECK(o->num_outputs >= 1, TERN_ERR_ARG, "%s: num_outputs is %lld, not 1 or more",
               function, (long long)o->num_outputs);
    TERN_CHECK(o->adjusted >= 0, TERN_ERR_ARG, "%s: adjusted is %lld, not 0 or more", function,
               (long long)o->adjusted);
    TERN_CHECK(o->multioutput >= TERN_MULTIOUTPUT_UNSPECIFIED &&
                   o->multioutput <= TERN_MULTIOUTPUT_VARIANCE_WEIGHTED,
               TERN_ERR_ARG, "%s: there is no multioutput %d", function, (int)o->multioutput);
    return TERN_OK;
}

tern_metric *tern_metric_r2_score_with(const tern_metric_r2_score_options *o)
{
    if (check("metric_r2_score", o))
        return NULL;
    r2_score *self = (r2_score *)tern_metric_new(&r2_score_class, o->name);
    if (!self)
        return NULL;
    self->num_outputs = o->num_outputs;
    self->adjusted = o->adjusted;
    self->multioutput = o->multioutput == TERN_MULTIOUTPUT_UNSPECIFIED
                            ? TERN_MULTIOUTPUT_UNIFORM_AVERAGE
                            : o->multioutput;
    const tern_shape shape = tern_dims(o->num_outputs);
    if (!tern_moments_add_states(&self->base, &self->target, shape) &&
        !tern_metric_add_state(&self->base, "residual", &self->residual, shape, TERN_FLOAT64))
        return &self->base;
    tern_metric_free(&self->base);
    return NULL;
}
