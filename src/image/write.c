// SPDX-License-Identifier: Apache-2.0
// The call that writes an image.
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/cancel.h"
#include "device/capture.h"
#include "image/image.h"
#include "io/file.h"
#include "io/save.h"
#include "tensor/liveness.h"

static const char op[] = "image_write";

static tern_status format_of(const char *path, tern_image_format *format)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    *format = !dot                                                            ? 0
              : strcasecmp(dot, ".png") == 0                                  ? TERN_IMAGE_PNG
              : strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0 ? TERN_IMAGE_JPEG
                                                                              : 0;
    TERN_CHECK(*format, TERN_ERR_ARG,
               "%s: the ending of \"%.200s\" says no format; it is one of .png, .jpg and .jpeg", op,
               tern_file_shown(path));
    TERN_CHECK(*format == TERN_IMAGE_PNG || !tern_jpeg_reason(), TERN_ERR_UNSUPPORTED,
               "%s: \"%.200s\" would be a JPEG file, and %s", op, tern_file_shown(path),
               tern_jpeg_reason());
    return TERN_OK;
}

static tern_status encode(const tern_image_write_options *o, tern_image_format format,
                          tern_image_bytes *bytes)
{
    tern_pixels pixels = {0};
    tern_status status = tern_pixels_from_tensor(&pixels, op, o->image, o->layout);
    if (!status && format == TERN_IMAGE_PNG)
        status = tern_png_encode(op, &pixels, bytes);
    else if (!status)
        status = tern_jpeg_encode(op, &pixels, (int)o->quality, bytes);
    tern_pixels_free(&pixels);
    return status;
}

static tern_status write_file(const char *path, const tern_image_bytes *bytes)
{
    tern_save save;
    TERN_TRY(tern_save_begin(&save, op, path));
    tern_status status = tern_save_write(&save, bytes->data, (size_t)bytes->nbytes);
    if (!status)
        return tern_save_commit(&save);
    tern_save_abandon(&save);
    return status;
}

static tern_status encode_and_write(const tern_image_write_options *o, tern_image_format format)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    tern_image_bytes bytes = {0};
    tern_status status = encode(o, format, &bytes);
    tern_scope_close(scope);
    if (!status)
        status = write_file(o->path, &bytes);
    tern_image_bytes_free(&bytes);
    return status;
}

tern_status tern_image_write_with(const tern_image_write_options *options)
{
    tern_image_format format = TERN_IMAGE_FORMAT_UNSPECIFIED;
    if (!options || !options->path)
        return tern_null_error(op, options ? "path" : "options");
    TERN_TRY(tern_check_tensor(op, "image", options->image));
    TERN_CHECK(options->quality >= 1 && options->quality <= 100, TERN_ERR_ARG,
               "%s: .quality is %lld, but must be 1 to 100", op, (long long)options->quality);
    TERN_TRY(format_of(options->path, &format));
    TERN_TRY(tern_capture_refuse(op, "the pixels would be there after a replay"));
    const int saved = errno, cancel_state = tern_cancel_disable();
    tern_status status = encode_and_write(options, format);
    tern_cancel_restore(cancel_state);
    errno = saved;
    return status;
}
