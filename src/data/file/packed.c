// SPDX-License-Identifier: Apache-2.0
// Images from a file that tern_data_pack wrote, each by a read of its own.
#include "data/file/packed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tern/image_data.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/fork.h"
#include "base/mem.h"
#include "data/dataset.h"
#include "data/file/sample.h"
#include "io/archive.h"

static const char op[] = "data_packed";

typedef struct packed {
    tern_dataset base;
    tern_image_form form;
    char *path;
    tern_file file;
    int64_t count, class_count;
    int64_t images_at, images_nbytes; // in the file
    bool raw;
    int64_t height, width; // of raw images
    uint8_t *lists; // offsets of encoded images, labels, then the texts: as the file has them
    size_t lists_nbytes;
    const uint8_t *offsets, *labels; // little-endian
    const char **classes, **names;   // (class_count), (count)
} packed;

// ---- samples ------------------------------------------------------------------------------------

static tern_tensor *make_raw(const packed *self, uint8_t *bytes, size_t nbytes)
{
    const tern_pixels pixels = {self->height, self->width, 3, bytes, nbytes};
    return tern_pixels_to_tensor(op, &pixels, &self->form);
}

static tern_tensor *read_image(const packed *self, int64_t index)
{
    int64_t at = self->images_nbytes / (self->count ? self->count : 1) * index;
    int64_t nbytes = self->raw ? self->height * self->width * 3 : 0;
    if (!self->raw) {
        at = (int64_t)get_u64(self->offsets + 8 * index);
        nbytes = (int64_t)get_u64(self->offsets + 8 * index + 8) - at;
    }
    uint8_t *bytes = tern_cache_alloc((size_t)nbytes);
    if (!bytes)
        return NULL;
    const tern_image_source source = {op, tern_file_shown(self->names[index]), bytes,
                                      (size_t)nbytes};
    tern_file file = self->file; // the same descriptor
    tern_tensor *x = NULL;
    if (!tern_file_read_at(&file, self->images_at + at, bytes, (size_t)nbytes))
        x = self->raw ? make_raw(self, bytes, (size_t)nbytes)
                      : tern_image_from_source(&source, &self->form);
    tern_cache_free(bytes, (size_t)nbytes);
    return x;
}

static tern_status item(const tern_dataset *dataset, const tern_sample_context *context,
                        int64_t index, tern_sample *out)
{
    (void)context;
    const packed *self = (const packed *)dataset;
    const int saved = errno;
    tern_tensor *x = read_image(self, index);
    errno = saved;
    return tern_image_sample(op, x, (int64_t)get_u64(self->labels + 8 * index), out);
}

static int64_t count_samples(const tern_dataset *dataset)
{
    return ((const packed *)dataset)->count;
}

static int64_t count_classes(const tern_dataset *dataset)
{
    return ((const packed *)dataset)->class_count;
}

static const char *class_name(const tern_dataset *dataset, int64_t label)
{
    return ((const packed *)dataset)->classes[label];
}

static bool sample_name(const tern_dataset *dataset, int64_t index, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", ((const packed *)dataset)->names[index]);
    return true;
}

static void release(tern_dataset *dataset)
{
    packed *self = (packed *)dataset;
    if (self->path)
        tern_file_close(&self->file);
    tern_mem_free_string(self->path);
    tern_mem_free(self->lists, self->lists_nbytes);
    tern_mem_free(self->classes, (size_t)(self->class_count + 1) * sizeof *self->classes);
    tern_mem_free(self->names, (size_t)(self->count + 1) * sizeof *self->names);
}

static const tern_dataset_class packed_class = {
    .name = op,
    .size = sizeof(packed),
    .count = count_samples,
    .item = item,
    .free = release,
    .class_count = count_classes,
    .class_name = class_name,
    .sample_name = sample_name,
};

// ---- the file -----------------------------------------------------------------------------------

static tern_status refuse(const packed *self, const char *why)
{
    return tern_error_raise(TERN_ERR_FORMAT, "%s: %s is no packed file of images: %s", op,
                            self->file.path, why);
}

// A tensor of that dtype and rank; 0 for the rank: any.
static const tern_file_value *find(const tern_archive *archive, const char *name, const char *dtype,
                                   int rank)
{
    const tern_file_value *value = tern_archive_find(archive, name);
    if (!value || !tern_file_value_has_elements(value) || strcmp(value->dtype, dtype) != 0 ||
        (rank > 0 && value->rank != rank))
        return NULL;
    return value;
}

typedef struct contents {
    const tern_file_value *images, *offsets, *labels, *classes, *names;
} contents;

static tern_status find_all(packed *self, const tern_archive *archive, contents *found)
{
    *found = (contents){.images = find(archive, TERN_PACKED_IMAGES, "U8", 0),
                        .offsets = find(archive, TERN_PACKED_OFFSETS, "I64", 1),
                        .labels = find(archive, TERN_PACKED_LABELS, "I64", 1),
                        .classes = find(archive, TERN_PACKED_CLASSES, "U8", 1),
                        .names = find(archive, TERN_PACKED_NAMES, "U8", 1)};
    if (!found->images || !found->labels || !found->classes || !found->names)
        return refuse(self, "it has not all of images, labels, classes and names as tern_data_pack "
                            "writes them");
    const int64_t *shape = found->images->shape;
    self->count = found->labels->shape[0];
    self->raw = found->images->rank == 4;
    if (self->raw && (shape[0] != self->count || shape[3] != 3))
        return refuse(self, "the shape of images does not fit the labels");
    if (!self->raw && (found->images->rank != 1 || !found->offsets ||
                       found->offsets->shape[0] != self->count + 1))
        return refuse(self, "the offsets do not fit the labels");
    self->height = self->raw ? shape[1] : 0;
    self->width = self->raw ? shape[2] : 0;
    return TERN_OK;
}

static tern_status check_raw_size(const packed *self)
{
    if (!self->raw || self->count == 0)
        return TERN_OK;
    TERN_CHECK(!self->form.exif, TERN_ERR_ARG,
               "%s: %s has raw pixels, which .exif does not turn: it is for packing them", op,
               self->file.path);
    TERN_CHECK(self->form.channels != 4, TERN_ERR_ARG,
               "%s: %s has raw pixels, which are without alpha: .channels is 4, but must be 1 or 3",
               op, self->file.path);
    const tern_image_source source = {op, self->file.path, NULL, 0};
    return tern_image_check_size(&source, &self->form, self->height, self->width);
}

// Reads a tensor's bytes behind those that are there.
static tern_status read_list(packed *self, const tern_archive *archive,
                             const tern_file_value *value, const uint8_t **list, size_t *used)
{
    const tern_file_storage *storage = &archive->storages[value->storage];
    uint8_t *to = self->lists + *used;
    *list = to;
    *used += (size_t)storage->nbytes;
    return tern_file_read_at(&self->file, storage->at, to, (size_t)storage->nbytes);
}

static int64_t nbytes_of(const tern_archive *archive, const tern_file_value *value)
{
    return value ? archive->storages[value->storage].nbytes : 0;
}

// ---- what the lists say -------------------------------------------------------------------------

// Finds the texts of a list that ends with a 0; their number, or -1 without one at the end.
static int64_t count_texts(const char *bytes, int64_t nbytes)
{
    int64_t count = 0;
    for (int64_t i = 0; i < nbytes; i++)
        count += bytes[i] == 0;
    return nbytes == 0 || bytes[nbytes - 1] == 0 ? count : -1;
}

static const char **find_texts(const char *bytes, int64_t count)
{
    const char **texts = tern_mem_alloc((size_t)(count + 1) * sizeof *texts);
    for (int64_t i = 0; texts && i < count; i++) {
        texts[i] = bytes;
        bytes += strlen(bytes) + 1;
    }
    return texts;
}

static tern_status check_numbers(const packed *self)
{
    uint64_t before = 0;
    for (int64_t i = 0; i < self->count; i++)
        if (get_u64(self->labels + 8 * i) >= (uint64_t)self->class_count)
            return refuse(self, "a label is none of the classes");
    for (int64_t i = 0; !self->raw && i <= self->count; i++) {
        const uint64_t offset = get_u64(self->offsets + 8 * i);
        if (offset < before || offset > (uint64_t)self->images_nbytes)
            return refuse(self, "the offsets are not in order or lead out of the images");
        before = offset;
    }
    return TERN_OK;
}

static tern_status take_texts(packed *self, const char *classes, int64_t classes_nbytes,
                              const char *names, int64_t names_nbytes)
{
    const int64_t class_count = count_texts(classes, classes_nbytes);
    if (class_count < 0 || count_texts(names, names_nbytes) != self->count)
        return refuse(self, "the names do not fit the labels");
    self->class_count = class_count;
    self->classes = find_texts(classes, class_count);
    self->names = self->classes ? find_texts(names, self->count) : NULL;
    return self->names ? TERN_OK : TERN_ERR_NOMEM;
}

static tern_status read_lists(packed *self, const tern_archive *archive, const contents *found)
{
    const int64_t classes_nbytes = nbytes_of(archive, found->classes);
    const int64_t names_nbytes = nbytes_of(archive, found->names);
    const uint8_t *classes, *names;
    size_t used = 0;
    self->lists_nbytes =
        (size_t)(nbytes_of(archive, self->raw ? NULL : found->offsets) +
                 nbytes_of(archive, found->labels) + classes_nbytes + names_nbytes + 1);
    self->lists = tern_mem_alloc(self->lists_nbytes);
    if (!self->lists)
        return TERN_ERR_NOMEM;
    if (!self->raw)
        TERN_TRY(read_list(self, archive, found->offsets, &self->offsets, &used));
    TERN_TRY(read_list(self, archive, found->labels, &self->labels, &used));
    TERN_TRY(read_list(self, archive, found->classes, &classes, &used));
    TERN_TRY(read_list(self, archive, found->names, &names, &used));
    TERN_TRY(
        take_texts(self, (const char *)classes, classes_nbytes, (const char *)names, names_nbytes));
    return check_numbers(self);
}

static tern_status read_archive(packed *self, tern_archive *archive)
{
    contents found;
    TERN_TRY(tern_archive_read(archive, &self->file));
    if (strcmp(archive->format, "safetensors") != 0)
        return refuse(self, "it is no safetensors file");
    TERN_TRY(find_all(self, archive, &found));
    TERN_TRY(check_raw_size(self));
    const tern_file_storage *images = &archive->storages[found.images->storage];
    self->images_at = images->at;
    self->images_nbytes = images->nbytes;
    return read_lists(self, archive, &found);
}

static tern_status open_file(packed *self, const char *path)
{
    tern_archive archive = {0};
    self->file.fd = -1;
    self->path = tern_mem_string(path);
    if (!self->path)
        return TERN_ERR_NOMEM;
    TERN_TRY(tern_file_open(&self->file, op, self->path));
    tern_status status = read_archive(self, &archive);
    tern_archive_free(&archive);
    return status;
}

tern_dataset *tern_data_packed_with(const tern_data_packed_options *options)
{
    if (!options || !options->path) {
        (void)tern_null_error(op, options ? "path" : "options");
        return NULL;
    }
    const tern_image_form form = {options->dtype, TERN_CHW, options->channels, options->exif,
                                  options->max_pixels};
    if (tern_fork_check() || tern_image_sample_check(op, &form))
        return NULL;
    packed *self = (packed *)tern_dataset_new(&packed_class);
    if (!self)
        return NULL;
    self->form = form;
    const int saved = errno, cancel_state = tern_cancel_disable();
    tern_status status = open_file(self, options->path);
    tern_cancel_restore(cancel_state);
    errno = saved;
    if (!status)
        return &self->base;
    tern_dataset_free(&self->base);
    return NULL;
}
