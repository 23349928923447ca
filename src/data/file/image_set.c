// SPDX-License-Identifier: Apache-2.0
#include "data/file/image_set.h"

#include <tern/ops.h>

#include "data/rows.h"
#include "ops/op.h"
#include "tensor/header.h"

enum { IMAGES, LABELS, TENSORS };

int64_t tern_image_set_count(const tern_dataset *dataset)
{
    return ((const tern_image_set *)dataset)->at[IMAGES]->size[0];
}

static tern_shape batch_shape(const tern_tensor *images, int64_t count)
{
    tern_shape shape = tern_shape_get(images);
    shape.dim[0] = count;
    return shape;
}

// ---- on the CPU, straight from host memory ------------------------------------------------------

static tern_tensor *scale_rows(const char *op, const tern_tensor *images, const int64_t *index,
                               int64_t count)
{
    tern_tensor *x =
        tern_tensor_new(op, TERN_FLOAT32, tern_dev(images), batch_shape(images, count));
    if (x)
        tern_rows_scale(x->storage->data, images->storage->data, images->numel / images->size[0],
                        index, count);
    return x;
}

static tern_tensor *convert_labels(const char *op, const tern_tensor *labels, const int64_t *index,
                                   int64_t count)
{
    tern_tensor *y = tern_tensor_new(op, TERN_INT64, tern_dev(labels), tern_dims(count));
    if (!y)
        return NULL;
    const uint8_t *from = labels->storage->data;
    for (int64_t i = 0; i < count; i++)
        ((int64_t *)y->storage->data)[i] = from[index[i]];
    return y;
}

// ---- on any device, by operations of the same bits ----------------------------------------------

static tern_tensor *gather_images(tern_tensor *images, tern_tensor *numbers)
{
    tern_tensor *bytes = tern_index_select(images, 0, numbers);
    return tern_div_scalar(tern_to_dtype(bytes, TERN_FLOAT32), 255);
}

static tern_tensor *gather_labels(tern_tensor *labels, tern_tensor *numbers)
{
    return tern_to_dtype(tern_index_select(labels, 0, numbers), TERN_INT64);
}

// ---- the class ----------------------------------------------------------------------------------

tern_status tern_image_set_get(const tern_dataset *dataset, const tern_sample_context *context,
                               const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    tern_tensor *const *at = ((const tern_image_set *)dataset)->at;
    const char *op = dataset->klass->name;
    const tern_device home = tern_dev(at[IMAGES]);
    out->count = TENSORS;
    if (home.type == TERN_CPU) {
        out->at[IMAGES] = scale_rows(op, at[IMAGES], index, count);
        out->at[LABELS] = convert_labels(op, at[LABELS], index, count);
    } else {
        tern_tensor *numbers =
            tern_from_data(tern_dims(count), index, .dtype = TERN_INT64, .device = home);
        out->at[IMAGES] = gather_images(at[IMAGES], numbers);
        out->at[LABELS] = gather_labels(at[LABELS], numbers);
    }
    return out->at[IMAGES] && out->at[LABELS] ? TERN_OK : tern_error_code();
}

void tern_image_set_free(tern_dataset *dataset)
{
    for (int i = 0; i < TENSORS; i++)
        tern_tensor_release_as(((tern_image_set *)dataset)->at[i], TERN_STAMP_HOLDER);
}

tern_status tern_image_set_to(tern_dataset *dataset, tern_device device)
{
    return tern_dataset_move(((tern_image_set *)dataset)->at, TENSORS, device);
}

tern_status tern_check_split(const char *op, tern_data_split split)
{
    TERN_CHECK(split == TERN_TRAIN || split == TERN_TEST, TERN_ERR_ARG,
               "%s: the split must be TERN_TRAIN or TERN_TEST", op);
    return TERN_OK;
}
