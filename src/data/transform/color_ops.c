// SPDX-License-Identifier: Apache-2.0
// The colours of an image on a device, by operations: what color.c computes on the CPU.
#include <tern/ops.h>
#include <tern/ops/resize.h>

#include "data/transform/color.h"
#include "ops/launch.h"
#include "tensor/factory.h"

static tern_tensor *channel(tern_tensor *x, int64_t c)
{
    return tern_narrow(x, 1, c, 1);
}

static tern_tensor *clamp_unit(tern_tensor *x)
{
    return tern_clamp(x, 0, 1);
}

// x - floor(x) for x >= 0, and floor(x) beside it.
static tern_tensor *whole_part(tern_tensor *x)
{
    return tern_to_dtype(tern_to_dtype(x, TERN_INT64), TERN_FLOAT32);
}

// ---- brightness, contrast, saturation -----------------------------------------------------------

tern_tensor *tern_image_gray(tern_tensor *x)
{
    if (x->size[1] == 1)
        return x;
    tern_tensor *red = tern_mul_scalar(channel(x, 0), (double)TERN_GRAY_RED);
    tern_tensor *green = tern_mul_scalar(channel(x, 1), (double)TERN_GRAY_GREEN);
    tern_tensor *blue = tern_mul_scalar(channel(x, 2), (double)TERN_GRAY_BLUE);
    return tern_add(tern_add(red, green), blue);
}

static tern_tensor *blend(tern_tensor *x, tern_tensor *other, double factor)
{
    return clamp_unit(tern_add(tern_mul_scalar(x, factor), tern_mul_scalar(other, 1 - factor)));
}

static tern_tensor *contrast(tern_tensor *x, double factor)
{
    tern_tensor *gray = tern_image_gray(x);
    return blend(x, tern_mean(gray, tern_axes(1, 2, 3), true), factor);
}

static tern_tensor *saturate(tern_tensor *x, double factor)
{
    return x->size[1] == 1 ? x : blend(x, tern_image_gray(x), factor);
}

// ---- hue ----------------------------------------------------------------------------------------

typedef struct hsv {
    tern_tensor *h, *s, *v;
} hsv;

static hsv hsv_of(tern_tensor *x)
{
    tern_tensor *max = tern_amax(x, tern_axes(1), true), *min = tern_amin(x, tern_axes(1), true);
    tern_tensor *equal = tern_eq(max, min), *range = tern_sub(max, min);
    tern_tensor *one = range ? tern_ones_like(range) : NULL;
    tern_tensor *rest = tern_div(tern_sub(max, x), tern_where(equal, one, range));
    if (!rest)
        return (hsv){0};
    tern_tensor *rc = channel(rest, 0), *gc = channel(rest, 1), *bc = channel(rest, 2);
    tern_tensor *green = tern_sub(tern_add_scalar(rc, 2), bc);
    tern_tensor *blue = tern_sub(tern_add_scalar(gc, 4), rc);
    tern_tensor *h = tern_where(tern_eq(max, channel(x, 1)), green, blue);
    h = tern_where(tern_eq(max, channel(x, 0)), tern_sub(bc, gc), h);
    h = tern_add_scalar(tern_mul_scalar(h, (double)(1.0F / 6)), 1);
    return (hsv){.h = tern_sub(h, whole_part(h)),
                 .s = tern_div(range, tern_where(equal, one, max)),
                 .v = max};
}

// Of four tensors the one that a table names for each sector of the circle.
static tern_tensor *by_sector(tern_tensor *const *of, const unsigned char *which,
                              tern_tensor *sector)
{
    tern_tensor *y = of[which[5]];
    for (int i = 0; i < 5; i++)
        y = tern_where(tern_eq_scalar(sector, i), of[which[i]], y);
    return y;
}

static tern_tensor *rgb_of(hsv x)
{
    static const unsigned char which[3][6] = {
        {0, 2, 1, 1, 3, 0}, {3, 0, 0, 2, 1, 1}, {1, 1, 3, 0, 0, 2}};
    tern_tensor *sixths = tern_mul_scalar(x.h, 6), *sector = whole_part(sixths);
    tern_tensor *sf = tern_mul(x.s, tern_sub(sixths, sector));
    tern_tensor *grey = tern_add_scalar(tern_neg(x.s), 1);
    tern_tensor *falling = tern_add_scalar(tern_neg(sf), 1), *rising = tern_add(sf, grey);
    tern_tensor *of[] = {x.v, clamp_unit(tern_mul(grey, x.v)), clamp_unit(tern_mul(falling, x.v)),
                         clamp_unit(tern_mul(rising, x.v))};
    sector = tern_where(tern_eq_scalar(sector, 6), tern_mul_scalar(sector, 0), sector);
    tern_tensor *rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = by_sector(of, which[c], sector);
    return tern_cat(rgb, 3, 1);
}

static tern_tensor *turn_hue(tern_tensor *x, double turns)
{
    if (x->size[1] == 1)
        return x;
    hsv of = hsv_of(x);
    tern_tensor *moved = tern_add_scalar(tern_add_scalar(of.h, turns), 1); // not below 0
    of.h = tern_sub(moved, whole_part(moved));
    return rgb_of(of);
}

// ---- sharpness ----------------------------------------------------------------------------------

// The sum of three neighbours along a dimension, of all but the first and last.
static tern_tensor *sum_three(tern_tensor *x, int dim)
{
    const int64_t size = x ? x->size[dim] - 2 : 0;
    tern_tensor *y = tern_narrow(x, dim, 0, size);
    return tern_add(tern_add(y, tern_narrow(x, dim, 1, size)), tern_narrow(x, dim, 2, size));
}

static tern_tensor *sharpen(tern_tensor *x, double factor)
{
    if (x->size[2] <= 2 || x->size[3] <= 2)
        return x;
    tern_tensor *inner = tern_narrow(tern_narrow(x, 2, 1, x->size[2] - 2), 3, 1, x->size[3] - 2);
    tern_tensor *around = tern_sub(sum_three(sum_three(x, 2), 3), inner);
    tern_tensor *blurred =
        tern_add(tern_mul_scalar(around, 1.0 / 13), tern_mul_scalar(inner, 5.0 / 13));
    tern_tensor *change = tern_mul_scalar(tern_sub(blurred, inner), 1 - factor);
    return clamp_unit(tern_add(x, tern_pad(change, tern_pads(1, 1, 1, 1), TERN_PAD_CONSTANT, 0)));
}

// ---- levels -------------------------------------------------------------------------------------

static tern_tensor *posterize(tern_tensor *x, double bits)
{
    const double levels = (double)(1 << (int)bits);
    tern_tensor *scaled = tern_clamp(tern_mul_scalar(x, levels), 0, levels - 1);
    return tern_mul_scalar(whole_part(scaled), 1 / levels);
}

static tern_tensor *solarize(tern_tensor *x, double threshold)
{
    return tern_where(tern_ge_scalar(x, threshold), tern_add_scalar(tern_neg(x), 1), x);
}

static tern_tensor *autocontrast(tern_tensor *x)
{
    tern_tensor *low = tern_amin(x, tern_axes(2, 3), true);
    tern_tensor *high = tern_amax(x, tern_axes(2, 3), true);
    tern_tensor *equal = tern_eq(low, high), *range = tern_sub(high, low);
    if (!range)
        return NULL;
    tern_tensor *begin = tern_where(equal, tern_zeros_like(range), low);
    range = tern_where(equal, tern_ones_like(range), range);
    return clamp_unit(tern_div(tern_sub(x, begin), range));
}

// How often each byte is in each channel: (C, 256), counts of bytes (C, pixels).
static tern_tensor *count_bytes(tern_tensor *bytes)
{
    tern_tensor *counts = tern_zeros(tern_dims(bytes->size[0], 256), .dtype = TERN_FLOAT64,
                                     .device = tern_dev(bytes));
    tern_tensor *ones =
        tern_ones(tern_shape_get(bytes), .dtype = TERN_FLOAT64, .device = tern_dev(bytes));
    if (!counts || !ones)
        return NULL;
    const tern_strided to = tern_view_with_dim(counts), from = tern_view_with_dim(ones);
    const tern_strided index = tern_view_with_dim(bytes);
    const tern_exec exec = tern_exec_of(tern_dev(bytes));
    return tern_kernels_of(tern_dev(bytes))->scatter_add(&exec, &to, &from, &index, 1, false)
               ? NULL
               : counts;
}

// floor(a / b) of whole numbers a >= 0, b > 0.
static tern_tensor *divide_whole(tern_tensor *a, tern_tensor *b)
{
    return tern_to_dtype(tern_to_dtype(tern_div(a, b), TERN_INT64), TERN_FLOAT64);
}

// What each byte becomes: (C, 256), the byte itself where a channel has too few pixels.
static tern_tensor *levels_of(tern_tensor *counts, int64_t pixels)
{
    tern_tensor *to = tern_cumsum(counts, 1);
    tern_tensor *below = tern_where(tern_lt_scalar(to, pixels), to, tern_mul_scalar(to, 0));
    tern_tensor *dimmer = tern_amax(below, tern_axes(1), true); // all but the brightest level
    tern_tensor *hundreds = dimmer ? tern_full_like(dimmer, 255) : NULL;
    tern_tensor *step = divide_whole(dimmer, hundreds);
    tern_tensor *half = divide_whole(step, hundreds ? tern_full_like(hundreds, 2) : NULL);
    tern_tensor *divisor = tern_clamp(step, 1, pixels);
    tern_tensor *level = divide_whole(tern_add(tern_sub(to, counts), half), divisor);
    if (!level)
        return NULL;
    tern_tensor *same = tern_arange(0, 256, 1, .dtype = TERN_FLOAT64, .device = tern_dev(level));
    return tern_where(tern_eq_scalar(step, 0), same, tern_clamp(level, 0, 255));
}

static tern_tensor *equalize(tern_tensor *x)
{
    const tern_shape shape = tern_shape_get(x);
    const int64_t pixels = x->size[2] * x->size[3];
    tern_tensor *scaled = tern_clamp(tern_mul_scalar(x, (double)TERN_BYTE_SCALE), 0, 255);
    tern_tensor *bytes = tern_to_dtype(tern_contiguous(scaled), TERN_INT64);
    bytes = bytes ? tern_reshape(bytes, tern_dims(shape.dim[1], pixels)) : NULL;
    tern_tensor *counts = bytes ? count_bytes(bytes) : NULL;
    tern_tensor *levels = counts ? levels_of(counts, pixels) : NULL;
    if (!levels)
        return NULL;
    tern_tensor *y = tern_to_dtype(tern_gather(levels, 1, bytes), TERN_FLOAT32);
    return tern_reshape(tern_div_scalar(y, 255), shape);
}

// ---- all ----------------------------------------------------------------------------------------

tern_tensor *tern_image_adjust_by_operations(tern_tensor *x, tern_image_step step)
{
    switch (step.kind) {
    case TERN_ADJUST_NOTHING:
        return x;
    case TERN_ADJUST_BRIGHTNESS:
        return clamp_unit(tern_mul_scalar(x, step.amount));
    case TERN_ADJUST_CONTRAST:
        return contrast(x, step.amount);
    case TERN_ADJUST_SATURATION:
        return saturate(x, step.amount);
    case TERN_ADJUST_HUE:
        return turn_hue(x, step.amount);
    case TERN_ADJUST_SHARPNESS:
        return sharpen(x, step.amount);
    case TERN_ADJUST_POSTERIZE:
        return posterize(x, step.amount);
    case TERN_ADJUST_SOLARIZE:
        return solarize(x, step.amount);
    case TERN_ADJUST_AUTOCONTRAST:
        return autocontrast(x);
    case TERN_ADJUST_EQUALIZE:
        return equalize(x);
    }
    return NULL;
}
