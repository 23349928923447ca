// SPDX-License-Identifier: Apache-2.0
// MNIST and the data sets that came after it in the same four files.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tern/datasets.h>
#include <tern/idx.h>
#include <tern/ops.h>
#include <unistd.h>
#include "base/text.h"
#include "data/dataset.h"
#include "data/rows.h"
#include "ops/op.h"
#include "tensor/header.h"

enum { IMAGES, LABELS, TENSORS };

typedef struct mnist {
    tern_dataset base;
    tern_tensor *at[TENSORS]; // uint8 (N, H, W) and (N), on one device
} mnist;

static int64_t count_samples(const tern_dataset *dataset)
{
    return ((const mnist *)dataset)->at[IMAGES]->size[0];
}

static tern_shape batch_shape(const tern_tensor *images, int64_t count)
{
    return tern_dims(count, 1, images->size[1], images->size[2]);
}

// ---- on the CPU, straight from host memory ------------------------------------------------------

static tern_tensor *scale_rows(const tern_tensor *images, const int64_t *index, int64_t count)
{
    tern_tensor *x =
        tern_tensor_new("data_mnist", TERN_FLOAT32, tern_dev(images), batch_shape(images, count));
    if (x)
        tern_rows_scale(x->storage->data, images->storage->data, images->size[1] * images->size[2],
                        index, count);
    return x;
}

static tern_tensor *convert_labels(const tern_tensor *labels, const int64_t *index, int64_t count)
{
    tern_tensor *y = tern_tensor_new("data_mnist", TERN_INT64, tern_dev(labels), tern_dims(count));
    if (!y)
        return NULL;
    const uint8_t *from = labels->storage->data;
    for (int64_t i = 0; i < count; i++)
        ((int64_t *)y->storage->data)[i] = from[index[i]];
    return y;
}

// ---- on any device, by operations of the same bits ----------------------------------------------

static tern_tensor *gather_images(tern_tensor *images, tern_tensor *numbers, int64_t count)
{
    tern_tensor *bytes = tern_index_select(images, 0, numbers);
    tern_tensor *x = tern_div_scalar(tern_to_dtype(bytes, TERN_FLOAT32), 255);
    return x ? tern_reshape(x, batch_shape(images, count)) : NULL;
}

static tern_tensor *gather_labels(tern_tensor *labels, tern_tensor *numbers)
{
    return tern_to_dtype(tern_index_select(labels, 0, numbers), TERN_INT64);
}

// ---- the class ----------------------------------------------------------------------------------

static tern_status get(const tern_dataset *dataset, const tern_sample_context *context,
                       const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    const mnist *self = (const mnist *)dataset;
    tern_device home = tern_dev(self->at[IMAGES]);
    out->count = TENSORS;
    if (home.type == TERN_CPU) {
        out->at[IMAGES] = scale_rows(self->at[IMAGES], index, count);
        out->at[LABELS] = convert_labels(self->at[LABELS], index, count);
    } else {
        tern_tensor *numbers =
            tern_from_data(tern_dims(count), index, .dtype = TERN_INT64, .device = home);
        out->at[IMAGES] = gather_images(self->at[IMAGES], numbers, count);
        out->at[LABELS] = gather_labels(self->at[LABELS], numbers);
    }
    return out->at[IMAGES] && out->at[LABELS] ? TERN_OK : tern_error_code();
}

static void release_both(tern_dataset *dataset)
{
    for (int i = 0; i < TENSORS; i++)
        tern_tensor_release_as(((mnist *)dataset)->at[i], TERN_STAMP_HOLDER);
}

static tern_status to(tern_dataset *dataset, tern_device device)
{
    return tern_dataset_move(((mnist *)dataset)->at, TENSORS, device);
}

static const tern_dataset_class mnist_class = {
    .name = "data_mnist",
    .size = sizeof(mnist),
    .count = count_samples,
    .get = get,
    .free = release_both,
    .to = to,
};

// The path of "train-images-idx3-ubyte" or the like: as it is, or with .gz added.
static tern_status find_file(char path[PATH_MAX], const char *directory, const char *name)
{
    const int saved = errno;
    static const char *const endings[] = {"", ".gz"};
    for (int i = 0; i < 2; i++) {
        int length = snprintf(path, PATH_MAX, "%s/%s%s", directory, name, endings[i]);
        TERN_CHECK(length > 0 && length < PATH_MAX, TERN_ERR_ARG,
                   "data_mnist: the name of the directory is too long");
        bool there = access(path, F_OK) == 0;
        errno = saved;
        if (there)
            return TERN_OK;
    }
    int reason = access(directory, F_OK) == 0 ? 0 : errno;
    errno = saved;
    TERN_CHECK(reason == 0, TERN_ERR_IO, "data_mnist: there is no directory %s: %s", directory,
               tern_text_reason(reason));
    return tern_error_raise(TERN_ERR_IO, "data_mnist: %s has neither %s nor %s.gz", directory, name,
                            name);
}

// Reads one of the files as uint8 of the given rank; holds it in *slot.
static tern_status load(tern_tensor **slot, const char *directory, const char *name, int rank)
{
    char path[PATH_MAX];
    TERN_TRY(find_file(path, directory, name));
    tern_tensor *t = tern_idx_read(path);
    if (!t)
        return tern_error_code();
    TERN_CHECK(t->dtype == TERN_UINT8 && t->rank == rank, TERN_ERR_FORMAT,
               "data_mnist: %s in %s is %s %s, but must be uint8 with %d dimension%s", name,
               directory, tern_dtype_name(t->dtype), tern_shape_string(tern_shape_get(t)), rank,
               rank == 1 ? "" : "s");
    *slot = tern_tensor_retain(t);
    return TERN_OK;
}

static tern_status check_labels(const mnist *self, const tern_data_mnist_options *options)
{
    const tern_tensor *images = self->at[IMAGES], *labels = self->at[LABELS];
    TERN_CHECK(images->size[0] == labels->size[0], TERN_ERR_FORMAT,
               "data_mnist: %s has %lld images but %lld labels", options->directory,
               (long long)images->size[0], (long long)labels->size[0]);
    const uint8_t *label = labels->storage->data;
    for (int64_t i = 0; i < labels->numel; i++)
        TERN_CHECK(label[i] < options->classes, TERN_ERR_FORMAT,
                   "data_mnist: label %lld in %s is %d, but must be 0 to %lld", (long long)i,
                   options->directory, label[i], (long long)options->classes - 1);
    return TERN_OK;
}

static tern_status load_all(mnist *self, const tern_data_mnist_options *options)
{
    bool train = options->split == TERN_TRAIN;
    TERN_TRY(load(&self->at[IMAGES], options->directory,
                  train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte", 3));
    TERN_TRY(load(&self->at[LABELS], options->directory,
                  train ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte", 1));
    return check_labels(self, options);
}

static tern_status check_options(const tern_data_mnist_options *options)
{
    if (!options || !options->directory)
        return tern_null_error("data_mnist", options ? "directory" : "options");
    TERN_CHECK(options->split == TERN_TRAIN || options->split == TERN_TEST, TERN_ERR_ARG,
               "data_mnist: the split must be TERN_TRAIN or TERN_TEST");
    TERN_CHECK(options->classes >= 1 && options->classes <= 256, TERN_ERR_ARG,
               "data_mnist: classes is %lld, but must be 1 to 256", (long long)options->classes);
    return TERN_OK;
}

tern_dataset *tern_data_mnist_with(const tern_data_mnist_options *options)
{
    if (check_options(options))
        return NULL;
    tern_scope scope = tern_scope_open();
    if (!scope)
        return NULL;
    mnist *self = (mnist *)tern_dataset_new(&mnist_class);
    tern_status status = self ? load_all(self, options) : TERN_ERR_NOMEM;
    tern_scope_close(scope);
    if (!status)
        return &self->base;
    tern_dataset_free((tern_dataset *)self);
    return NULL;
}
