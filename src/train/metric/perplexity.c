// SPDX-License-Identifier: Apache-2.0
// Perplexity.
#include <tern/ops.h>
#include "base/text.h"
#include "ops/launch.h"
#include "train/metric/classification.h"

typedef struct perplexity {
    tern_metric base;
    int64_t ignore_index;
    tern_tensor *total; // float64 (): of -log p
    tern_tensor *count; // int64 ()
} perplexity;

static tern_status check(const tern_metric *metric, const tern_tensor *preds,
                         const tern_tensor *target)
{
    const char *name = metric->private_->name;
    TERN_CHECK(tern_is_floating(preds->dtype), TERN_ERR_DTYPE,
               "metric_update: %s: preds is %s, but logits are floating", name,
               tern_tensor_string(preds));
    tern_shape tokens = tern_shape_get(preds);
    tokens.rank--;
    TERN_CHECK(preds->rank >= 2 && tern_shape_equal(tokens, tern_shape_get(target)), TERN_ERR_SHAPE,
               "metric_update: %s: preds is %s and target %s, but must be (N, L, V) and (N, L)",
               name, tern_shape_string(tern_shape_get(preds)),
               tern_shape_string(tern_shape_get(target)));
    return TERN_OK;
}

// -log p of each token, (N, L) as (M); 0 where the class is -1.
static tern_tensor *negative_logs(tern_tensor *preds, tern_tensor *classes)
{
    const int64_t vocabulary = preds->size[preds->rank - 1];
    const bool narrow = preds->dtype == TERN_FLOAT16 || preds->dtype == TERN_BFLOAT16;
    tern_tensor *x = narrow ? tern_to_dtype(preds, TERN_FLOAT32) : preds;
    x = x ? tern_reshape(x, tern_dims(classes->numel, vocabulary)) : NULL;
    classes = tern_reshape(classes, tern_dims(-1));
    if (!x || !classes)
        return NULL;
    tern_tensor *losses =
        tern_cross_entropy(x, classes, .ignore_index = -1, .reduction = TERN_REDUCTION_NONE);
    return losses ? tern_to_dtype(losses, TERN_FLOAT64) : NULL;
}

static tern_status update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    perplexity *self = (perplexity *)metric;
    TERN_TRY(check(metric, preds, target));
    const tern_classification c = {.name = metric->klass->name,
                                   .task = TERN_TASK_MULTICLASS,
                                   .classes = preds->size[preds->rank - 1],
                                   .ignore_index = self->ignore_index};
    tern_tensor *classes, *counts;
    TERN_TRY(tern_classification_target(&c, target, &classes, &counts));
    classes = tern_masked_fill(classes, tern_logical_not(counts), -1);
    tern_tensor *logs = classes ? negative_logs(preds, classes) : NULL;
    tern_tensor *total = logs ? tern_sum_all(logs) : NULL, *count = tern_sum_all(counts);
    if (!total || !count || !tern_add_(self->total, total) || !tern_add_(self->count, count))
        return tern_error_code();
    return TERN_OK;
}

static tern_tensor *compute(tern_metric *metric)
{
    const perplexity *self = (const perplexity *)metric;
    tern_tensor *mean = tern_div(self->total, tern_to_dtype(self->count, TERN_FLOAT64));
    return mean ? tern_exp(mean) : NULL;
}

static void describe(const tern_metric *metric, char *buffer, size_t size)
{
    const perplexity *self = (const perplexity *)metric;
    tern_writer out = {.buffer = buffer, .size = size};
    if (self->ignore_index != TERN_IGNORE_INDEX_UNSPECIFIED)
        tern_write(&out, "ignore_index=%lld", (long long)self->ignore_index);
}

static const tern_metric_class perplexity_class = {.name = "perplexity",
                                                   .size = sizeof(perplexity),
                                                   .update = update,
                                                   .compute = compute,
                                                   .describe = describe};

tern_metric *tern_metric_perplexity_with(const tern_metric_perplexity_options *o)
{
    if (!o)
        return (void)tern_null_error("metric_perplexity", "options"), NULL;
    perplexity *self = (perplexity *)tern_metric_new(&perplexity_class, o->name);
    if (!self)
        return NULL;
    self->ignore_index = o->ignore_index;
    if (!tern_metric_add_state(&self->base, "total", &self->total, tern_dims(), TERN_FLOAT64) &&
        !tern_metric_add_state(&self->base, "count", &self->count, tern_dims(), TERN_INT64))
        return &self->base;
    tern_metric_free(&self->base);
    return NULL;
}
