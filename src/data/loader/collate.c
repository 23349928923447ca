// SPDX-License-Identifier: Apache-2.0
// Batches that a function makes of single samples.
#include "data/loader/collate.h"

#include <tern/ops.h>
#include "base/callback.h"
#include "base/integer.h"
#include "base/mem.h"
#include "data/dataset.h"
#include "ops/op.h"
#include "tensor/header.h"

// ---- asking the function ------------------------------------------------------------------------

// `*size` becomes less at the end of a stream.
static tern_status make_samples(const tern_batch_recipe *recipe, const tern_sample_context *context,
                                const int64_t *index, int64_t *size, tern_sample *samples)
{
    for (int64_t i = 0; i < *size; i++) {
        TERN_TRY(tern_dataset_make_sample("loader_next", recipe->dataset, context, index[i],
                                          &samples[i]));
        if (samples[i].count == 0)
            *size = i;
    }
    return TERN_OK;
}

static tern_status make_batch(const tern_batch_recipe *recipe, const tern_sample *samples,
                              int64_t size, tern_batch *made)
{
    const bool failed_before = tern_error_pending();
    tern_callback_begin();
    tern_status status = recipe->collate(samples, size, recipe->user, made);
    tern_callback_end();
    if (status && !tern_error_pending())
        return tern_error_raise(status, "loader_next: .collate failed and did not say why");
    if (!status && !failed_before)
        status = tern_error_code();
    return status ? status
                  : tern_dataset_check_tensors("loader_next", ".collate", made->count, made->at);
}

tern_status tern_batch_collate(const tern_batch_recipe *recipe, const tern_sample_context *context,
                               const int64_t *index, int64_t size, tern_batch *out)
{
    const size_t nbytes = (size_t)size * sizeof(tern_sample);
    *out = (tern_batch){0};
    tern_sample *samples = tern_cache_alloc(nbytes);
    if (!samples)
        return TERN_ERR_NOMEM;
    tern_batch made = {0};
    tern_status status = make_samples(recipe, context, index, &size, samples);
    if (!status && size > 0)
        status = make_batch(recipe, samples, size, &made);
    tern_cache_free(samples, nbytes);
    if (status)
        return status;
    for (int i = made.count; i < TERN_BATCH_TENSORS; i++)
        made.at[i] = NULL;
    made.x = made.at[0];
    made.y = made.at[1];
    made.size = size;
    made.index = index;
    *out = made;
    return TERN_OK;
}

// ---- samples of different lengths ---------------------------------------------------------------

// All but the first size is that of the first sample; `*longest` is the largest of those.
static tern_status check_tensor(const tern_sample *samples, int64_t count, int at, int64_t *longest)
{
    const tern_tensor *first = samples[0].at[at];
    *longest = 0;
    for (int64_t i = 0; i < count; i++) {
        const tern_tensor *t = samples[i].at[at];
        bool fits = t->rank == first->rank && t->dtype == first->dtype &&
                    tern_device_equal(tern_dev(t), tern_dev(first));
        for (int d = 1; fits && d < t->rank; d++)
            fits = t->size[d] == first->size[d];
        TERN_CHECK(fits, t->dtype == first->dtype ? TERN_ERR_SHAPE : TERN_ERR_DTYPE,
                   "collate_padded: tensor %d of sample %lld is %s %s on %s, and of sample %lld %s "
                   "%s on %s: only their first sizes may differ",
                   at, (long long)samples[i].index, tern_shape_string(tern_shape_get(t)),
                   tern_dtype_name(t->dtype), tern_device_string(tern_dev(t)),
                   (long long)samples[0].index, tern_shape_string(tern_shape_get(first)),
                   tern_dtype_name(first->dtype), tern_device_string(tern_dev(first)));
        if (t->rank > 0)
            *longest = max_int64(*longest, t->size[0]);
    }
    return TERN_OK;
}

static tern_status check_samples(const tern_sample *samples, int64_t count)
{
    TERN_CHECK(count >= 1, TERN_ERR_ARG, "collate_padded: count is %lld, but must be at least 1",
               (long long)count);
    for (int64_t i = 0; i < count; i++)
        TERN_CHECK(samples[i].count == samples[0].count, TERN_ERR_SHAPE,
                   "collate_padded: sample %lld has %d tensor%s, but sample %lld has %d",
                   (long long)samples[i].index, samples[i].count, samples[i].count == 1 ? "" : "s",
                   (long long)samples[0].index, samples[0].count);
    TERN_CHECK(samples[0].count < TERN_BATCH_TENSORS, TERN_ERR_ARG,
               "collate_padded: a sample has %d tensors, and none is left for the lengths",
               samples[0].count);
    TERN_CHECK(samples[0].at[0]->rank >= 1, TERN_ERR_SHAPE,
               "collate_padded: tensor 0 of sample %lld is a number, and has no length",
               (long long)samples[0].index);
    return TERN_OK;
}

static tern_status copy_row(tern_tensor *rows, int64_t row, tern_tensor *t)
{
    tern_tensor *to = tern_select(rows, 0, row);
    if (t->rank > 0)
        to = tern_narrow(to, 0, 0, t->size[0]);
    return tern_copy_(to, t) ? TERN_OK : tern_error_code();
}

// (count, longest, ..)
static tern_tensor *pad_tensor(const tern_sample *samples, int64_t count, int at, double value)
{
    const tern_tensor *first = samples[0].at[at];
    int64_t longest;
    if (check_tensor(samples, count, at, &longest))
        return NULL;
    TERN_CHECK_PTR(first->rank < TERN_MAX_RANK, TERN_ERR_SHAPE,
                   "collate_padded: tensor %d has %d dimensions, and none is left for the batch",
                   at, first->rank);
    tern_shape shape = {.rank = first->rank + 1, .dim = {count, longest}};
    for (int d = 1; d < first->rank; d++)
        shape.dim[d + 1] = first->size[d];
    tern_tensor *rows = tern_full(shape, value, .dtype = first->dtype, .device = tern_dev(first));
    for (int64_t i = 0; rows && i < count; i++)
        if (copy_row(rows, i, samples[i].at[at]))
            return NULL;
    return rows;
}

static tern_tensor *lengths_of(const tern_sample *samples, int64_t count)
{
    tern_tensor *lengths =
        tern_tensor_new("collate_padded", TERN_INT64, tern_cpu(0), tern_dims(count));
    for (int64_t i = 0; lengths && i < count; i++)
        ((int64_t *)lengths->storage->data)[i] = samples[i].at[0]->size[0];
    return lengths;
}

tern_status tern_collate_padded(const tern_sample *samples, int64_t count, void *user,
                                tern_batch *out)
{
    if (!samples || !out)
        return tern_null_error("collate_padded", samples ? "batch" : "samples");
    TERN_TRY(check_samples(samples, count));
    const double value = user ? *(const double *)user : 0;
    tern_batch made = {0};
    for (; made.count < samples[0].count; made.count++) {
        made.at[made.count] = pad_tensor(samples, count, made.count, value);
        if (!made.at[made.count])
            return tern_error_code();
    }
    made.at[made.count] = lengths_of(samples, count);
    if (!made.at[made.count++])
        return tern_error_code();
    *out = made;
    return TERN_OK;
}
