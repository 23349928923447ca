// SPDX-License-Identifier: Apache-2.0
// Memory of pixels and of encoded bytes.
#include <string.h>

#include "base/mem.h"
#include "image/image.h"

tern_status tern_image_check_size(const tern_image_source *source, const tern_image_form *form,
                                  int64_t height, int64_t width)
{
    TERN_CHECK(height >= 1 && width >= 1, TERN_ERR_FORMAT, "%s: %s has %lld x %lld pixels",
               source->op, source->name, (long long)width, (long long)height);
    TERN_CHECK(height <= TERN_IMAGE_MAX_SIDE && width <= TERN_IMAGE_MAX_SIDE &&
                   height * width <= form->max_pixels,
               TERN_ERR_ARG,
               "%s: %s claims %lld x %lld pixels, more than the %lld of .max_pixels%s", source->op,
               source->name, (long long)width, (long long)height, (long long)form->max_pixels,
               height <= TERN_IMAGE_MAX_SIDE && width <= TERN_IMAGE_MAX_SIDE
                   ? ""
                   : ", or than 1000000 on a side");
    return TERN_OK;
}

tern_status tern_pixels_alloc(tern_pixels *pixels, int64_t height, int64_t width, int channels)
{
    const size_t nbytes = (size_t)height * (size_t)width * (size_t)channels;
    uint8_t *data = tern_cache_alloc(nbytes);
    if (!data)
        return TERN_ERR_NOMEM;
    *pixels = (tern_pixels){height, width, channels, data, nbytes};
    return TERN_OK;
}

void tern_pixels_free(tern_pixels *pixels)
{
    tern_cache_free(pixels->data, pixels->nbytes);
    *pixels = (tern_pixels){0};
}

tern_status tern_image_bytes_add(tern_image_bytes *to, const void *bytes, size_t nbytes)
{
    TERN_TRY(tern_mem_grow((void **)&to->data, &to->capacity, to->nbytes + (int64_t)nbytes, 1));
    if (nbytes > 0)
        memcpy(to->data + to->nbytes, bytes, nbytes);
    to->nbytes += (int64_t)nbytes;
    return TERN_OK;
}

void tern_image_bytes_free(tern_image_bytes *bytes)
{
    tern_mem_free(bytes->data, (size_t)bytes->capacity);
    *bytes = (tern_image_bytes){0};
}
