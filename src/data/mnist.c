// SPDX-License-Identifier: Apache-2.0
// MNIST and the data sets that came after it in the same four files.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tern/idx.h>
#include <unistd.h>
#include "base/text.h"
#include "data/dataset.h"
#include "data/rows.h"
#include "tensor/op.h"

typedef struct mnist {
    tern_dataset base;
    tern_tensor *images; // uint8 (N, H, W)
    tern_tensor *labels; // uint8 (N)
} mnist;

static int64_t count_samples(const tern_dataset *dataset)
{
    return ((const mnist *)dataset)->images->size[0];
}

static tern_tensor *gather_images(const tern_tensor *images, const int64_t *index, int64_t count)
{
    tern_shape shape = tern_dims(count, 1, images->size[1], images->size[2]);
    tern_tensor *x = tern_tensor_new("data_mnist", TERN_FLOAT32, tern_cpu(0), shape);
    if (x)
        tern_rows_scale(x->storage->data, images->storage->data, images->size[1] * images->size[2],
                        index, count);
    return x;
}

static tern_tensor *gather_labels(const tern_tensor *labels, const int64_t *index, int64_t count)
{
    tern_tensor *y = tern_tensor_new("data_mnist", TERN_INT64, tern_cpu(0), tern_dims(count));
    if (!y)
        return NULL;
    const uint8_t *from = labels->storage->data;
    for (int64_t i = 0; i < count; i++)
        ((int64_t *)y->storage->data)[i] = from[index[i]];
    return y;
}

static tern_status get(tern_dataset *dataset, const int64_t *index, int64_t count, tern_batch *out)
{
    const mnist *self = (const mnist *)dataset;
    out->count = 2;
    out->at[0] = gather_images(self->images, index, count);
    out->at[1] = gather_labels(self->labels, index, count);
    return out->at[0] && out->at[1] ? TERN_OK : TERN_ERR_NOMEM;
}

static void drop_both(tern_dataset *dataset)
{
    tern_drop_as(((mnist *)dataset)->images, TERN_STAMP_HOLDER);
    tern_drop_as(((mnist *)dataset)->labels, TERN_STAMP_HOLDER);
}

static const tern_dataset_class mnist_class = {
    .name = "data_mnist",
    .nbytes = sizeof(mnist),
    .count = count_samples,
    .get = get,
    .free = drop_both,
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
    *slot = tern_hold(t);
    return TERN_OK;
}

static tern_status check_labels(const mnist *self, const tern_data_mnist_options *options)
{
    TERN_CHECK(self->images->size[0] == self->labels->size[0], TERN_ERR_FORMAT,
               "data_mnist: %s has %lld images but %lld labels", options->directory,
               (long long)self->images->size[0], (long long)self->labels->size[0]);
    const uint8_t *label = self->labels->storage->data;
    for (int64_t i = 0; i < self->labels->numel; i++)
        TERN_CHECK(label[i] < options->classes, TERN_ERR_FORMAT,
                   "data_mnist: label %lld in %s is %d, but must be 0 to %lld", (long long)i,
                   options->directory, label[i], (long long)options->classes - 1);
    return TERN_OK;
}

static tern_status load_all(mnist *self, const tern_data_mnist_options *options)
{
    bool train = options->split == TERN_TRAIN;
    TERN_TRY(load(&self->images, options->directory,
                  train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte", 3));
    TERN_TRY(load(&self->labels, options->directory,
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

tern_data_mnist_options tern_data_mnist_defaults(void)
{
    return (tern_data_mnist_options){.classes = 10};
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
