// SPDX-License-Identifier: Apache-2.0
// The samples of another dataset, transformed.
#include "data/dataset.h"

#include <tern/ops.h>

#include "data/transform/transform.h"

typedef struct transformed {
    tern_dataset base;
    tern_dataset *inner; // held, so that users cannot give it back once more
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
    if (sample.count == 0) // the end of a stream
        return TERN_OK;
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
    tern_dataset_release_internal(self->inner);
    tern_transform_free(self->transform);
}

static tern_status to(tern_dataset *dataset, tern_device device)
{
    return tern_dataset_to(((transformed *)dataset)->inner, device) ? TERN_OK : tern_error_code();
}

static tern_status visit(tern_dataset *dataset, tern_state_visitor *visitor)
{
    tern_dataset *inner = ((transformed *)dataset)->inner;
    return inner->klass->visit(inner, visitor);
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

// ---- the class ----------------------------------------------------------------------------------

static tern_status next(tern_dataset *dataset, const tern_sample_context *context, int64_t index,
                        tern_sample *out)
{
    return item(dataset, context, index, out);
}

static tern_status begin(tern_dataset *dataset)
{
    tern_dataset *inner = ((transformed *)dataset)->inner;
    return inner->klass->begin ? inner->klass->begin(inner) : TERN_OK;
}

// What the inner dataset has: samples, batches, both, or it is a stream.
enum { HAS_ITEM = 1, HAS_GET = 2, HAS_NEXT = 4, KINDS };

#define CLASS(visit_function, is_serial, ...)                                                      \
    {                                                                                              \
        .name = "data_transform", .size = sizeof(transformed), .free = release_both, .to = to,     \
        .visit = visit_function, .class_count = count_classes, .class_name = name_class,           \
        .sample_name = name_sample, .serial = is_serial, __VA_ARGS__                               \
    }
#define CLASSES(...)                                                                               \
    {                                                                                              \
        {CLASS(NULL, false, __VA_ARGS__), CLASS(NULL, true, __VA_ARGS__)},                         \
        {                                                                                          \
            CLASS(visit, false, __VA_ARGS__), CLASS(visit, true, __VA_ARGS__)                      \
        }                                                                                          \
    }
// By kind, whether there is something to save, and whether one thread at a time may ask.
static const tern_dataset_class classes[KINDS][2][2] = {
    [HAS_ITEM] = CLASSES(.count = count_samples, .item = item),
    [HAS_GET] = CLASSES(.count = count_samples, .get = get),
    [HAS_ITEM | HAS_GET] = CLASSES(.count = count_samples, .item = item, .get = get),
    [HAS_NEXT] = CLASSES(.next = next, .begin = begin),
};

static const tern_dataset_class *class_for(const tern_dataset *inner)
{
    const tern_dataset_class *klass = inner->klass;
    const int kind =
        (klass->item ? HAS_ITEM : 0) | (klass->get ? HAS_GET : 0) | (klass->next ? HAS_NEXT : 0);
    return &classes[kind][klass->visit != NULL][tern_dataset_is_serial(inner)];
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
    transformed *self = (transformed *)tern_dataset_new(class_for(dataset));
    if (!self)
        return NULL;
    self->inner = tern_dataset_retain_internal(dataset);
    self->transform = tern_transform_retain(transform);
    return &self->base;
}
