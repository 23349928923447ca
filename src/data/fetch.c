// SPDX-License-Identifier: Apache-2.0
// Asking a dataset for samples by number.
#include <tern/ops.h>

#include "base/callback.h"
#include "base/fork.h"
#include "data/dataset.h"
#include "data/turn.h"
#include "ops/op.h"

static tern_status check_made(const char *op, const tern_dataset *dataset, int64_t count,
                              const tern_batch *made)
{
    TERN_TRY(tern_dataset_check_tensors(op, tern_dataset_name(dataset), made->count, made->at));
    for (int i = 0; i < made->count; i++) {
        const tern_tensor *t = made->at[i];
        TERN_CHECK(t->rank >= 1 && t->size[0] == count, TERN_ERR_SHAPE,
                   "%s: %s gave tensor %d of shape %s for %lld samples: its first size must be "
                   "their number",
                   op, tern_dataset_name(dataset), i, tern_shape_string(tern_shape_get(t)),
                   (long long)count);
    }
    return TERN_OK;
}

static tern_status fetch(const char *op, const tern_dataset *dataset,
                         const tern_sample_context *context, const int64_t *index, int64_t count,
                         tern_batch *made)
{
    const bool failed_before = tern_error_pending();
    const tern_sample_context *outside = tern_dataset_set_context(context);
    tern_callback_begin();
    const bool turn = tern_turn_begin(dataset);
    tern_status status = dataset->klass->get(dataset, context, index, count, made);
    if (turn)
        tern_turn_end(dataset);
    tern_callback_end();
    (void)tern_dataset_set_context(outside);
    TERN_TRY(tern_dataset_check_result(op, dataset, status, failed_before, "a batch"));
    return check_made(op, dataset, count, made);
}

tern_status tern_dataset_fetch(const char *op, tern_dataset *dataset,
                               const tern_sample_context *context, const int64_t *index,
                               int64_t count, tern_batch *out)
{
    tern_batch made = {0};
    bool before = tern_set_grad_enabled(false);
    tern_status status = dataset->klass->get
                             ? fetch(op, dataset, context, index, count, &made)
                             : tern_dataset_stack(op, dataset, context, index, count, &made);
    (void)tern_set_grad_enabled(before);
    *out = (tern_batch){0};
    if (status)
        return status;
    made.x = made.at[0];
    made.y = made.count > 1 ? made.at[1] : NULL;
    if (dataset->klass->get)
        made.size = count;
    made.index = index;
    *out = made;
    return TERN_OK;
}

static tern_status check_range(const tern_dataset *dataset, const int64_t *index, int64_t count)
{
    int64_t samples = tern_dataset_count_for("dataset_get", dataset);
    if (samples < 0)
        return tern_error_code();
    for (int64_t i = 0; i < count; i++)
        TERN_CHECK(index[i] >= 0 && index[i] < samples, TERN_ERR_INDEX,
                   "dataset_get: index[%lld] is %lld, but %s has samples 0 to %lld", (long long)i,
                   (long long)index[i], tern_dataset_name(dataset), (long long)samples - 1);
    return TERN_OK;
}

tern_status tern_dataset_get(tern_dataset *dataset, const int64_t *index, int64_t count,
                             tern_batch *out)
{
    if (out)
        *out = (tern_batch){0};
    TERN_TRY(tern_check_dataset("dataset_get", dataset));
    if (!index || !out)
        return tern_null_error("dataset_get", index ? "out" : "index");
    TERN_TRY(tern_fork_check());
    TERN_CHECK(count >= 1, TERN_ERR_ARG, "dataset_get: count is %lld, but must be at least 1",
               (long long)count);
    (void)tern_dataset_retain_internal(dataset);
    const tern_sample_context context = tern_dataset_context();
    tern_status status = check_range(dataset, index, count);
    if (!status)
        status = tern_dataset_fetch("dataset_get", dataset, &context, index, count, out);
    tern_dataset_release_internal(dataset);
    return status;
}

// ---- one sample ---------------------------------------------------------------------------------

// The only row of a batch.
static tern_status take_row(const tern_batch *batch, tern_sample *out)
{
    tern_sample sample = {.index = batch->index[0], .count = batch->count};
    for (int i = 0; i < batch->count; i++) {
        sample.at[i] = tern_select(batch->at[i], 0, 0);
        if (!sample.at[i])
            return tern_error_code();
    }
    sample.x = sample.at[0];
    sample.y = sample.at[1];
    *out = sample;
    return TERN_OK;
}

tern_status tern_dataset_make_sample(const char *op, tern_dataset *dataset,
                                     const tern_sample_context *context, int64_t index,
                                     tern_sample *out)
{
    if (!dataset->klass->get || dataset->klass->item)
        return tern_dataset_make_item(op, dataset, context, index, out);
    tern_batch batch;
    TERN_TRY(tern_dataset_fetch(op, dataset, context, &index, 1, &batch));
    return take_row(&batch, out);
}

static tern_status make_sample(tern_dataset *dataset, int64_t index, tern_sample *out)
{
    int64_t samples = tern_dataset_count_for("dataset_item", dataset);
    if (samples < 0)
        return tern_error_code();
    TERN_CHECK(index >= 0 && index < samples, TERN_ERR_INDEX,
               "dataset_item: index is %lld, but %s has samples 0 to %lld", (long long)index,
               tern_dataset_name(dataset), (long long)samples - 1);
    const tern_sample_context context = tern_dataset_context();
    return tern_dataset_make_sample("dataset_item", dataset, &context, index, out);
}

tern_status tern_dataset_item(tern_dataset *dataset, int64_t index, tern_sample *out)
{
    if (out)
        *out = (tern_sample){0};
    TERN_TRY(tern_check_dataset("dataset_item", dataset));
    if (!out)
        return tern_null_error("dataset_item", "out");
    TERN_TRY(tern_fork_check());
    (void)tern_dataset_retain_internal(dataset);
    bool before = tern_set_grad_enabled(false);
    tern_status status = make_sample(dataset, index, out);
    (void)tern_set_grad_enabled(before);
    tern_dataset_release_internal(dataset);
    return status;
}
