// SPDX-License-Identifier: Apache-2.0
// Colours of float32 images from 0 to 1 on the CPU, as torchvision changes them, in place.
#include "data/transform/color.h"

#include <math.h>
#include <string.h>

static float clamp_unit(float x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

// Of numbers below 2^22; the library's call costs more than the rest.
static float floor_of(float x)
{
    const float whole = 0x1.8p23F; // numbers of its size have no fraction
    const float rounded = x + whole - whole;
    return rounded > x ? rounded - 1 : rounded;
}

// ---- brightness, contrast, saturation -----------------------------------------------------------

static float gray(const tern_planes *p, int64_t i)
{
    const float *x = p->data;
    if (p->channels == 1)
        return x[i];
    return x[i] * TERN_GRAY_RED + x[p->pixels + i] * TERN_GRAY_GREEN +
           x[2 * p->pixels + i] * TERN_GRAY_BLUE;
}

static void brighten(const tern_planes *p, double factor)
{
    const float f = (float)factor;
    for (int64_t i = 0; i < p->channels * p->pixels; i++)
        p->data[i] = clamp_unit(p->data[i] * f);
}

static void contrast(const tern_planes *p, double factor)
{
    double sum = 0;
    for (int64_t i = 0; i < p->pixels; i++)
        sum += (double)gray(p, i);
    const float f = (float)factor, mean = (float)(sum / (double)p->pixels);
    const float rest = mean * (float)(1 - factor);
    for (int64_t i = 0; i < p->channels * p->pixels; i++)
        p->data[i] = clamp_unit(p->data[i] * f + rest);
}

static void saturate(const tern_planes *p, double factor)
{
    const float f = (float)factor, other = (float)(1 - factor);
    if (p->channels == 1)
        return;
    for (int64_t i = 0; i < p->pixels; i++) {
        const float rest = gray(p, i) * other;
        for (int64_t c = 0; c < 3; c++)
            p->data[c * p->pixels + i] = clamp_unit(p->data[c * p->pixels + i] * f + rest);
    }
}

// ---- hue ----------------------------------------------------------------------------------------

// In turns, from 0 to 1; grey has 0.
static float hue_of(float r, float g, float b, float max, float min)
{
    const float range = max == min ? 1 : max - min;
    const float rc = (max - r) / range, gc = (max - g) / range, bc = (max - b) / range;
    const float h = max == r ? bc - gc : max == g ? rc + 2 - bc : gc + 4 - rc;
    const float turns = h * (1.0F / 6) + 1;
    return turns - floor_of(turns);
}

static void set_color(const tern_planes *p, int64_t i, float hue, float s, float v)
{
    const float sixths = hue * 6, sector = floor_of(sixths), f = sixths - sector;
    const float low = clamp_unit((1 - s) * v), falling = clamp_unit((1 - s * f) * v);
    const float rising = clamp_unit((s * f + (1 - s)) * v);
    const float of[] = {v, low, falling, rising};
    static const unsigned char which[3][6] = {
        {0, 2, 1, 1, 3, 0}, {3, 0, 0, 2, 1, 1}, {1, 1, 3, 0, 0, 2}};
    const int slot = sector >= 0 && sector < 6 ? (int)sector : 0;
    for (int c = 0; c < 3; c++)
        p->data[c * p->pixels + i] = of[which[c][slot]];
}

static void turn_hue(const tern_planes *p, double turns)
{
    const float by = (float)turns;
    if (p->channels == 1)
        return;
    for (int64_t i = 0; i < p->pixels; i++) {
        const float r = p->data[i], g = p->data[p->pixels + i], b = p->data[2 * p->pixels + i];
        const float max = fmaxf(fmaxf(r, g), b), min = fminf(fminf(r, g), b);
        const float moved = hue_of(r, g, b, max, min) + by;
        const float s = (max - min) / (max == min ? 1 : max);
        set_color(p, i, moved - floor_of(moved), s, max);
    }
}

// ---- sharpness ----------------------------------------------------------------------------------

static float blurred(const float *x, int64_t width)
{
    const float around = x[-width - 1] + x[-width] + x[-width + 1] + x[-1] + x[1] + x[width - 1] +
                         x[width] + x[width + 1];
    return around * (1.0F / 13) + x[0] * (5.0F / 13);
}

static void sharpen_plane(float *restrict plane, const float *restrict copy, int64_t height,
                          int64_t width, float other)
{
    for (int64_t row = 1; row < height - 1; row++)
        for (int64_t i = row * width + 1; i < row * width + width - 1; i++)
            plane[i] += (blurred(copy + i, width) - copy[i]) * other;
    for (int64_t i = 0; i < height * width; i++)
        plane[i] = clamp_unit(plane[i]);
}

// The border of an image has no blurred pixels.
static void sharpen(const tern_planes *p, double factor)
{
    const int64_t height = p->pixels / p->width;
    if (height <= 2 || p->width <= 2)
        return;
    for (int64_t c = 0; c < p->channels; c++) {
        float *plane = p->data + c * p->pixels;
        memcpy(p->scratch, plane, (size_t)p->pixels * sizeof *plane);
        sharpen_plane(plane, p->scratch, height, p->width, (float)(1 - factor));
    }
}

// ---- levels -------------------------------------------------------------------------------------

static void posterize(const tern_planes *p, double bits)
{
    const float levels = (float)(1 << (int)bits);
    for (int64_t i = 0; i < p->channels * p->pixels; i++) {
        const float level = floor_of(p->data[i] * levels);
        p->data[i] = (level < 0 ? 0 : level > levels - 1 ? levels - 1 : level) * (1 / levels);
    }
}

static void solarize(const tern_planes *p, double threshold)
{
    const float from = (float)threshold;
    for (int64_t i = 0; i < p->channels * p->pixels; i++)
        p->data[i] = p->data[i] >= from ? 1 - p->data[i] : p->data[i];
}

static void autocontrast(const tern_planes *p)
{
    for (int64_t c = 0; c < p->channels; c++) {
        float *x = p->data + c * p->pixels, low = x[0], high = x[0];
        for (int64_t i = 1; i < p->pixels; i++) {
            low = fminf(low, x[i]);
            high = fmaxf(high, x[i]);
        }
        const float range = low == high ? 1 : high - low, begin = low == high ? 0 : low;
        for (int64_t i = 0; i < p->pixels; i++)
            x[i] = clamp_unit((x[i] - begin) / range);
    }
}

static unsigned char byte_of(float x)
{
    const float scaled = x * TERN_BYTE_SCALE;
    return (unsigned char)(scaled > 0 ? (scaled < 255 ? scaled : 255) : 0);
}

// As Pillow's: the brightest level does not count.
static void equalize_plane(float *x, int64_t pixels)
{
    int64_t counts[256] = {0};
    for (int64_t i = 0; i < pixels; i++)
        counts[byte_of(x[i])]++;
    int last = 255;
    while (counts[last] == 0)
        last--;
    const int64_t step = (pixels - counts[last]) / 255;
    float to[256];
    int64_t below = step / 2;
    for (int k = 0; k < 256; k++) {
        const int64_t level = step == 0 ? k : below / step;
        to[k] = (float)(level > 255 ? 255 : level) / 255;
        below += counts[k];
    }
    for (int64_t i = 0; i < pixels; i++)
        x[i] = to[byte_of(x[i])];
}

static void equalize(const tern_planes *p)
{
    for (int64_t c = 0; c < p->channels; c++)
        equalize_plane(p->data + c * p->pixels, p->pixels);
}

// ---- all ----------------------------------------------------------------------------------------

void tern_planes_adjust(const tern_planes *planes, tern_image_step step)
{
    switch (step.kind) {
    case TERN_ADJUST_NOTHING:
        return;
    case TERN_ADJUST_BRIGHTNESS:
        brighten(planes, step.amount);
        return;
    case TERN_ADJUST_CONTRAST:
        contrast(planes, step.amount);
        return;
    case TERN_ADJUST_SATURATION:
        saturate(planes, step.amount);
        return;
    case TERN_ADJUST_HUE:
        turn_hue(planes, step.amount);
        return;
    case TERN_ADJUST_SHARPNESS:
        sharpen(planes, step.amount);
        return;
    case TERN_ADJUST_POSTERIZE:
        posterize(planes, step.amount);
        return;
    case TERN_ADJUST_SOLARIZE:
        solarize(planes, step.amount);
        return;
    case TERN_ADJUST_AUTOCONTRAST:
        autocontrast(planes);
        return;
    case TERN_ADJUST_EQUALIZE:
        equalize(planes);
        return;
    }
}
