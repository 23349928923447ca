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
#include "data/file/image_set.h"
#include "ops/op.h"
#include "tensor/header.h"

enum { IMAGES, LABELS };

typedef struct mnist {
    tern_image_set set;
    int64_t classes;
} mnist;

static int64_t class_count(const tern_dataset *dataset)
{
    return ((const mnist *)dataset)->classes;
}

static const tern_dataset_class mnist_class = {
    .name = "data_mnist",
    .size = sizeof(mnist),
    .count = tern_image_set_count,
    .get = tern_image_set_get,
    .free = tern_image_set_free,
    .to = tern_image_set_to,
    .class_count = class_count,
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

// Reads one of the files as uint8 of the given rank.
static tern_status load(tern_tensor **out, const char *directory, const char *name, int rank)
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
    *out = t;
    return TERN_OK;
}

static tern_status check_labels(const tern_tensor *images, const tern_tensor *labels,
                                const tern_data_mnist_options *options)
{
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
    const bool train = options->split == TERN_TRAIN;
    tern_tensor *images, *labels;
    TERN_TRY(load(&images, options->directory,
                  train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte", 3));
    TERN_TRY(load(&labels, options->directory,
                  train ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte", 1));
    TERN_TRY(check_labels(images, labels, options));
    images = tern_unsqueeze(images, 1);
    if (!images)
        return tern_error_code();
    self->classes = options->classes;
    self->set.at[IMAGES] = tern_tensor_retain(images);
    self->set.at[LABELS] = tern_tensor_retain(labels);
    return TERN_OK;
}

static tern_status check_options(const tern_data_mnist_options *options)
{
    if (!options || !options->directory)
        return tern_null_error("data_mnist", options ? "directory" : "options");
    TERN_TRY(tern_check_split("data_mnist", options->split));
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
        return &self->set.base;
    tern_dataset_free((tern_dataset *)self);
    return NULL;
}
