// SPDX-License-Identifier: Apache-2.0
// Writes a folder of images as one safetensors file, an image at a time.
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <tern/image_data.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/fork.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/file/folder_list.h"
#include "data/file/packed.h"
#include "image/image.h"
#include "io/file.h"
#include "io/save.h"
#include "tensor/tensor.h"

#define HEADER_BYTES 1024
#define COPY_BYTES   65536

static const char op[] = "data_pack";

typedef struct packer {
    const tern_data_pack_options *options;
    tern_folder_list list;
    tern_save save;
    int64_t *offsets;      // (count + 1) of encoded images
    int64_t height, width; // of raw ones
    char path[PATH_MAX];   // of the image
} packer;

static tern_status find_path(packer *p, int64_t index)
{
    return tern_folder_list_path(&p->list, op, p->options->directory, index, p->path,
                                 sizeof p->path);
}

// ---- sizes --------------------------------------------------------------------------------------

static tern_status measure_files(packer *p)
{
    p->offsets = tern_mem_alloc((size_t)(p->list.count + 1) * sizeof *p->offsets);
    if (!p->offsets)
        return TERN_ERR_NOMEM;
    for (int64_t i = 0; i < p->list.count; i++) {
        struct stat facts;
        TERN_TRY(find_path(p, i));
        TERN_CHECK(stat(p->path, &facts) == 0, TERN_ERR_IO, "%s: cannot look at %s: %s", op,
                   tern_file_shown(p->path), tern_text_reason(errno));
        p->offsets[i + 1] = p->offsets[i] + facts.st_size;
    }
    return TERN_OK;
}

static tern_tensor *decode(packer *p, int64_t index)
{
    const tern_image_form form = {TERN_UINT8, TERN_HWC, 3, p->options->exif,
                                  p->options->max_pixels};
    return find_path(p, index) ? NULL : tern_image_from_file(op, p->path, &form);
}

static tern_status measure_pixels(packer *p)
{
    if (p->list.count == 0)
        return TERN_OK;
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    const tern_tensor *first = decode(p, 0);
    p->height = first ? first->size[0] : 0;
    p->width = first ? first->size[1] : 0;
    tern_scope_close(scope);
    return first ? TERN_OK : tern_error_code();
}

// ---- the header ---------------------------------------------------------------------------------

// JSON that grows in a buffer which is large enough.
typedef struct header {
    char text[HEADER_BYTES];
    size_t length;
    int64_t end; // of the elements so far
} header;

// A tensor of `nbytes`, behind those before.
static void put_tensor(header *h, const char *name, const char *dtype, const char *shape,
                       int64_t nbytes)
{
    tern_writer writer = {.buffer = h->text + h->length, .size = HEADER_BYTES - h->length};
    tern_write(&writer, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%lld,%lld]}",
               h->length > 1 ? "," : "", name, dtype, shape, (long long)h->end,
               (long long)(h->end + nbytes));
    h->length += (size_t)writer.length;
    h->end += nbytes;
}

static void put_row(header *h, const char *name, const char *dtype, int64_t count, int64_t size)
{
    char shape[32];
    tern_writer writer = {.buffer = shape, .size = sizeof shape};
    tern_write(&writer, "%lld", (long long)count);
    put_tensor(h, name, dtype, shape, count * size);
}

static void put_images(header *h, const packer *p)
{
    if (!p->options->raw) {
        put_row(h, TERN_PACKED_IMAGES, "U8", p->offsets[p->list.count], 1);
        return;
    }
    char shape[96];
    tern_writer writer = {.buffer = shape, .size = sizeof shape};
    tern_write(&writer, "%lld,%lld,%lld,3", (long long)p->list.count, (long long)p->height,
               (long long)p->width);
    put_tensor(h, TERN_PACKED_IMAGES, "U8", shape, p->list.count * p->height * p->width * 3);
}

static int64_t names_nbytes(const tern_folder_list *list)
{
    int64_t nbytes = 0;
    for (int64_t i = 0; i < list->count; i++)
        nbytes += list->images[i].name_nbytes + 1;
    return nbytes;
}

static int64_t classes_nbytes(const tern_folder_list *list)
{
    int64_t nbytes = 0;
    for (int64_t label = 0; label < list->class_count; label++)
        nbytes += (int64_t)strlen(tern_folder_list_class(list, label)) + 1;
    return nbytes;
}

static tern_status write_header(packer *p)
{
    header h = {.text = "{", .length = 1};
    uint8_t size[8];
    if (!p->options->raw)
        put_row(&h, TERN_PACKED_OFFSETS, "I64", p->list.count + 1, 8);
    put_row(&h, TERN_PACKED_LABELS, "I64", p->list.count, 8);
    put_row(&h, TERN_PACKED_CLASSES, "U8", classes_nbytes(&p->list), 1);
    put_row(&h, TERN_PACKED_NAMES, "U8", names_nbytes(&p->list), 1);
    put_images(&h, p);
    h.text[h.length++] = '}';
    while (h.length % 8)
        h.text[h.length++] = ' ';
    put_uint(size, 8, h.length);
    TERN_TRY(tern_save_write(&p->save, size, sizeof size));
    return tern_save_write(&p->save, h.text, h.length);
}

// ---- the elements -------------------------------------------------------------------------------

static tern_status write_int(packer *p, int64_t value)
{
    uint8_t bytes[8];
    put_uint(bytes, 8, (uint64_t)value);
    return tern_save_write(&p->save, bytes, sizeof bytes);
}

static tern_status write_lists(packer *p)
{
    const tern_folder_list *list = &p->list;
    for (int64_t i = 0; p->offsets && i <= list->count; i++)
        TERN_TRY(write_int(p, p->offsets[i]));
    for (int64_t i = 0; i < list->count; i++)
        TERN_TRY(write_int(p, list->images[i].label));
    for (int64_t label = 0; label < list->class_count; label++) {
        const char *name = tern_folder_list_class(list, label);
        TERN_TRY(tern_save_write(&p->save, name, strlen(name) + 1));
    }
    for (int64_t i = 0; i < list->count; i++)
        TERN_TRY(tern_save_write(&p->save, tern_folder_list_name(list, i),
                                 (size_t)list->images[i].name_nbytes + 1));
    return TERN_OK;
}

static tern_status copy_bytes(packer *p, tern_file *file, int64_t nbytes)
{
    static const char changed[] = "%s: %s changed while it was packed";
    uint8_t buffer[COPY_BYTES];
    size_t got;
    for (int64_t done = 0; done < nbytes; done += (int64_t)got) {
        const int64_t left = nbytes - done;
        TERN_TRY(tern_file_read(file, buffer, left < COPY_BYTES ? (size_t)left : COPY_BYTES, &got));
        TERN_CHECK(got > 0, TERN_ERR_IO, changed, op, file->path);
        TERN_TRY(tern_save_write(&p->save, buffer, got));
    }
    TERN_TRY(tern_file_read(file, buffer, 1, &got));
    TERN_CHECK(got == 0, TERN_ERR_IO, changed, op, file->path);
    return TERN_OK;
}

static tern_status write_file(packer *p, int64_t index)
{
    tern_file file;
    TERN_TRY(find_path(p, index));
    TERN_TRY(tern_file_open(&file, op, p->path));
    tern_status status = copy_bytes(p, &file, p->offsets[index + 1] - p->offsets[index]);
    tern_file_close(&file);
    return status;
}

static tern_status write_pixels(packer *p, int64_t index)
{
    const tern_tensor *t = decode(p, index);
    if (!t)
        return tern_error_code();
    TERN_CHECK(t->size[0] == p->height && t->size[1] == p->width, TERN_ERR_SHAPE,
               "%s: %s has %lld x %lld pixels, but %s has %lld x %lld: .raw is for images of one "
               "size",
               op, tern_folder_list_name(&p->list, index), (long long)t->size[1],
               (long long)t->size[0], tern_folder_list_name(&p->list, 0), (long long)p->width,
               (long long)p->height);
    return tern_save_write(&p->save, t->storage->data, (size_t)t->numel);
}

static tern_status write_image(packer *p, int64_t index)
{
    if (!p->options->raw)
        return write_file(p, index);
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    tern_status status = write_pixels(p, index);
    tern_scope_close(scope);
    return status;
}

// ---- the whole ----------------------------------------------------------------------------------

static tern_status write_all(packer *p)
{
    TERN_TRY(write_header(p));
    TERN_TRY(write_lists(p));
    for (int64_t i = 0; i < p->list.count; i++)
        TERN_TRY(write_image(p, i));
    return TERN_OK;
}

static tern_status write_packed(packer *p)
{
    TERN_TRY(p->options->raw ? measure_pixels(p) : measure_files(p));
    TERN_TRY(tern_save_begin(&p->save, op, p->options->path));
    tern_status status = write_all(p);
    if (!status)
        return tern_save_commit(&p->save);
    tern_save_abandon(&p->save);
    return status;
}

static tern_status pack(packer *p)
{
    const tern_data_pack_options *o = p->options;
    TERN_TRY(
        tern_folder_list_read(&p->list, op, o->directory, o->allow_empty, o->skip_other_formats));
    tern_status status = write_packed(p);
    tern_mem_free(p->offsets, (size_t)(p->list.count + 1) * sizeof *p->offsets);
    tern_folder_list_free(&p->list);
    return status;
}

static tern_status check(const tern_data_pack_options *o)
{
    if (!o || !o->directory)
        return tern_null_error(op, o ? "directory" : "options");
    if (!o->path)
        return tern_null_error(op, "path");
    TERN_CHECK(o->max_pixels >= 1, TERN_ERR_ARG, "%s: .max_pixels is %lld, but must be 1 or more",
               op, (long long)o->max_pixels);
    TERN_CHECK(o->raw || !o->exif, TERN_ERR_ARG,
               "%s: .exif is for .raw: encoded images are turned when they are read", op);
    return tern_fork_check();
}

tern_status tern_data_pack_with(const tern_data_pack_options *options)
{
    TERN_TRY(check(options));
    packer *p = tern_mem_alloc(sizeof *p);
    if (!p)
        return TERN_ERR_NOMEM;
    p->options = options;
    const int saved = errno, cancel_state = tern_cancel_disable();
    tern_status status = pack(p);
    tern_cancel_restore(cancel_state);
    errno = saved;
    tern_mem_free(p, sizeof *p);
    return status;
}
