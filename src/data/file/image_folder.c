// SPDX-License-Identifier: Apache-2.0
// torchvision's ImageFolder.
#include <limits.h>
#include <stdio.h>
#include <tern/image_data.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "data/dataset.h"
#include "data/file/folder_list.h"
#include "data/file/sample.h"

static const char op[] = "data_image_folder";

typedef struct image_folder {
    tern_dataset base;
    char *directory;
    tern_image_form form;
    tern_folder_list list;
} image_folder;

static int64_t count_samples(const tern_dataset *dataset)
{
    return ((const image_folder *)dataset)->list.count;
}

static tern_status item(const tern_dataset *dataset, const tern_sample_context *context,
                        int64_t index, tern_sample *out)
{
    (void)context;
    const image_folder *self = (const image_folder *)dataset;
    char path[PATH_MAX];
    TERN_TRY(tern_folder_list_path(&self->list, op, self->directory, index, path, sizeof path));
    return tern_image_sample(op, tern_image_from_file(op, path, &self->form),
                             self->list.images[index].label, out);
}

static int64_t count_classes(const tern_dataset *dataset)
{
    return ((const image_folder *)dataset)->list.class_count;
}

static const char *class_name(const tern_dataset *dataset, int64_t label)
{
    return tern_folder_list_class(&((const image_folder *)dataset)->list, label);
}

static bool sample_name(const tern_dataset *dataset, int64_t index, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s",
             tern_folder_list_name(&((const image_folder *)dataset)->list, index));
    return true;
}

static void release(tern_dataset *dataset)
{
    image_folder *self = (image_folder *)dataset;
    tern_mem_free_string(self->directory);
    tern_folder_list_free(&self->list);
}

static const tern_dataset_class image_folder_class = {
    .name = op,
    .size = sizeof(image_folder),
    .count = count_samples,
    .item = item,
    .free = release,
    .class_count = count_classes,
    .class_name = class_name,
    .sample_name = sample_name,
};

static tern_status fill(image_folder *self, const tern_data_image_folder_options *o)
{
    self->directory = tern_mem_string(o->directory);
    if (!self->directory)
        return TERN_ERR_NOMEM;
    return tern_folder_list_read(&self->list, op, o->directory, o->allow_empty,
                                 o->skip_other_formats);
}

tern_dataset *tern_data_image_folder_with(const tern_data_image_folder_options *options)
{
    if (!options || !options->directory) {
        (void)tern_null_error(op, options ? "directory" : "options");
        return NULL;
    }
    const tern_image_form form = {options->dtype, TERN_CHW, options->channels, options->exif,
                                  options->max_pixels};
    if (tern_image_sample_check(op, &form))
        return NULL;
    image_folder *self = (image_folder *)tern_dataset_new(&image_folder_class);
    if (!self)
        return NULL;
    self->form = form;
    const int cancel_state = tern_cancel_disable();
    tern_status status = fill(self, options);
    tern_cancel_restore(cancel_state);
    if (!status)
        return &self->base;
    tern_dataset_free(&self->base);
    return NULL;
}
