// SPDX-License-Identifier: Apache-2.0
// CIFAR-10 and CIFAR-100 in their binary versions: records of one or two labels and an image.
// A. Krizhevsky, "Learning multiple layers of features from tiny images", 2009.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "data/file/image_set.h"
#include "data/file/names.h"
#include "data/file/path.h"
#include "io/file.h"
#include "ops/op.h"
#include "tensor/header.h"

enum { IMAGES, LABELS };

#define IMAGE_BYTES 3072 // (3, 32, 32)
#define MAX_FILES   5
// What is read at once.
#define CHUNK_RECORDS 16

// How the files of a data set are.
typedef struct layout {
    const char *op;
    const char *const *files; // NULL behind the last
    const char *names;        // the file of its classes' names
    int64_t record;           // bytes
    int64_t label;            // which byte of a record
    int64_t classes;
} layout;

typedef struct cifar {
    tern_image_set set;
    const layout *layout;
    int64_t end[MAX_FILES]; // of each file: the number of the sample behind its last one
    tern_class_names names;
} cifar;

static const char *const train_10[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                       "data_batch_4.bin", "data_batch_5.bin", NULL};
static const char *const test_10[] = {"test_batch.bin", NULL};
static const char *const train_100[] = {"train.bin", NULL};
static const char *const test_100[] = {"test.bin", NULL};

enum { TRAIN_10, TEST_10, TRAIN_FINE, TEST_FINE, TRAIN_COARSE, TEST_COARSE };

#define LAYOUT_10(files_)                                                                          \
    {                                                                                              \
        .op = "data_cifar10", .files = files_, .names = "batches.meta.txt",                        \
        .record = 1 + IMAGE_BYTES, .label = 0, .classes = 10                                       \
    }
#define LAYOUT_100(files_, names_, label_, classes_)                                               \
    {                                                                                              \
        .op = "data_cifar100", .files = files_, .names = names_, .record = 2 + IMAGE_BYTES,        \
        .label = label_, .classes = classes_                                                       \
    }
static const layout layouts[] = {
    [TRAIN_10] = LAYOUT_10(train_10),
    [TEST_10] = LAYOUT_10(test_10),
    [TRAIN_FINE] = LAYOUT_100(train_100, "fine_label_names.txt", 1, 100),
    [TEST_FINE] = LAYOUT_100(test_100, "fine_label_names.txt", 1, 100),
    [TRAIN_COARSE] = LAYOUT_100(train_100, "coarse_label_names.txt", 0, 20),
    [TEST_COARSE] = LAYOUT_100(test_100, "coarse_label_names.txt", 0, 20),
};

// ---- the class ----------------------------------------------------------------------------------

static int64_t class_count(const tern_dataset *dataset)
{
    return ((const cifar *)dataset)->layout->classes;
}

static const char *class_name(const tern_dataset *dataset, int64_t label)
{
    return tern_class_names_at(&((const cifar *)dataset)->names, label);
}

static bool sample_name(const tern_dataset *dataset, int64_t index, char *buffer, size_t size)
{
    const cifar *self = (const cifar *)dataset;
    int file = 0;
    while (self->end[file] <= index)
        file++;
    snprintf(buffer, size, "record %lld of %s",
             (long long)(index - (file > 0 ? self->end[file - 1] : 0)), self->layout->files[file]);
    return true;
}

static void release(tern_dataset *dataset)
{
    tern_class_names_free(&((cifar *)dataset)->names);
    tern_image_set_free(dataset);
}

#define CIFAR_CLASS(name_)                                                                         \
    {                                                                                              \
        .name = name_, .size = sizeof(cifar), .count = tern_image_set_count,                       \
        .get = tern_image_set_get, .free = release, .to = tern_image_set_to,                       \
        .class_count = class_count, .class_name = class_name, .sample_name = sample_name           \
    }
static const tern_dataset_class cifar10_class = CIFAR_CLASS("data_cifar10");
static const tern_dataset_class cifar100_class = CIFAR_CLASS("data_cifar100");

// ---- reading ------------------------------------------------------------------------------------

// The numbers of records are those that the sizes of the files say.
static tern_status measure(cifar *self, tern_file *files)
{
    const layout *l = self->layout;
    int64_t end = 0;
    for (int i = 0; l->files[i]; i++) {
        TERN_TRY(tern_file_stat(&files[i]));
        TERN_CHECK(files[i].size > 0 && files[i].size % l->record == 0, TERN_ERR_FORMAT,
                   "%s: %s has %lld bytes, but must have one or more records of %lld", l->op,
                   files[i].path, (long long)files[i].size, (long long)l->record);
        end += files[i].size / l->record;
        self->end[i] = end;
    }
    return TERN_OK;
}

static tern_status make_tensors(cifar *self, int64_t samples)
{
    const char *op = self->layout->op;
    tern_tensor *images =
        tern_tensor_new(op, TERN_UINT8, tern_cpu(0), tern_dims(samples, 3, 32, 32));
    tern_tensor *labels =
        images ? tern_tensor_new(op, TERN_UINT8, tern_cpu(0), tern_dims(samples)) : NULL;
    if (!labels)
        return tern_error_code();
    self->set.at[IMAGES] = tern_tensor_retain(images);
    self->set.at[LABELS] = tern_tensor_retain(labels);
    return TERN_OK;
}

static tern_status take_records(const cifar *self, const tern_file *file, const uint8_t *records,
                                int64_t record, int64_t count, int64_t sample)
{
    const layout *l = self->layout;
    uint8_t *images = self->set.at[IMAGES]->storage->data;
    uint8_t *labels = self->set.at[LABELS]->storage->data;
    for (int64_t i = 0; i < count; i++, records += l->record) {
        const uint8_t label = records[l->label];
        TERN_CHECK(label < l->classes, TERN_ERR_FORMAT,
                   "%s: record %lld of %s has the label %d, but labels are 0 to %lld", l->op,
                   (long long)(record + i), file->path, label, (long long)l->classes - 1);
        labels[sample + i] = label;
        memcpy(images + (sample + i) * IMAGE_BYTES, records + l->record - IMAGE_BYTES, IMAGE_BYTES);
    }
    return TERN_OK;
}

static tern_status read_file(const cifar *self, tern_file *file, int64_t sample, uint8_t *chunk)
{
    const int64_t size = self->layout->record, records = file->size / size;
    for (int64_t at = 0; at < records; at += CHUNK_RECORDS) {
        const int64_t count = records - at < CHUNK_RECORDS ? records - at : CHUNK_RECORDS;
        TERN_TRY(tern_file_read_at(file, at * size, chunk, (size_t)(count * size)));
        TERN_TRY(take_records(self, file, chunk, at, count, sample + at));
    }
    return tern_file_check_same(file);
}

static tern_status read_records(cifar *self, tern_file *files)
{
    const size_t nbytes = (size_t)self->layout->record * CHUNK_RECORDS;
    uint8_t *chunk = tern_mem_alloc(nbytes);
    tern_status status = chunk ? TERN_OK : TERN_ERR_NOMEM;
    for (int i = 0; self->layout->files[i] && !status; i++)
        status = read_file(self, &files[i], i > 0 ? self->end[i - 1] : 0, chunk);
    tern_mem_free(chunk, nbytes);
    return status;
}

// All files are open before the first one is read: what is missing is found at once.
static tern_status read_files(cifar *self, const char *directory)
{
    const layout *l = self->layout;
    char path[MAX_FILES][PATH_MAX];
    tern_file files[MAX_FILES];
    tern_status status = TERN_OK;
    int opened = 0;
    for (; l->files[opened] && !status; opened += !status) {
        status = tern_path_join(path[opened], l->op, directory, l->files[opened]);
        if (!status)
            status = tern_file_open(&files[opened], l->op, path[opened]);
    }
    if (!status)
        status = measure(self, files);
    if (!status)
        status = make_tensors(self, self->end[opened - 1]);
    if (!status)
        status = read_records(self, files);
    while (opened > 0)
        tern_file_close(&files[--opened]);
    return status;
}

static tern_status read_all(cifar *self, const char *directory)
{
    char path[PATH_MAX];
    const layout *l = self->layout;
    TERN_TRY(tern_path_join(path, l->op, directory, l->names));
    TERN_TRY(tern_class_names_read(&self->names, l->op, path, l->classes));
    return read_files(self, directory);
}

static tern_dataset *make(const tern_dataset_class *klass, const layout *l, const char *directory)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return NULL;
    cifar *self = (cifar *)tern_dataset_new(klass);
    if (self)
        self->layout = l;
    const int saved = errno, cancel_state = tern_cancel_disable();
    tern_status status = self ? read_all(self, directory) : TERN_ERR_NOMEM;
    tern_cancel_restore(cancel_state);
    errno = saved;
    tern_scope_close(scope);
    if (!status)
        return &self->set.base;
    tern_dataset_free((tern_dataset *)self);
    return NULL;
}

tern_dataset *tern_data_cifar10(const char *directory, tern_data_split split)
{
    if (!directory) {
        (void)tern_null_error("data_cifar10", "directory");
        return NULL;
    }
    if (tern_check_split("data_cifar10", split))
        return NULL;
    return make(&cifar10_class, &layouts[split == TERN_TRAIN ? TRAIN_10 : TEST_10], directory);
}

tern_dataset *tern_data_cifar100_with(const tern_data_cifar100_options *options)
{
    if (!options || !options->directory) {
        (void)tern_null_error("data_cifar100", options ? "directory" : "options");
        return NULL;
    }
    if (tern_check_split("data_cifar100", options->split))
        return NULL;
    const int first = options->coarse ? TRAIN_COARSE : TRAIN_FINE;
    return make(&cifar100_class, &layouts[first + (options->split == TERN_TEST)],
                options->directory);
}
