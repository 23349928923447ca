// SPDX-License-Identifier: Apache-2.0
// The samples of another dataset, transformed.
#include <tern/ops.h>

#include "data/compose/inner.h"
#include "data/transform/transform.h"

typedef struct transformed {
    tern_wrapper wrapper;
    tern_transform *transform; // a reference of its own
} transformed;

static tern_status get(const tern_dataset *dataset, const tern_sample_context *context,
                       const int64_t *index, int64_t count, tern_batch *out)
{
    const transformed *self = (const transformed *)dataset;
    const tern_sample_context inner = tern_dataset_context();
    TERN_TRY(tern_dataset_fetch("data_transform", self->wrapper.inner, &inner, index, count, out));
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
    TERN_TRY(tern_dataset_make_item("data_transform", self->wrapper.inner, &inner, index, &sample));
    if (sample.count == 0) // the end of a stream
        return TERN_OK;
    TERN_TRY(as_batch(&sample, &index, &batch));
    TERN_TRY(tern_transform_run("data_transform", self->transform, context, 0, &batch));
    for (; out->count < batch.count; out->count++)
        out->at[out->count] = tern_select(batch.at[out->count], 0, 0);
    return tern_error_code();
}

// ---- the class ----------------------------------------------------------------------------------

static tern_status next(tern_dataset *dataset, const tern_sample_context *context, int64_t index,
                        tern_sample *out)
{
    return item(dataset, context, index, out);
}

static tern_status begin(tern_dataset *dataset)
{
    tern_dataset *inner = ((transformed *)dataset)->wrapper.inner;
    return inner->klass->begin ? inner->klass->begin(inner) : TERN_OK;
}

static void release_both(tern_dataset *dataset)
{
    tern_transform_free(((transformed *)dataset)->transform);
    tern_wrapper_free(dataset);
}

// What the inner dataset has: samples, batches, both, or it is a stream.
enum { HAS_ITEM = 1, HAS_GET = 2, HAS_NEXT = 4, KINDS };

#define CLASS(visit_function, ...)                                                                 \
    {                                                                                              \
        .name = "data_transform", .size = sizeof(transformed), .free = release_both,               \
        .to = tern_wrapper_to, .visit = visit_function, .class_count = tern_wrapper_class_count,   \
        .class_name = tern_wrapper_class_name, .sample_name = tern_wrapper_sample_name,            \
        .is_serial = tern_wrapper_is_serial, __VA_ARGS__                                           \
    }
#define CLASSES(...)                                                                               \
    {                                                                                              \
        CLASS(NULL, __VA_ARGS__), CLASS(tern_wrapper_visit, __VA_ARGS__)                           \
    }
// By kind, and whether there is something to save: streams that have nothing are asked otherwise.
static const tern_dataset_class classes[KINDS][2] = {
    [HAS_ITEM] = CLASSES(.count = tern_wrapper_count, .item = item),
    [HAS_GET] = CLASSES(.count = tern_wrapper_count, .get = get),
    [HAS_ITEM | HAS_GET] = CLASSES(.count = tern_wrapper_count, .item = item, .get = get),
    [HAS_NEXT] = CLASSES(.next = next, .begin = begin),
};

static const tern_dataset_class *class_for(const tern_dataset *inner)
{
    const tern_dataset_class *klass = inner->klass;
    const int kind =
        (klass->item ? HAS_ITEM : 0) | (klass->get ? HAS_GET : 0) | (klass->next ? HAS_NEXT : 0);
    return &classes[kind][klass->visit != NULL];
}

tern_dataset *tern_data_transform(tern_dataset *dataset, tern_transform *transform)
{
    if (tern_check_dataset("data_transform", dataset) ||
        tern_check_transform("data_transform", transform))
        return NULL;
    TERN_CHECK_PTR(!transform->mixes, TERN_ERR_ARG,
                   "data_transform: %s mixes the samples of a batch, so it is for batches, not for "
                   "samples: use tern_transform_batch on those of the loader",
                   tern_transform_name(transform));
    tern_dataset *self = tern_wrapper_new(class_for(dataset), dataset);
    if (self)
        ((transformed *)self)->transform = tern_transform_retain(transform);
    return self;
}
