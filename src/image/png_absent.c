// SPDX-License-Identifier: Apache-2.0
// What stands for png_read.c in a build without libpng.
#include "image/image.h"

const char *tern_png_reason(void)
{
    return "this build has no libpng (meson -Dpng=enabled)";
}

tern_status tern_png_read(const tern_image_source *source, const tern_image_form *form,
                          tern_pixels *pixels, int *orientation)
{
    (void)form;
    (void)pixels;
    (void)orientation;
    return tern_error_raise(TERN_ERR_UNSUPPORTED, "%s: %s is a PNG file, and %s", source->op,
                            source->name, tern_png_reason());
}
