// SPDX-License-Identifier: Apache-2.0
// Changing the colours of float32 images from 0 to 1, as torchvision's functional forms do.
#ifndef TERN_SRC_DATA_TRANSFORM_COLOR_H
#define TERN_SRC_DATA_TRANSFORM_COLOR_H

#include "data/transform/image.h"

typedef enum tern_image_adjustment {
    TERN_ADJUST_NOTHING = 0,
    TERN_ADJUST_BRIGHTNESS, // the factor
    TERN_ADJUST_CONTRAST,   // likewise: 0 is the mean grey
    TERN_ADJUST_SATURATION, // likewise: 0 is grey
    TERN_ADJUST_HUE,        // turns, -0.5 to 0.5
    TERN_ADJUST_SHARPNESS,  // the factor: 0 is blurred
    TERN_ADJUST_POSTERIZE,  // bits that stay, 0 to 8
    TERN_ADJUST_SOLARIZE,   // from where on an image is inverted
    TERN_ADJUST_AUTOCONTRAST,
    TERN_ADJUST_EQUALIZE
} tern_image_adjustment;

typedef struct tern_image_step {
    tern_image_adjustment kind;
    double amount;
} tern_image_step;

// Red, green and blue in grey; what makes a byte of a number, as torchvision does it.
#define TERN_GRAY_RED   0.2989F
#define TERN_GRAY_GREEN 0.587F
#define TERN_GRAY_BLUE  0.114F
#define TERN_BYTE_SCALE 255.999F

// x has 1 or 3 channels, float32.
tern_status tern_image_check_colors(const char *op, const tern_tensor *x);
// Image n after steps[n * count] to steps[n * count + count - 1], one after another.
tern_tensor *tern_image_adjust(const char *op, tern_tensor *x, const tern_image_step *steps,
                               int64_t count);
// Likewise of an image (1, C, H, W), by operations.
tern_tensor *tern_image_adjust_by_operations(tern_tensor *x, tern_image_step step);
// (N, 1, H, W) of (N, 3, H, W).
tern_tensor *tern_image_gray(tern_tensor *x);

// An image in host memory.
typedef struct tern_planes {
    float *data; // (channels, pixels)
    int64_t channels, pixels, width;
    float *scratch; // (pixels), for sharpness
} tern_planes;

void tern_planes_adjust(const tern_planes *planes, tern_image_step step);

#endif
