// SPDX-License-Identifier: Apache-2.0
// What a dataset calls its classes and its samples.
#include "base/callback.h"
#include "data/dataset.h"

static int64_t count_classes(const char *op, const tern_dataset *dataset)
{
    if (!dataset->klass->class_count)
        return 0;
    tern_callback_begin();
    const int64_t count = dataset->klass->class_count(dataset);
    tern_callback_end();
    if (count < 0 && !tern_error_pending())
        tern_error_raise(TERN_ERR_STATE, "%s: %s says that it has %lld classes", op,
                         tern_dataset_name(dataset), (long long)count);
    return count < 0 ? -1 : count;
}

int64_t tern_dataset_class_count(const tern_dataset *dataset)
{
    if (tern_check_dataset("dataset_class_count", dataset))
        return -1;
    return count_classes("dataset_class_count", dataset);
}

const char *tern_dataset_class_name(const tern_dataset *dataset, int64_t label)
{
    static const char op[] = "dataset_class_name";
    if (tern_check_dataset(op, dataset))
        return NULL;
    const int64_t count = count_classes(op, dataset);
    if (count < 0)
        return NULL;
    TERN_CHECK_PTR(label >= 0 && label < count, TERN_ERR_INDEX,
                   "dataset_class_name: label is %lld, but %s has %lld classes", (long long)label,
                   tern_dataset_name(dataset), (long long)count);
    if (!dataset->klass->class_name)
        return NULL;
    tern_callback_begin();
    const char *name = dataset->klass->class_name(dataset, label);
    tern_callback_end();
    return name;
}

bool tern_dataset_write_sample_name(const tern_dataset *dataset, int64_t index, char *buffer,
                                    size_t size)
{
    if (size > 0)
        buffer[0] = 0;
    if (!dataset->klass->sample_name || size == 0)
        return false;
    tern_callback_begin();
    const bool known = dataset->klass->sample_name(dataset, index, buffer, size);
    tern_callback_end();
    if (!known)
        buffer[0] = 0;
    return known;
}

bool tern_dataset_sample_name(const tern_dataset *dataset, int64_t index, char *buffer, size_t size)
{
    static const char op[] = "dataset_sample_name";
    if (buffer && size > 0)
        buffer[0] = 0;
    if (tern_check_dataset(op, dataset))
        return false;
    if (!buffer) {
        (void)tern_null_error(op, "buffer");
        return false;
    }
    const int64_t samples = tern_dataset_count_for(op, dataset);
    if (samples < 0)
        return false;
    if (index < 0 || index >= samples) {
        (void)tern_error_raise(
            TERN_ERR_INDEX, "dataset_sample_name: index is %lld, but %s has samples 0 to %lld",
            (long long)index, tern_dataset_name(dataset), (long long)samples - 1);
        return false;
    }
    return tern_dataset_write_sample_name(dataset, index, buffer, size);
}
