// SPDX-License-Identifier: Apache-2.0
// Images (N, C, H, W), each with parameters of its own. On the CPU loops over host memory, which
// compute a sample from it alone; elsewhere operations with the same parameters. Results are
// temporaries of the innermost scope; recording is off.
#ifndef TERN_SRC_DATA_TRANSFORM_IMAGE_H
#define TERN_SRC_DATA_TRANSFORM_IMAGE_H

#include <tern/transform.h>

#include "base/thread_pool.h"
#include "tensor/tensor.h"

// x is (N, C, H, W) with pixels, of float32, or of uint8 where `bytes` are taken, and has as many
// channels as each list (NULL: there is none) has numbers.
tern_status tern_image_check(const char *op, const tern_tensor *x, bool bytes,
                             const tern_channel_list *a, const tern_channel_list *b);
static inline bool tern_image_on_cpu(const tern_tensor *x)
{
    return tern_dev(x).type == TERN_CPU;
}

// The first element of a contiguous tensor of the CPU.
static inline void *tern_image_data(const tern_tensor *x)
{
    return (char *)x->storage->data + x->offset * (int64_t)tern_dtype_size(x->dtype);
}

// fn(context, n) for each sample of `elements` elements, in parallel where it pays.
void tern_image_each(int64_t count, int64_t elements, tern_pool_fn *fn, void *context);

// Host numbers as (a, b, c, d) on the device of x.
tern_tensor *tern_image_floats(const tern_tensor *x, tern_shape shape, const float *values);
// A number for each channel as (1, C, 1, 1) of x's dtype; for uint8 rounded and clamped.
tern_tensor *tern_image_channels(const tern_tensor *x, const tern_channel_list *list);
// The number as an element of the dtype, in the low bytes.
uint32_t tern_image_element(tern_dtype dtype, double value);

// ---- moving whole pixels ------------------------------------------------------------------------

// Which row and which column of x each of the result is; -1: the fill.
typedef struct tern_image_maps {
    int64_t height, width;         // of the result
    int32_t *rows;                 // (N, height)
    int32_t *cols;                 // (N, width)
    const tern_channel_list *fill; // NULL: nothing is filled
    size_t nbytes;                 // of both arrays
} tern_image_maps;

// Memory for the maps of `count` samples.
tern_status tern_image_maps_new(tern_image_maps *maps, int64_t count, int64_t height,
                                int64_t width);
void tern_image_maps_free(tern_image_maps *maps);
// map[i] = the element `first` + i, or that `size` - 1 - (first + i), of `size`; padding outside.
void tern_image_map_window(int32_t *map, int64_t length, int64_t first, int64_t size,
                           tern_pad_mode mode, bool mirrored);

tern_tensor *tern_image_gather(const char *op, tern_tensor *x, const tern_image_maps *maps);

// ---- resizing -----------------------------------------------------------------------------------

// A part of an image.
typedef struct tern_image_box {
    int64_t top, left, height, width;
} tern_image_box;

// How images are resized: TERN_NEAREST, TERN_NEAREST_EXACT, TERN_BILINEAR, TERN_BICUBIC.
typedef struct tern_image_resize_mode {
    tern_interpolate_mode mode;
    bool antialias; // bilinear, bicubic
} tern_image_resize_mode;

tern_status tern_check_resize_mode(const char *op, tern_image_resize_mode mode);
// The boxes (`count`: N, or 1 for all) of the images, each resized to (height, width).
tern_tensor *tern_image_resized_crop(const char *op, tern_tensor *x, const tern_image_box *boxes,
                                     int64_t count, int64_t height, int64_t width,
                                     tern_image_resize_mode mode);

// ---- affine maps --------------------------------------------------------------------------------

// What is done to an image, about a point that is given from its middle.
typedef struct tern_image_motion {
    double angle;              // degrees, clockwise
    double x, y;               // pixels to the right, down
    double scale;              // > 0
    double shear_x, shear_y;   // degrees
    double center_x, center_y; // pixels
} tern_image_motion;

// From pixels of the result to those of x, (row 0, row 1), both from the middle of the image.
typedef struct tern_image_matrix {
    double at[6];
} tern_image_matrix;

tern_image_matrix tern_image_affine(const tern_image_motion *motion);
tern_status tern_check_warp_mode(const char *op, tern_interpolate_mode mode);
// Each image under its own map: TERN_NEAREST or TERN_BILINEAR, `fill` outside. One that the map
// leaves as it is is copied.
tern_tensor *tern_image_warp(const char *op, tern_tensor *x, const tern_image_matrix *matrix,
                             tern_interpolate_mode mode, const tern_channel_list *fill);

// ---- erasing and mixing -------------------------------------------------------------------------

// The box of each image (empty: none) filled with `value`, or, where it is given, with `noise`, of
// x's shape.
tern_tensor *tern_image_erase(const char *op, tern_tensor *x, const tern_image_box *boxes,
                              const tern_channel_list *value, const float *noise);
// lambda x[n] + (1 - lambda) x[n - 1], for images and for labels.
tern_tensor *tern_image_mix(tern_tensor *x, double lambda);
// x[n] with the box of x[n - 1].
tern_tensor *tern_image_cut(tern_tensor *x, const tern_image_box *box);

// ---- values -------------------------------------------------------------------------------------

tern_tensor *tern_image_to_float(const char *op, tern_tensor *x);
tern_tensor *tern_image_normalize(const char *op, tern_tensor *x, const tern_channel_list *mean,
                                  const tern_channel_list *std);

#endif
