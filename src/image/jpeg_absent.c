// SPDX-License-Identifier: Apache-2.0
// What stands for jpeg_read.c and jpeg_write.c in a build without libjpeg-turbo.
#include "image/image.h"

const char *tern_jpeg_reason(void)
{
    return "this build has no libjpeg-turbo (meson -Djpeg=enabled)";
}

tern_status tern_jpeg_read(const tern_image_source *source, const tern_image_form *form,
                           tern_pixels *pixels, int *orientation)
{
    (void)form;
    (void)pixels;
    (void)orientation;
    return tern_error_raise(TERN_ERR_UNSUPPORTED, "%s: %s is a JPEG file, and %s", source->op,
                            source->name, tern_jpeg_reason());
}

tern_status tern_jpeg_encode(const char *op, const tern_pixels *pixels, int quality,
                             tern_image_bytes *to)
{
    (void)pixels;
    (void)quality;
    (void)to;
    return tern_error_raise(TERN_ERR_UNSUPPORTED, "%s: %s", op, tern_jpeg_reason());
}
