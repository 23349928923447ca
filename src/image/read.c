// SPDX-License-Identifier: Apache-2.0
// Which format an image is, and the calls that read one.
#include <errno.h>
#include <string.h>

#include "base/cancel.h"
#include "base/fork.h"
#include "base/mem.h"
#include "image/image.h"
#include "io/file.h"

// Bytes that a file is known by.
#define SIGNATURE_BYTES 16

const char *tern_image_reason(tern_image_format format)
{
    switch (format) {
    case TERN_IMAGE_PNG:
        return tern_png_reason();
    case TERN_IMAGE_JPEG:
        return tern_jpeg_reason();
    case TERN_IMAGE_FORMAT_UNSPECIFIED:
        break;
    }
    return "it is no format";
}

tern_status tern_image_form_check(const char *op, const tern_image_form *form)
{
    TERN_CHECK(form->dtype == TERN_UINT8 || form->dtype == TERN_FLOAT32, TERN_ERR_DTYPE,
               "%s: .dtype is %s, but must be uint8 or float32", op, tern_dtype_name(form->dtype));
    TERN_CHECK(form->layout == TERN_CHW || form->layout == TERN_HWC, TERN_ERR_ARG,
               "%s: .layout must be TERN_CHW or TERN_HWC", op);
    TERN_CHECK(form->channels == 0 || form->channels == 1 || form->channels == 3 ||
                   form->channels == 4,
               TERN_ERR_ARG, "%s: .channels is %lld, but must be 1, 3, 4, or 0 for as stored", op,
               (long long)form->channels);
    TERN_CHECK(form->max_pixels >= 1, TERN_ERR_ARG,
               "%s: .max_pixels is %lld, but must be 1 or more", op, (long long)form->max_pixels);
    return TERN_OK;
}

// ---- by the first bytes -------------------------------------------------------------------------

#define BEGINS(text) (count >= sizeof text - 1 && memcmp(bytes, text, sizeof text - 1) == 0)

// What is none of ours, but known.
static const char *unrecognized_format(const uint8_t *bytes, size_t count)
{
    if (count == 0)
        return "is empty";
    if (BEGINS("GIF8"))
        return "is a GIF file, which tern does not read";
    if (BEGINS("BM"))
        return "is a BMP file, which tern does not read";
    if (BEGINS("II*\0") || BEGINS("MM\0*"))
        return "is a TIFF file, which tern does not read";
    if (BEGINS("RIFF") && count >= 12 && memcmp(bytes + 8, "WEBP", 4) == 0)
        return "is a WebP file, which tern does not read";
    if (count >= 12 && memcmp(bytes + 4, "ftyp", 4) == 0)
        return "is an AVIF, HEIF or MP4 file, which tern does not read";
    return "is no PNG or JPEG file";
}

// A sentence for a format that this build leaves out.
static tern_status check_reason(const char *op, const char *name, const char *format,
                                const char *reason)
{
    TERN_CHECK(!reason, TERN_ERR_UNSUPPORTED, "%s: %s is a %s file, and %s", op, name, format,
               reason);
    return TERN_OK;
}

tern_status tern_image_source_format(const tern_image_source *source, tern_image_format *format)
{
    const uint8_t *bytes = source->bytes;
    const size_t count = source->nbytes;
    if (BEGINS("\x89PNG\r\n\x1a\n")) {
        *format = TERN_IMAGE_PNG;
        return check_reason(source->op, source->name, "PNG", tern_png_reason());
    }
    if (BEGINS("\xff\xd8\xff")) {
        *format = TERN_IMAGE_JPEG;
        return check_reason(source->op, source->name, "JPEG", tern_jpeg_reason());
    }
    return tern_error_raise(TERN_ERR_FORMAT, "%s: %s %s", source->op, source->name,
                            unrecognized_format(bytes, count));
}

// ---- decoding -----------------------------------------------------------------------------------

static tern_status read_pixels(const tern_image_source *source, const tern_image_form *form,
                               tern_pixels *pixels)
{
    tern_image_format format = TERN_IMAGE_FORMAT_UNSPECIFIED;
    int orientation = 1;
    TERN_TRY(tern_image_source_format(source, &format));
    TERN_TRY(format == TERN_IMAGE_PNG ? tern_png_read(source, form, pixels, &orientation)
                                      : tern_jpeg_read(source, form, pixels, &orientation));
    return tern_pixels_orient(pixels, orientation);
}

tern_tensor *tern_image_from_source(const tern_image_source *source, const tern_image_form *form)
{
    tern_pixels pixels = {0};
    tern_status status = read_pixels(source, form, &pixels);
    tern_tensor *t = status ? NULL : tern_pixels_to_tensor(source->op, &pixels, form);
    tern_pixels_free(&pixels);
    return t;
}

// ---- files --------------------------------------------------------------------------------------

// What begins like no image is not read any further.
static tern_status check_beginning(tern_file *file)
{
    uint8_t bytes[SIGNATURE_BYTES];
    tern_image_format format;
    const size_t count = file->size < SIGNATURE_BYTES ? (size_t)file->size : SIGNATURE_BYTES;
    TERN_TRY(tern_file_read_at(file, 0, bytes, count));
    const tern_image_source source = {file->op, file->path, bytes, count};
    return tern_image_source_format(&source, &format);
}

static tern_tensor *decode_file(tern_file *file, const tern_image_form *form)
{
    if (tern_file_stat(file) || check_beginning(file))
        return NULL;
    const size_t nbytes = (size_t)file->size;
    uint8_t *bytes = tern_cache_alloc(nbytes);
    if (!bytes)
        return NULL;
    const tern_image_source source = {file->op, file->path, bytes, nbytes};
    tern_tensor *t = NULL;
    if (!tern_file_read_at(file, 0, bytes, nbytes))
        t = tern_image_from_source(&source, form);
    tern_cache_free(bytes, nbytes);
    return t;
}

tern_tensor *tern_image_from_file(const char *op, const char *path, const tern_image_form *form)
{
    tern_file file;
    tern_tensor *t = NULL;
    const int saved = errno, cancel_state = tern_cancel_disable();
    if (!tern_file_open(&file, op, path)) {
        t = decode_file(&file, form);
        tern_file_close(&file);
    }
    tern_cancel_restore(cancel_state);
    errno = saved;
    return t;
}

// ---- the calls ----------------------------------------------------------------------------------

tern_tensor *tern_image_read_with(const tern_image_read_options *options)
{
    static const char op[] = "image_read";
    if (!options || !options->path) {
        (void)tern_null_error(op, options ? "path" : "options");
        return NULL;
    }
    const tern_image_form form = {options->dtype, options->layout, options->channels, options->exif,
                                  options->max_pixels};
    if (tern_fork_check() || tern_image_form_check(op, &form))
        return NULL;
    return tern_image_from_file(op, options->path, &form);
}

tern_tensor *tern_image_decode_with(const tern_image_decode_options *options)
{
    static const char op[] = "image_decode";
    if (!options || !options->bytes) {
        (void)tern_null_error(op, options ? "bytes" : "options");
        return NULL;
    }
    const tern_image_form form = {options->dtype, options->layout, options->channels, options->exif,
                                  options->max_pixels};
    if (tern_fork_check() || tern_image_form_check(op, &form))
        return NULL;
    TERN_CHECK_PTR(options->nbytes >= 0, TERN_ERR_ARG, "%s: nbytes is %lld, but must be 0 or more",
                   op, (long long)options->nbytes);
    const tern_image_source source = {op, "the image", options->bytes, (size_t)options->nbytes};
    const int saved = errno, cancel_state = tern_cancel_disable();
    tern_tensor *t = tern_image_from_source(&source, &form);
    tern_cancel_restore(cancel_state);
    errno = saved;
    return t;
}
