// SPDX-License-Identifier: Apache-2.0
// What the tests of metrics share: batches, and a metric of one's own.
#ifndef TERN_TESTS_TRAIN_METRIC_TEST_H
#define TERN_TESTS_TRAIN_METRIC_TEST_H

#include <tern/tern.h>

static inline tern_tensor *labels_on(tern_device device, int64_t count, const int64_t *labels)
{
    return tern_from_data(tern_dims(count), labels, .dtype = TERN_INT64, .device = device);
}

// Scores (count, 3): 1 of each class, 0 of the others.
static inline tern_tensor *scores_on(tern_device device, int64_t count, const int64_t *classes)
{
    tern_tensor *hot = tern_one_hot(labels_on(device, count, classes), 3);
    return tern_to_dtype(hot, TERN_FLOAT32);
}

// An update with what is predicted and what is so.
static inline tern_status update_on(tern_device device, tern_metric *metric, int64_t count,
                                    const int64_t *predicted, const int64_t *labels)
{
    tern_scope scope = tern_scope_open();
    const tern_status status = tern_metric_update(metric, scores_on(device, count, predicted),
                                                  labels_on(device, count, labels));
    tern_scope_close(scope);
    return status;
}

// ---- one's own ----------------------------------------------------------------------------------

// The largest error so far: what sums cannot say.
typedef struct largest {
    tern_metric base;
    tern_tensor *largest; // float64 ()
    int64_t resets;
    bool fails, is_silent;
} largest;

static inline tern_status update_largest(tern_metric *metric, tern_tensor *preds,
                                         tern_tensor *target)
{
    largest *self = (largest *)metric;
    if (self->is_silent)
        return TERN_ERR_ARG;
    if (self->fails)
        return tern_error_raise(TERN_ERR_NUMERIC, "largest: says why");
    tern_tensor *errors = tern_abs(tern_sub(preds, target));
    tern_tensor *most = tern_amax(tern_to_dtype(errors, TERN_FLOAT64), TERN_ALL_AXES, false);
    tern_copy_(self->largest, tern_maximum(self->largest, most));
    return tern_error_code();
}

static inline tern_tensor *compute_largest(tern_metric *metric)
{
    const largest *self = (const largest *)metric;
    return self->is_silent ? NULL : tern_mul_scalar(self->largest, 1);
}

static inline void reset_largest(tern_metric *metric)
{
    ((largest *)metric)->resets++;
}

static inline tern_status merge_largest(tern_metric *metric, const tern_metric *other)
{
    largest *self = (largest *)metric;
    tern_tensor *theirs = tern_to(((const largest *)other)->largest, tern_device_of(self->largest));
    tern_copy_(self->largest, tern_maximum(self->largest, theirs));
    return tern_error_code();
}

static inline tern_status visit_largest(tern_metric *metric, tern_state_visitor *visitor)
{
    return tern_visit_int(visitor, "resets", &((largest *)metric)->resets);
}

static const tern_metric_class largest_class = {.name = "largest",
                                                .size = sizeof(largest),
                                                .update = update_largest,
                                                .compute = compute_largest,
                                                .reset = reset_largest,
                                                .merge = merge_largest,
                                                .visit = visit_largest};

static inline largest *largest_new(void)
{
    largest *self = (largest *)tern_metric_new(&largest_class, NULL);
    if (self &&
        !tern_metric_add_state(&self->base, "largest", &self->largest, tern_dims(), TERN_FLOAT64))
        return self;
    tern_metric_free(&self->base);
    return NULL;
}

#endif
