// SPDX-License-Identifier: Apache-2.0
// The inputs of a row block of output rows, copied with zeros around them. Outputs of a row block
// are numbered row by row, `pitch` to a row, so that the input of position q and tap (h, w) is
// element q + offset(h, w) of a plane; the few positions behind the end of a row mean nothing.
#ifndef TERN_SRC_CPU_CONV_CONV_SOURCE_H
#define TERN_SRC_CPU_CONV_CONV_SOURCE_H

#include <stdbool.h>
#include "cpu/conv/conv_axis.h"
#include "cpu/product/gemm_kernel.h"

#define MIN_COLS 512 // of a row block: rows are cut only where one alone is too long

typedef struct conv_source {
    conv_axis axis[3];
    int64_t rows;  // of outputs in a row block
    int64_t cols;  // outputs of a row in a row block
    int64_t pitch; // zeros at the end of a row are those at the beginning of the next
    int64_t image; // elements from image to image of a phase
    int64_t phase; // from phase to phase of a plane
    int64_t plane; // elements of one channel's input
} conv_source;

static inline int64_t conv_lines(int64_t count)
{
    const int64_t line = 64 / (int64_t)sizeof(real), lines = (count + line - 1) / line;
    return (lines + (lines % 2 == 0)) * line; // odd: planes spread over the sets of a cache
}

// How many copied inputs of every phase are zeros, both at its beginning and at its end.
static inline int64_t conv_shared_zeros(const conv_axis *a)
{
    int64_t shared = a->reach;
    for (int64_t i = 0; i < a->phases; i++) {
        const int64_t first = conv_axis_first(a, i), all = a->count + a->reach;
        const int64_t before = conv_axis_before(a, first, 0, all);
        const int64_t behind = all - conv_axis_before(a, first, a->from_size, all);
        shared = shared < before ? shared : before;
        shared = shared < behind ? shared : behind;
    }
    return shared;
}

static inline conv_source conv_source_of(const conv_axis *axis)
{
    return (conv_source){.axis = {axis[0], axis[1], axis[2]}, .cols = axis[2].count};
}

// Bands of so many rows and cols; of whole images several lie one below the other, and share zeros
// too.
static inline void conv_source_cut(conv_source *s, int64_t rows, int64_t images)
{
    const conv_axis *h = &s->axis[1], *w = &s->axis[2];
    const int64_t shared = images > 1 ? conv_shared_zeros(h) : 0;
    s->rows = rows;
    s->pitch = s->cols + w->reach - (s->cols == w->count ? conv_shared_zeros(w) : 0);
    s->image = (rows + h->reach - shared) * s->pitch;
    s->phase = conv_lines(images * s->image + shared * s->pitch + w->reach + VEC_WIDTH);
    s->plane = s->phase * h->phases * w->phases;
}

static inline int64_t conv_source_offset(const conv_source *s, int64_t tap_h, int64_t tap_w)
{
    const conv_axis *h = &s->axis[1], *w = &s->axis[2];
    return (tap_h % h->phases * w->phases + tap_w % w->phases) * s->phase +
           conv_axis_position(h, tap_h) * s->pitch + conv_axis_position(w, tap_w);
}

// Of all taps of so many planes: (planes, taps).
static void conv_source_offsets(const conv_source *s, int64_t planes, int64_t *to)
{
    for (int64_t p = 0; p < planes; p++)
        for (int64_t h = 0; h < s->axis[1].taps; h++)
            for (int64_t w = 0; w < s->axis[2].taps; w++)
                *to++ = p * s->plane + conv_source_offset(s, h, w);
}

static inline void conv_zero(real *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = 0;
}

static inline void conv_copy(real *to, const real *from, int64_t step, int64_t count)
{
    int64_t i = 0;
    if (step == 1) {
        for (; i + VEC_WIDTH <= count; i += VEC_WIDTH)
            vec_store(to + i, vec_load(from + i));
        for (; i < count; i++)
            to[i] = from[i];
    } else if (step == 2) {
        for (; i < count; i++)
            to[i] = from[2 * i];
    } else {
        for (; i < count; i++)
            to[i] = from[i * step];
    }
}

// Row by row of one phase; `slice` are the inputs (H, W), NULL where all of them are zeros. Returns
// where they end.
static real *conv_source_phase(const conv_source *s, real *to, const real *slice, int64_t first_row,
                               int64_t first_col, int64_t phase_h, int64_t phase_w)
{
    const conv_axis *h = &s->axis[1], *w = &s->axis[2];
    const int64_t first = conv_axis_first(w, phase_w) + first_col * w->step;
    const int64_t left = conv_axis_before(w, first, 0, s->pitch), rows = s->rows + h->reach;
    const int64_t end = conv_axis_before(w, first, w->from_size, s->pitch);
    int64_t row = conv_axis_first(h, phase_h) + first_row * h->step;
    if (slice && w->step == 1 && h->step == 1 && left == 0 && end == s->pitch && first == 0 &&
        end == w->from_size && row >= 0 && row + rows <= h->from_size) {
        conv_copy(to, slice + row * end, 1, rows * end);
        return to + rows * end;
    }
    for (int64_t i = 0; i < rows; i++, row += h->step, to += s->pitch) {
        if (!slice || row < 0 || row >= h->from_size || left >= end) {
            conv_zero(to, s->pitch);
            continue;
        }
        conv_zero(to, left);
        conv_copy(to + left, slice + row * w->from_size + first + left * w->step, w->step,
                  end - left);
        conv_zero(to + end, s->pitch - end);
    }
    return to;
}

// The first output of a row block.
typedef struct conv_position {
    int64_t depth, row, col;
} conv_position;

// The plane of one channel and one tap of the depth, from place `at` on; it
// is image `image` of the row block. After the last one the plane is filled up with zeros.
static void conv_source_plane(const conv_source *s, real *plane, int64_t image, bool last,
                              const real *channel, int64_t tap_d, const conv_position *at)
{
    const conv_axis *d = &s->axis[0], *h = &s->axis[1], *w = &s->axis[2];
    const int64_t slice = at->depth * d->step + conv_axis_shift(d, tap_d);
    const bool inside = slice >= 0 && slice < d->from_size;
    for (int64_t i = 0; i < h->phases; i++) {
        for (int64_t j = 0; j < w->phases; j++, plane += s->phase) {
            real *end =
                conv_source_phase(s, plane + image * s->image,
                                  inside ? channel + slice * h->from_size * w->from_size : NULL,
                                  at->row, at->col, i, j);
            if (last)
                conv_zero(end, plane + s->phase - end);
        }
    }
}

#endif
