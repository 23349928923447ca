// SPDX-License-Identifier: Apache-2.0
// Some of the samples of another dataset, by their numbers there.
#include "data/compose/subset.h"

#include <string.h>
#include <tern/datasets.h>

#include "base/hash.h"
#include "base/integer.h"
#include "base/mem.h"
#include "data/compose/inner.h"

static const char op[] = "data_subset";

typedef struct subset {
    tern_wrapper over;
    int64_t *index; // (count): numbers of the inner dataset
    int64_t count;
} subset;

static int64_t count_samples(const tern_dataset *dataset)
{
    return ((const subset *)dataset)->count;
}

static tern_status item(const tern_dataset *dataset, const tern_sample_context *context,
                        int64_t index, tern_sample *out)
{
    const subset *self = (const subset *)dataset;
    const int64_t number = self->index[index];
    TERN_TRY(tern_inner_check(op, self->over.inner, number));
    return tern_dataset_make_sample(op, self->over.inner, context, number, out);
}

static tern_status fetch(const subset *self, const tern_sample_context *context,
                         const int64_t *number, int64_t count, tern_batch *out)
{
    int64_t max = 0;
    tern_batch made;
    for (int64_t i = 0; i < count; i++)
        max = max_int64(max, number[i]);
    TERN_TRY(tern_inner_check(op, self->over.inner, max));
    TERN_TRY(tern_dataset_fetch(op, self->over.inner, context, number, count, &made));
    tern_inner_hand_on(&made, out);
    return TERN_OK;
}

static tern_status get(const tern_dataset *dataset, const tern_sample_context *context,
                       const int64_t *index, int64_t count, tern_batch *out)
{
    const subset *self = (const subset *)dataset;
    const size_t nbytes = (size_t)count * sizeof(int64_t);
    int64_t *number = tern_cache_alloc(nbytes);
    if (!number)
        return TERN_ERR_NOMEM;
    for (int64_t i = 0; i < count; i++)
        number[i] = self->index[index[i]];
    tern_status status = fetch(self, context, number, count, out);
    tern_cache_free(number, nbytes);
    return status;
}

static void release(tern_dataset *dataset)
{
    subset *self = (subset *)dataset;
    tern_mem_free(self->index, (size_t)self->count * sizeof *self->index);
    tern_wrapper_free(dataset);
}

// A state of other samples does not fit: going on with it would train on what it was tested with.
static tern_status visit(tern_dataset *dataset, tern_state_visitor *visitor)
{
    const subset *self = (const subset *)dataset;
    int64_t saved, hash = 0;
    if (self->count > 0)
        hash = (int64_t)(tern_hash(self->index, (size_t)self->count * sizeof *self->index) >> 1);
    if (tern_visit_peek_int(visitor, "samples", &saved) && saved != hash)
        return tern_visit_refuse(visitor, "samples", "is of a subset of other samples");
    TERN_TRY(tern_visit_int(visitor, "samples", &hash));
    return tern_visit_part(visitor, "dataset", tern_inner_visit, self->over.inner);
}

static bool sample_name(const tern_dataset *dataset, int64_t index, char *buffer, size_t size)
{
    const subset *self = (const subset *)dataset;
    return tern_wrapper_sample_name(dataset, self->index[index], buffer, size);
}

static const tern_dataset_class subset_class = {
    .name = op,
    .size = sizeof(subset),
    .count = count_samples,
    .item = item,
    .get = get,
    .free = release,
    .to = tern_wrapper_to,
    .visit = visit,
    .class_count = tern_wrapper_class_count,
    .class_name = tern_wrapper_class_name,
    .sample_name = sample_name,
    .is_serial = tern_wrapper_is_serial,
};

tern_dataset *tern_subset_new(tern_dataset *inner, const int64_t *index, int64_t count)
{
    const size_t nbytes = (size_t)count * sizeof *index;
    int64_t *copy = count > 0 ? tern_mem_alloc(nbytes) : NULL;
    if (count > 0 && !copy)
        return NULL;
    subset *self = (subset *)tern_wrapper_new(&subset_class, inner);
    if (!self) {
        tern_mem_free(copy, nbytes);
        return NULL;
    }
    if (count > 0)
        memcpy(copy, index, nbytes);
    self->index = copy;
    self->count = count;
    return &self->over.base;
}

void tern_subset_renumber(tern_dataset *dataset, const int64_t *index)
{
    subset *self = (subset *)dataset;
    if (self->count > 0)
        memcpy(self->index, index, (size_t)self->count * sizeof *index);
}

static tern_status check(tern_dataset *inner, const int64_t *index, int64_t count)
{
    TERN_TRY(tern_check_dataset(op, inner));
    TERN_CHECK(count >= 0, TERN_ERR_ARG, "%s: count is %lld, but must be at least 0", op,
               (long long)count);
    if (!index && count > 0)
        return tern_null_error(op, "index");
    const int64_t samples = tern_dataset_count_for(op, inner);
    if (samples < 0)
        return tern_error_code();
    for (int64_t i = 0; i < count; i++)
        TERN_CHECK(index[i] >= 0 && index[i] < samples, TERN_ERR_INDEX,
                   "%s: index[%lld] is %lld, but %s has samples 0 to %lld", op, (long long)i,
                   (long long)index[i], tern_dataset_name(inner), (long long)samples - 1);
    return TERN_OK;
}

tern_dataset *tern_data_subset(tern_dataset *dataset, const int64_t *index, int64_t count)
{
    return check(dataset, index, count) ? NULL : tern_subset_new(dataset, index, count);
}
