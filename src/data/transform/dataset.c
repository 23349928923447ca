// SPDX-License-Identifier: Apache-2.0
// The samples of another dataset, transformed.
#include "data/dataset.h"

#include <tern/ops.h>

#include "data/transform/transform.h"

typedef struct transformed {
    tern_dataset base;
    tern_dataset *inner; // references of its own
    tern_transform *transform;
} transformed;

static int64_t count_samples(const tern_dataset *dataset)
{
    return tern_dataset_count(((const transformed *)dataset)->inner);
}

static tern_status get(const tern_dataset *dataset, const tern_sample_context *context,
                       const int64_t *index, int64_t count, tern_batch *out)
{
    const transformed *self = (const transformed *)dataset;
    const tern_sample_context inner = tern_dataset_context();
    TERN_TRY(tern_dataset_fetch("data_transform", self->inner, &inner, index, count, out));
    return tern_transform_run("data_transform", self->transform, context, 0, out);
}

// ---- one sample ---------------------------------------------------------------------------------

static tern_status as_batch(const tern_sample *sample, const int64_t *index, tern_batch *batch)
{
    *batch = (tern_batch){.size = 1, .index = index};
    for (; batch->count < sample->count; batch->count++) {
        batch->at[batch->count] = tern_unsqueeze(sample->at[batch->count], 0);
        if (!batch->at[batch->count])
            return tern_error_code();
    }
    batch->x = batch->at[0];
    batch->y = batch->at[1];
    return TERN_OK;
}

static tern_status item(const tern_dataset *dataset, const tern_sample_context *context,
                        int64_t index, tern_sample *out)
{
    const transformed *self = (const transformed *)dataset;
    const tern_sample_context inner = tern_dataset_context();
    tern_sample sample;
    tern_batch batch;
    TERN_TRY(tern_dataset_make_item("data_transform", self->inner, &inner, index, &sample));
    TERN_TRY(as_batch(&sample, &index, &batch));
    TERN_TRY(tern_transform_run("data_transform", self->transform, context, 0, &batch));
    for (; out->count < batch.count; out->count++)
        out->at[out->count] = tern_select(batch.at[out->count], 0, 0);
    return tern_error_code();
}

// ---- what the inner dataset says ----------------------------------------------------------------

static void release_both(tern_dataset *dataset)
{
    transformed *self = (transformed *)dataset;
    tern_dataset_free(self->inner);
    tern_transform_free(self->transform);
}

static tern_status to(tern_dataset *dataset, tern_device device)
{
    return tern_dataset_to(((transformed *)dataset)->inner, device) ? TERN_OK : tern_error_code();
}

static tern_status visit(tern_dataset *dataset, tern_state_visitor *visitor)
{
    tern_dataset *inner = ((transformed *)dataset)->inner;
    return inner->klass->visit ? inner->klass->visit(inner, visitor) : TERN_OK;
}

static int64_t count_classes(const tern_dataset *dataset)
{
    return tern_dataset_class_count(((const transformed *)dataset)->inner);
}

static const char *name_class(const tern_dataset *dataset, int64_t label)
{
    return tern_dataset_class_name(((const transformed *)dataset)->inner, label);
}

static bool name_sample(const tern_dataset *dataset, int64_t index, char *buffer, size_t size)
{
    return tern_dataset_write_sample_name(((const transformed *)dataset)->inner, index, buffer,
                                          size);
}

// One for datasets that give samples, one for those that give batches, one for those that do both.
enum { HAS_ITEM = 1, HAS_GET = 2 };

#define CLASS(item_function, get_function)                                                         \
    {                                                                                              \
        .name = "data_transform", .size = sizeof(transformed), .count = count_samples,             \
        .item = item_function, .get = get_function, .free = release_both, .to = to,                \
        .visit = visit, .class_count = count_classes, .class_name = name_class,                    \
        .sample_name = name_sample                                                                 \
    }
static const tern_dataset_class classes[] = {
    [HAS_ITEM] = CLASS(item, NULL),
    [HAS_GET] = CLASS(NULL, get),
    [HAS_ITEM | HAS_GET] = CLASS(item, get),
};

tern_dataset *tern_data_transform(tern_dataset *dataset, tern_transform *transform)
{
    if (tern_check_dataset("data_transform", dataset) ||
        tern_check_transform("data_transform", transform))
        return NULL;
    TERN_CHECK_PTR(!transform->mixes, TERN_ERR_ARG,
                   "data_transform: %s mixes the samples of a batch, so it is for batches, not for "
                   "samples: use tern_transform_batch on those of the loader",
                   tern_transform_name(transform));
    const int has = (dataset->klass->item ? HAS_ITEM : 0) | (dataset->klass->get ? HAS_GET : 0);
    transformed *self = (transformed *)tern_dataset_new(&classes[has]);
    if (!self)
        return NULL;
    self->inner = tern_dataset_retain(dataset);
    self->transform = tern_transform_retain(transform);
    return &self->base;
}
