// SPDX-License-Identifier: Apache-2.0
// What poolings, padding and resizing mean. What is linear is a matrix for each dimension, of every
// input's weight in every output; the rest looks at each window.
#include "pool_setup.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SIZE = 96, DIMS = 3 };

// ---- the last dimensions -----------------------------------------------------------------------

typedef struct planes {
    int64_t rows, in[DIMS], out[DIMS]; // dimensions that there are not have size 1
} planes;

static planes planes_of(tern_shape in, tern_shape out, int dims)
{
    planes p = {1, {1, 1, 1}, {1, 1, 1}};
    for (int d = 0; d < in.rank; d++) {
        if (d < in.rank - dims) {
            p.rows *= in.dim[d];
            continue;
        }
        p.in[DIMS - (in.rank - d)] = in.dim[d];
        p.out[DIMS - (in.rank - d)] = out.dim[d];
    }
    return p;
}

static void make_result(expected *out, tern_shape shape, bool summed)
{
    out->value = array_new(out->value.dtype, shape);
    if (summed)
        out->magnitude = array_new(TERN_FLOAT64, shape);
}

static int64_t at(int64_t row, const int64_t *size, int64_t d, int64_t h, int64_t w)
{
    return ((row * size[0] + d) * size[1] + h) * size[2] + w;
}

// ---- matrices ----------------------------------------------------------------------------------

typedef real matrix[MOST_SIZE][MOST_SIZE]; // [output][input]

typedef void weights_fn(const op_case *c, const setup *s, int dim, int64_t in, int64_t out,
                        matrix m);

static void add_up(const planes *p, const array *x, matrix *m, expected *out)
{
    for (int64_t o = 0; o < out->value.numel; o++) {
        int64_t w = o % p->out[2], h = o / p->out[2] % p->out[1];
        int64_t d = o / (p->out[2] * p->out[1]) % p->out[0];
        int64_t row = o / (p->out[2] * p->out[1] * p->out[0]);
        for (int64_t i = 0; i < p->in[0] * p->in[1] * p->in[2]; i++) {
            int64_t id = i / (p->in[1] * p->in[2]), ih = i / p->in[2] % p->in[1], iw = i % p->in[2];
            real weight = m[0][d][id] * m[1][h][ih] * m[2][w][iw];
            if (weight == 0)
                continue;
            real term = weight * x->data[at(row, p->in, id, ih, iw)];
            out->value.data[o] += term;
            out->magnitude.data[o] += fabsl(term);
        }
    }
}

static void linear_map(const op_case *c, const setup *s, const array *x, tern_shape shape, int dims,
                       weights_fn *weights, expected *out)
{
    matrix *m = calloc(DIMS, sizeof *m);
    if (!m)
        abort();
    make_result(out, shape, true);
    planes p = planes_of(x->shape, shape, dims);
    for (int d = 0; d < DIMS; d++) {
        m[d][0][0] = 1;
        if (d >= DIMS - dims && p.in[d] > 0) {
            m[d][0][0] = 0;
            weights(c, s, d - (DIMS - dims), p.in[d], p.out[d], m[d]);
        }
    }
    out->terms = 64; // coordinates are rounded too
    add_up(&p, x, m, out);
    free(m);
}

// ---- windows -----------------------------------------------------------------------------------

static int64_t kernel_at(const setup *s, int dim)
{
    return s->shape.dim[dim];
}
static int64_t stride_at(const setup *s, int dim)
{
    return s->axes.axis[dim];
}
static int64_t padding_at(const setup *s, int dim)
{
    return s->axes.axis[s->shape.rank + dim];
}

// As many windows as begin before the padding ends and, unless rounded up, end there.
static int64_t window_count(const setup *s, int dim, int64_t in, int64_t dilation)
{
    int64_t padding = padding_at(s, dim), span = dilation * (kernel_at(s, dim) - 1) + 1;
    int64_t count = 0;
    for (int64_t start = -padding;; start += stride_at(s, dim), count++) {
        bool fits = start + span <= in + padding;
        bool partly = s->p[1] != 0 && start < in && start + span < in + padding + stride_at(s, dim);
        if (!fits && !partly)
            return count;
    }
}

static tern_shape windows_shape(const setup *s, tern_shape in, int64_t dilation)
{
    int dims = s->shape.rank;
    for (int i = 0; i < dims; i++)
        in.dim[in.rank - dims + i] = window_count(s, i, in.dim[in.rank - dims + i], dilation);
    return in;
}

static void avg_weights(const op_case *c, const setup *s, int dim, int64_t in, int64_t out,
                        matrix m)
{
    (void)c;
    for (int64_t o = 0; o < out; o++) {
        int64_t inside = 0, padded = 0;
        for (int64_t t = 0; t < kernel_at(s, dim); t++) {
            int64_t i = o * stride_at(s, dim) - padding_at(s, dim) + t;
            inside += i >= 0 && i < in;
            padded += i < in + padding_at(s, dim);
        }
        real divisor = s->p[2] != 0 ? (real)padded : (real)inside;
        if (s->p[3] != 0)
            divisor = dim == 0 ? (real)s->p[3] : 1;
        for (int64_t t = 0; t < kernel_at(s, dim); t++) {
            int64_t i = o * stride_at(s, dim) - padding_at(s, dim) + t;
            if (i >= 0 && i < in)
                m[o][i] = 1 / divisor;
        }
    }
}

void reference_avg_pool(const op_case *c, const setup *s, const array *in, expected *out)
{
    linear_map(c, s, &in[0], windows_shape(s, in[0].shape, 1), s->shape.rank, avg_weights, out);
}

static tern_shape adaptive_shape(const setup *s, tern_shape in)
{
    for (int i = 0; i < s->shape.rank; i++)
        if (s->shape.dim[i] != TERN_KEEP_SIZE)
            in.dim[in.rank - s->shape.rank + i] = s->shape.dim[i];
    return in;
}

// Input i and output o have a piece of the line in common.
static bool adaptive_shares(int64_t i, int64_t in, int64_t o, int64_t out)
{
    return i * out < (o + 1) * in && (i + 1) * out > o * in;
}

static void adaptive_weights(const op_case *c, const setup *s, int dim, int64_t in, int64_t out,
                             matrix m)
{
    (void)c;
    (void)s;
    (void)dim;
    for (int64_t o = 0; o < out; o++) {
        int64_t count = 0;
        for (int64_t i = 0; i < in; i++)
            count += adaptive_shares(i, in, o, out);
        for (int64_t i = 0; i < in; i++)
            m[o][i] = adaptive_shares(i, in, o, out) ? 1 / (real)count : 0;
    }
}

void reference_adaptive_avg(const op_case *c, const setup *s, const array *in, expected *out)
{
    linear_map(c, s, &in[0], adaptive_shape(s, in[0].shape), s->shape.rank, adaptive_weights, out);
}

// ---- the largest -------------------------------------------------------------------------------

static bool in_window(const setup *s, bool adaptive, int dim, int64_t in, int64_t out, int64_t o,
                      int64_t i)
{
    if (dim < 0)
        return true;
    if (adaptive)
        return adaptive_shares(i, in, o, out);
    int64_t from = i - (o * stride_at(s, dim) - padding_at(s, dim)), step = (int64_t)s->p[0];
    return from >= 0 && from % step == 0 && from / step < kernel_at(s, dim);
}

static void largest(const setup *s, bool adaptive, bool place, const array *x, tern_shape shape,
                    expected *out)
{
    make_result(out, shape, false);
    int dims = s->shape.rank, skip = DIMS - dims;
    planes p = planes_of(x->shape, shape, dims);
    int64_t volume = p.in[0] * p.in[1] * p.in[2];
    for (int64_t o = 0; o < out->value.numel; o++) {
        int64_t w = o % p.out[2], h = o / p.out[2] % p.out[1];
        int64_t d = o / (p.out[2] * p.out[1]) % p.out[0];
        int64_t row = o / (p.out[2] * p.out[1] * p.out[0]), best = -1;
        for (int64_t i = 0; i < volume; i++) {
            int64_t id = i / (p.in[1] * p.in[2]), ih = i / p.in[2] % p.in[1], iw = i % p.in[2];
            if (!in_window(s, adaptive, 0 - skip, p.in[0], p.out[0], d, id) ||
                !in_window(s, adaptive, 1 - skip, p.in[1], p.out[1], h, ih) ||
                !in_window(s, adaptive, 2 - skip, p.in[2], p.out[2], w, iw))
                continue;
            real v = x->data[row * volume + i];
            if (best < 0 || v > x->data[row * volume + best] || isnan(v))
                best = i;
        }
        out->value.data[o] = place ? (real)best : x->data[row * volume + best];
    }
}

void reference_max_pool(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)c;
    largest(s, false, false, &in[0], windows_shape(s, in[0].shape, (int64_t)s->p[0]), out);
}

void reference_max_place(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)c;
    largest(s, false, true, &in[0], windows_shape(s, in[0].shape, (int64_t)s->p[0]), out);
}

void reference_adaptive_max(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)c;
    largest(s, true, false, &in[0], adaptive_shape(s, in[0].shape), out);
}

void reference_adaptive_place(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)c;
    largest(s, true, true, &in[0], adaptive_shape(s, in[0].shape), out);
}

// ---- padding -----------------------------------------------------------------------------------

// Walks from the border back into the line; -1: a value is there.
static int64_t padded_from(tern_pad_mode mode, int64_t i, int64_t in)
{
    if (mode <= TERN_PAD_CONSTANT)
        return i < 0 || i >= in ? -1 : i;
    if (mode == TERN_PAD_REPLICATE)
        return i < 0 ? 0 : i >= in ? in - 1 : i;
    while (i < 0 || i >= in) {
        if (mode == TERN_PAD_CIRCULAR)
            i += i < 0 ? in : -in;
        else
            i = i < 0 ? -i : in - 1 - (i - (in - 1));
    }
    return i;
}

// p: the mode and the value.
void reference_pad(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)c;
    tern_shape from = in[0].shape, to = from;
    for (int i = 0; i < s->axes.count; i++)
        to.dim[to.rank - 1 - i / 2] += s->axes.axis[i];
    make_result(out, to, false);
    for (int64_t o = 0; o < out->value.numel; o++) {
        int64_t rest = o, place = 0, step = 1;
        bool outside = false;
        for (int d = to.rank - 1; d >= 0; d--) {
            int pair = to.rank - 1 - d;
            int64_t i = rest % to.dim[d];
            rest /= to.dim[d];
            if (2 * pair < s->axes.count)
                i = padded_from((tern_pad_mode)s->p[0], i - s->axes.axis[2 * pair], from.dim[d]);
            outside |= i < 0;
            place += i * step;
            step *= from.dim[d];
        }
        out->value.data[o] = outside ? (real)s->p[1] : in[0].data[place];
    }
}

// ---- resizing ----------------------------------------------------------------------------------

static real cubic(real x) // Keys 1981, with -3/4
{
    const real a = -0.75L;
    x = fabsl(x);
    if (x <= 1)
        return (a + 2) * x * x * x - (a + 3) * x * x + 1;
    return x < 2 ? a * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}

static real ratio_of(const op_case *c, const setup *s, int dim, int64_t in, int64_t out)
{
    if (c->p[1] != 0)
        return out > 1 ? (real)(in - 1) / (real)(out - 1) : 0;
    if (s->shape.rank > 0 || c->p[2] != 0)
        return (real)in / (real)out;
    return 1 / (real)s->p[dim];
}

static void resize_weights(const op_case *c, const setup *s, int dim, int64_t in, int64_t out,
                           matrix m)
{
    tern_interpolate_mode mode = (tern_interpolate_mode)c->p[0];
    real ratio = ratio_of(c, s, dim, in, out);
    mode = mode == TERN_INTERPOLATE_UNSPECIFIED ? TERN_NEAREST : mode;
    if (mode == TERN_AREA) {
        adaptive_weights(c, s, dim, in, out, m);
        return;
    }
    for (int64_t o = 0; o < out; o++) {
        bool plain = mode == TERN_NEAREST || c->p[1] != 0;
        real x = plain ? (real)o * ratio : ((real)o + 0.5L) * ratio - 0.5L;
        if (mode == TERN_NEAREST || mode == TERN_NEAREST_EXACT) {
            int64_t i = (int64_t)floorl(mode == TERN_NEAREST ? x : x + 0.5L);
            m[o][i < in ? i : in - 1] = 1;
            continue;
        }
        bool is_cubic = mode == TERN_BICUBIC;
        x = !is_cubic && x < 0 ? 0 : x;
        for (int64_t i = (int64_t)floorl(x) - 1; i <= (int64_t)floorl(x) + 2; i++) {
            int64_t inside = i < 0 ? 0 : i < in ? i : in - 1;
            real away = fabsl(x - (real)i);
            m[o][inside] += is_cubic ? cubic(away) : away < 1 ? 1 - away : 0;
        }
    }
}

void reference_interpolate(const op_case *c, const setup *s, const array *in, expected *out)
{
    tern_shape shape = in[0].shape;
    int dims = shape.rank - 2;
    for (int i = 0; i < dims; i++)
        shape.dim[2 + i] = s->shape.rank > 0 ? s->shape.dim[i]
                                             : (int64_t)floor((double)shape.dim[2 + i] * s->p[i]);
    linear_map(c, s, &in[0], shape, dims, resize_weights, out);
}

// ---- neighbouring channels ---------------------------------------------------------------------

// p: size, alpha, beta, k
void reference_local_response_norm(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)c;
    tern_shape shape = in[0].shape;
    int64_t channels = shape.dim[1], space = 1, size = (int64_t)s->p[0];
    for (int d = 2; d < shape.rank; d++)
        space *= shape.dim[d];
    make_result(out, shape, true);
    out->terms = (double)size + 16;
    for (int64_t i = 0; i < out->value.numel; i++) {
        int64_t at_channel = i / space % channels;
        real sum = 0, x = in[0].data[i];
        for (int64_t k = at_channel - size / 2; k < at_channel - size / 2 + size; k++)
            if (k >= 0 && k < channels)
                sum += powl(in[0].data[i + (k - at_channel) * space], 2);
        real divisor = powl((real)s->p[3] + (real)s->p[1] / (real)size * sum, (real)s->p[2]);
        out->value.data[i] = x / divisor;
        out->magnitude.data[i] = fabsl(x / divisor);
    }
}
