// SPDX-License-Identifier: Apache-2.0
// Between pixels as files have them and tensors.
#include <math.h>
#include <string.h>
#include <tern/ops/copy.h>

#include "image/image.h"
#include "tensor/tensor.h"

// ---- to a tensor --------------------------------------------------------------------------------

// ITU-R 601-2 luma, as PIL rounds it.
static uint8_t luma(const uint8_t *rgb)
{
    return (uint8_t)((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 0x8000u) >> 16);
}

// A pixel of `from` channels as one of `to`.
static void convert_pixel(uint8_t *out, int to, const uint8_t *in, int from)
{
    const bool grey = from < 3;
    if (to < 3) {
        out[0] = grey ? in[0] : luma(in);
    } else {
        out[0] = in[0];
        out[1] = grey ? in[0] : in[1];
        out[2] = grey ? in[0] : in[2];
    }
    if (to == 2 || to == 4)
        out[to - 1] = from == 2 || from == 4 ? in[from - 1] : 255;
}

// Where the channels of a pixel go: bytes or floats, `step` elements apart.
typedef struct target {
    uint8_t *bytes; // NULL: floats
    float *floats;
    int channels;
    int64_t pixel_step, channel_step;
} target;

static void put_pixel(const target *t, int64_t pixel, const uint8_t *values)
{
    const int64_t at = pixel * t->pixel_step;
    for (int c = 0; c < t->channels; c++) {
        if (t->bytes)
            t->bytes[at + c * t->channel_step] = values[c];
        else
            t->floats[at + c * t->channel_step] = (float)values[c] / 255.0f;
    }
}

// RGB to RGB, which nearly all reading is, without a branch a pixel.
static void put_rgb_plane(const target *t, const uint8_t *in, int64_t count, int channel)
{
    if (t->bytes) {
        uint8_t *out = t->bytes + channel * t->channel_step;
        for (int64_t i = 0; i < count; i++)
            out[i] = in[3 * i + channel];
        return;
    }
    float *out = t->floats + channel * t->channel_step;
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)in[3 * i + channel] / 255.0f;
}

static void put_pixels(const target *t, const tern_pixels *pixels)
{
    const int64_t count = pixels->height * pixels->width;
    if (pixels->channels == 3 && t->channels == 3 && t->pixel_step == 1) {
        for (int channel = 0; channel < 3; channel++)
            put_rgb_plane(t, pixels->data, count, channel);
        return;
    }
    if (t->bytes && t->channel_step == 1 && pixels->channels == t->channels) {
        memcpy(t->bytes, pixels->data, pixels->nbytes);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        uint8_t values[4];
        convert_pixel(values, t->channels, pixels->data + i * pixels->channels, pixels->channels);
        put_pixel(t, i, values);
    }
}

tern_tensor *tern_pixels_to_tensor(const char *op, const tern_pixels *pixels,
                                   const tern_image_form *form)
{
    const int channels = form->channels ? (int)form->channels : pixels->channels;
    const bool planes = form->layout == TERN_CHW;
    const tern_shape shape = planes ? tern_dims(channels, pixels->height, pixels->width)
                                    : tern_dims(pixels->height, pixels->width, channels);
    tern_tensor *t = tern_tensor_new(op, form->dtype, tern_cpu(0), shape);
    if (!t)
        return NULL;
    target to = {.channels = channels,
                 .pixel_step = planes ? 1 : channels,
                 .channel_step = planes ? pixels->height * pixels->width : 1};
    if (form->dtype == TERN_UINT8)
        to.bytes = t->storage->data;
    else
        to.floats = t->storage->data;
    put_pixels(&to, pixels);
    return t;
}

// ---- from a tensor ------------------------------------------------------------------------------

// torchvision's mul(255).add_(0.5).clamp_(0, 255).to(uint8), each step in the elements' dtype.
static uint8_t byte_of_float(float x)
{
    const float scaled = x * 255.0f + 0.5f;
    return (uint8_t)(scaled < 0 ? 0 : scaled > 255 ? 255 : scaled);
}

static uint8_t byte_of_double(double x)
{
    const double scaled = x * 255 + 0.5;
    return (uint8_t)(scaled < 0 ? 0 : scaled > 255 ? 255 : scaled);
}

// False for NaN.
static bool read_byte(const tern_tensor *t, int64_t at, uint8_t *byte)
{
    if (t->dtype == TERN_UINT8) {
        *byte = ((const uint8_t *)t->storage->data)[at];
        return true;
    }
    const double value = t->dtype == TERN_FLOAT32 ? (double)((const float *)t->storage->data)[at]
                                                  : ((const double *)t->storage->data)[at];
    if (isnan(value))
        return false;
    *byte = t->dtype == TERN_FLOAT32 ? byte_of_float((float)value) : byte_of_double(value);
    return true;
}

tern_status tern_image_check_form(const char *op, const tern_tensor *image,
                                  tern_image_layout layout)
{
    TERN_CHECK(image->dtype == TERN_UINT8 || image->dtype == TERN_FLOAT32 ||
                   image->dtype == TERN_FLOAT64,
               TERN_ERR_DTYPE, "%s: the image is %s, but must be uint8, float32 or float64", op,
               tern_dtype_name(image->dtype));
    TERN_CHECK(layout == TERN_CHW || layout == TERN_HWC, TERN_ERR_ARG,
               "%s: .layout must be TERN_CHW or TERN_HWC", op);
    const int64_t channels = image->rank == 2   ? 1
                             : image->rank != 3 ? 0
                                                : image->size[layout == TERN_CHW ? 0 : 2];
    TERN_CHECK(channels >= 1 && channels <= 4, TERN_ERR_SHAPE,
               "%s: the image is %s, but must be %s of 1 to 4 channels, or (height, width)", op,
               tern_shape_string(tern_shape_get(image)),
               layout == TERN_CHW ? "(channels, height, width)" : "(height, width, channels)");
    for (int i = 0; i < image->rank; i++)
        TERN_CHECK(image->size[i] >= 1 && image->size[i] <= TERN_IMAGE_MAX_SIDE, TERN_ERR_SHAPE,
                   "%s: the image is %s: sides are 1 to %d pixels", op,
                   tern_shape_string(tern_shape_get(image)), TERN_IMAGE_MAX_SIDE);
    return TERN_OK;
}

static tern_status fill(tern_pixels *pixels, const char *op, const tern_tensor *t, bool planes)
{
    const int64_t count = pixels->height * pixels->width, channels = pixels->channels;
    for (int64_t i = 0; i < count * channels; i++) {
        const int64_t pixel = i / channels, channel = i % channels;
        const int64_t at = t->offset + (planes ? channel * count + pixel : i);
        TERN_CHECK(read_byte(t, at, &pixels->data[i]), TERN_ERR_NUMERIC,
                   "%s: channel %lld of the image is nan in row %lld, column %lld", op,
                   (long long)channel, (long long)(pixel / pixels->width),
                   (long long)(pixel % pixels->width));
    }
    return TERN_OK;
}

static tern_tensor *on_the_host(tern_tensor *image)
{
    tern_tensor *host = tern_dev(image).type == TERN_CPU ? image : tern_to(image, tern_cpu(0));
    return host ? tern_contiguous(host) : NULL;
}

tern_status tern_pixels_from_tensor(tern_pixels *pixels, const char *op, tern_tensor *image,
                                    tern_image_layout layout)
{
    TERN_TRY(tern_image_check_form(op, image, layout));
    const bool planes = layout == TERN_CHW, flat = image->rank == 2;
    const int64_t *size = image->size;
    const tern_tensor *t = on_the_host(image);
    if (!t)
        return tern_error_code();
    TERN_TRY(tern_pixels_alloc(pixels, size[planes && !flat ? 1 : 0], size[planes && !flat ? 2 : 1],
                               flat ? 1 : (int)size[planes ? 0 : 2]));
    return fill(pixels, op, t, planes);
}
