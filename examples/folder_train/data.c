// SPDX-License-Identifier: Apache-2.0
#include "data.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// What has been decoded is kept up to this, so that an epoch after the first one reads no files.
#define CACHED_BYTES (INT64_C(2) << 30)

// ---- files --------------------------------------------------------------------------------------

static bool is_there(const char *directory, const char *name)
{
    char path[4096];
    return snprintf(path, sizeof path, "%s/%s", directory, name) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

static tern_dataset *open_folder(const char *directory, const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return NULL;
    return tern_data_image_folder(path);
}

static tern_status open_split(const char *directory, tern_dataset *parts[2])
{
    tern_dataset *all = tern_data_image_folder(directory);
    tern_status status = tern_data_random_split(all, 2, parts, .fractions = (double[]){0.8, 0.2});
    if (!status && tern_dataset_count(parts[1]) == 0)
        status =
            tern_error_raise(TERN_ERR_ARG, "%s has too few images to test with a fifth", directory);
    tern_dataset_free(all);
    return status;
}

static tern_status open_parts(const char *directory, tern_dataset *parts[2])
{
    const bool idx = is_there(directory, "train-images-idx3-ubyte") ||
                     is_there(directory, "train-images-idx3-ubyte.gz");
    const bool two = is_there(directory, "train") && is_there(directory, "test");
    if (!idx && !two)
        return open_split(directory, parts);
    parts[0] = idx ? tern_data_mnist(directory, TERN_TRAIN) : open_folder(directory, "train");
    parts[1] = idx ? tern_data_mnist(directory, TERN_TEST) : open_folder(directory, "test");
    return tern_error_code();
}

// ---- pixels -------------------------------------------------------------------------------------

// Three channels of one size, about 0. The dataset's reference is taken over.
static tern_dataset *prepared(tern_dataset *files, int64_t size, bool augment)
{
    tern_sample sample;
    const tern_scope scope = tern_scope_open();
    const bool grey =
        files && !tern_dataset_item(files, 0, &sample) && tern_shape_of(sample.x).dim[0] == 1;
    tern_transform *fit = tern_transform_compose(
        grey ? tern_transform_grayscale(3) : tern_transform_random_horizontal_flip(0),
        tern_transform_resize(size), tern_transform_center_crop(size, size));
    tern_transform *change =
        augment ? tern_transform_compose(
                      tern_transform_random_crop(size, .padding = size / 8),
                      tern_transform_random_horizontal_flip(0.5),
                      tern_transform_normalize(tern_channels(0.5), tern_channels(0.5)))
                : tern_transform_normalize(tern_channels(0.5), tern_channels(0.5));
    tern_dataset *fitting = tern_data_transform(files, fit);
    tern_dataset *kept = tern_data_cache(fitting, .max_bytes = CACHED_BYTES);
    tern_dataset *changed = tern_data_transform(kept, change);
    tern_dataset_free(kept);
    tern_dataset_free(fitting);
    tern_dataset_free(files);
    tern_transform_free(fit);
    tern_transform_free(change);
    tern_scope_close(scope);
    return changed;
}

// Both parts have the same folders, so that a label means the same class.
static tern_status check_classes(const char *directory, tern_dataset *parts[2])
{
    const int64_t count = tern_dataset_class_count(parts[0]);
    const int64_t tested = tern_dataset_class_count(parts[1]);
    if (count != tested)
        return tern_error_raise(TERN_ERR_ARG, "%s/train has %lld classes, and test %lld", directory,
                                (long long)count, (long long)tested);
    for (int64_t i = 0; i < count; i++) {
        const char *a = tern_dataset_class_name(parts[0], i);
        const char *b = tern_dataset_class_name(parts[1], i);
        if (a && b && strcmp(a, b) != 0)
            return tern_error_raise(TERN_ERR_ARG, "class %lld of %s/train is %s, and of test %s",
                                    (long long)i, directory, a, b);
    }
    return TERN_OK;
}

tern_status images_open(images *set, const char *directory, int64_t size, bool augment)
{
    tern_dataset *parts[2] = {NULL, NULL};
    *set = (images){0};
    if (!open_parts(directory, parts) && !check_classes(directory, parts))
        set->classes = tern_dataset_class_count(parts[0]);
    if (set->classes == 0) // MNIST's
        set->classes = 10;
    set->train = prepared(parts[0], size, augment);
    set->test = prepared(parts[1], size, false);
    return tern_error_code();
}

void images_free(images *set)
{
    tern_dataset_free(set->train);
    tern_dataset_free(set->test);
}
