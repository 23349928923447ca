// SPDX-License-Identifier: Apache-2.0
// What fuzz targets of images share: what is decoded is asked for in every form.
#ifndef TERN_TESTS_FUZZ_IMAGE_READER_H
#define TERN_TESTS_FUZZ_IMAGE_READER_H

#include <tern/tern.h>

#include "reader.h"

// Small, so that an input does not take long for what its header claims.
#define MOST_PIXELS 65536

static inline void decode_as(const uint8_t *data, size_t nbytes, int64_t channels,
                             tern_image_layout layout, tern_dtype dtype, bool exif)
{
    tern_scope scope = tern_scope_open();
    const tern_tensor *t =
        tern_image_decode(data, (int64_t)nbytes, .channels = channels, .layout = layout,
                          .dtype = dtype, .exif = exif, .max_pixels = MOST_PIXELS);
    must(!t == (tern_error_code() != TERN_OK), "a failure and a pending error are not the same");
    must(!t || (tern_numel(t) > 0 && tern_numel(t) <= 4 * MOST_PIXELS), "a wrong size");
    tern_error_clear();
    tern_scope_close(scope);
}

static inline void decode_in_every_form(const uint8_t *data, size_t nbytes)
{
    decode_as(data, nbytes, 3, TERN_CHW, TERN_FLOAT32, false);
    decode_as(data, nbytes, 0, TERN_HWC, TERN_UINT8, true);
    decode_as(data, nbytes, 1, TERN_CHW, TERN_UINT8, true);
    decode_as(data, nbytes, 4, TERN_HWC, TERN_FLOAT32, false);
}

#endif
