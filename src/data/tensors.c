// SPDX-License-Identifier: Apache-2.0
// A dataset over tensors that are in memory already.
#include <string.h>
#include <tern/datasets.h>
#include <tern/ops.h>
#include "data/dataset.h"
#include "data/rows.h"
#include "ops/op.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

typedef struct tensors {
    tern_dataset base;
    int count;
    tern_tensor *at[TERN_BATCH_TENSORS];
} tensors;

static int64_t count_samples(const tern_dataset *dataset)
{
    return ((const tensors *)dataset)->at[0]->size[0];
}

// Straight from host memory; no tensor of indices is needed.
static tern_tensor *gather_on_cpu(const tern_tensor *t, const int64_t *index, int64_t count)
{
    tern_shape shape = tern_shape_get(t);
    shape.dim[0] = count;
    tern_tensor *out = tern_tensor_new("data_tensors", t->dtype, tern_dev(t), shape);
    if (!out)
        return NULL;
    int64_t size = (int64_t)tern_dtype_size(t->dtype);
    const char *from = (const char *)t->storage->data + t->offset * size;
    tern_rows_copy(out->storage->data, from, t->numel / t->size[0] * size, index, count);
    return out;
}

static tern_tensor *gather(tern_tensor *t, const int64_t *index, int64_t count)
{
    if (tern_dev(t).type == TERN_CPU && t->contiguous)
        return gather_on_cpu(t, index, count);
    tern_tensor *numbers =
        tern_from_data(tern_dims(count), index, .dtype = TERN_INT64, .device = tern_dev(t));
    return tern_index_select(t, 0, numbers);
}

static tern_status get(const tern_dataset *dataset, const tern_sample_context *context,
                       const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    const tensors *self = (const tensors *)dataset;
    for (; out->count < self->count; out->count++) {
        out->at[out->count] = gather(self->at[out->count], index, count);
        if (!out->at[out->count])
            return tern_error_code();
    }
    return TERN_OK;
}

static void release_all(tern_dataset *dataset)
{
    tensors *self = (tensors *)dataset;
    for (int i = 0; i < self->count; i++)
        tern_tensor_release_as(self->at[i], TERN_STAMP_HOLDER);
}

static tern_status to(tern_dataset *dataset, tern_device device)
{
    tensors *self = (tensors *)dataset;
    return tern_dataset_move(self->at, self->count, device);
}

static const tern_dataset_class tensors_class = {
    .name = "data_tensors",
    .size = sizeof(tensors),
    .count = count_samples,
    .get = get,
    .free = release_all,
    .to = to,
};

static tern_status check(int count, tern_tensor *const *list)
{
    static const char *const names[TERN_BATCH_TENSORS] = {"tensor 0", "tensor 1", "tensor 2",
                                                          "tensor 3", "tensor 4", "tensor 5",
                                                          "tensor 6", "tensor 7"};
    TERN_CHECK(count >= 1 && count <= TERN_BATCH_TENSORS, TERN_ERR_ARG,
               "data_tensors: %d tensors were given, but a sample has 1 to %d", count,
               TERN_BATCH_TENSORS);
    for (int i = 0; i < count; i++) {
        TERN_TRY(tern_check_tensor("data_tensors", names[i], list[i]));
        TERN_CHECK(list[i]->rank >= 1, TERN_ERR_SHAPE,
                   "data_tensors: tensor %d has no dimension to count samples by", i);
        TERN_CHECK(list[i]->size[0] == list[0]->size[0], TERN_ERR_SHAPE,
                   "data_tensors: tensor 0 has shape %s and tensor %d %s: their first sizes must "
                   "agree",
                   tern_shape_string(tern_shape_get(list[0])), i,
                   tern_shape_string(tern_shape_get(list[i])));
    }
    return TERN_OK;
}

tern_dataset *tern_data_tensors_new(int count, tern_tensor *const *list)
{
    if (!list) {
        (void)tern_null_error("data_tensors", "tensors");
        return NULL;
    }
    if (check(count, list))
        return NULL;
    tensors *self = (tensors *)tern_dataset_new(&tensors_class);
    if (!self)
        return NULL;
    for (; self->count < count; self->count++)
        self->at[self->count] = tern_tensor_retain(list[self->count]);
    return &self->base;
}
