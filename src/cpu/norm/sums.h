// SPDX-License-Identifier: Apache-2.0
// Sums over runs of elements, for normalisations. Up to REDUCE_CHUNK elements are added in `real`,
// everything beyond them in double.
#ifndef TERN_SRC_CPU_NORM_SUMS_H
#define TERN_SRC_CPU_NORM_SUMS_H

#include "cpu/row.h"

typedef struct adder {
    vec lanes[4];
    int64_t count; // of elements since the last flush
    double total;
} adder;

VEC_INLINE void flush(adder *a)
{
    const vec zero = {0};
    const vec all = (a->lanes[0] + a->lanes[1]) + (a->lanes[2] + a->lanes[3]);
    a->total += (double)vec_reduce_add(all);
    for (int j = 0; j < 4; j++)
        a->lanes[j] = zero;
    a->count = 0;
}

// Before n <= REDUCE_CHUNK elements are added.
VEC_INLINE void count_more(adder *a, int64_t n)
{
    if (a->count + n > REDUCE_CHUNK)
        flush(a);
    a->count += n;
}

// n <= REDUCE_CHUNK
VEC_INLINE void add_chunk(adder *a, const real *x, int64_t n)
{
    int64_t i = 0;
    vec v[4];
    count_more(a, n);
    memcpy(v, a->lanes, sizeof v);
    for (; i + 4 * VEC_WIDTH <= n; i += 4 * VEC_WIDTH)
        for (int j = 0; j < 4; j++)
            v[j] += vec_load(x + i + j * VEC_WIDTH);
    for (; i + VEC_WIDTH <= n; i += VEC_WIDTH)
        v[0] += vec_load(x + i);
    if (i < n)
        v[1] += vec_load_partial(x + i, n - i, 0);
    memcpy(a->lanes, v, sizeof v);
}

static inline void add_values(adder *a, const real *x, int64_t n)
{
    for (int64_t i = 0; i < n; i += REDUCE_CHUNK)
        add_chunk(a, x + i, n - i < REDUCE_CHUNK ? n - i : REDUCE_CHUNK);
}

// x - mean to `off` and its square to `squares`, for n <= REDUCE_CHUNK.
VEC_INLINE void add_off_chunk(adder *off, adder *squares, const real *x, real mean, int64_t n)
{
    int64_t i = 0;
    vec v[4], w[4];
    count_more(off, n);
    count_more(squares, n);
    memcpy(v, off->lanes, sizeof v);
    memcpy(w, squares->lanes, sizeof w);
    for (; i + 4 * VEC_WIDTH <= n; i += 4 * VEC_WIDTH)
        for (int j = 0; j < 4; j++) {
            const vec d = vec_load(x + i + j * VEC_WIDTH) - mean;
            v[j] += d;
            w[j] += d * d;
        }
    for (; i + VEC_WIDTH <= n; i += VEC_WIDTH) {
        const vec d = vec_load(x + i) - mean;
        v[0] += d;
        w[0] += d * d;
    }
    if (i < n) {
        const vec d = vec_load_partial(x + i, n - i, mean) - mean;
        v[1] += d;
        w[1] += d * d;
    }
    memcpy(off->lanes, v, sizeof v);
    memcpy(squares->lanes, w, sizeof w);
}

static inline void add_off(adder *off, adder *squares, const real *x, real mean, int64_t n)
{
    for (int64_t i = 0; i < n; i += REDUCE_CHUNK)
        add_off_chunk(off, squares, x + i, mean, n - i < REDUCE_CHUNK ? n - i : REDUCE_CHUNK);
}

// What a channel's elements go through: z = (x - mean) scale + shift.
typedef struct norm_channel {
    real mean, scale, shift;
    bool relu;
} norm_channel;

// dy where relu lets it pass.
VEC_INLINE vec relu_grad(vec dy, vec off, const norm_channel *c)
{
    const vec zero = {0};
    const vec_mask stopped = off * c->scale + c->shift <= zero;
    return (vec)((vec_mask)dy & ~stopped);
}
VEC_INLINE real relu_grad_one(real dy, real off, const norm_channel *c)
{
    return c->relu && off * c->scale + c->shift <= 0 ? 0 : dy;
}

// dz to `gradient` and dz (x - mean) to `product`; dz is dy where relu lets it pass.
VEC_INLINE void add_pairs_chunk(adder *gradient, adder *product, const real *dy, const real *x,
                                const norm_channel *c, bool relu, int64_t n)
{
    int64_t i = 0;
    vec v[2], w[2];
    count_more(gradient, n);
    count_more(product, n);
    memcpy(v, gradient->lanes, sizeof v);
    memcpy(w, product->lanes, sizeof w);
    for (; i + 2 * VEC_WIDTH <= n; i += 2 * VEC_WIDTH)
        for (int j = 0; j < 2; j++) {
            const vec off = vec_load(x + i + j * VEC_WIDTH) - c->mean;
            vec dz = vec_load(dy + i + j * VEC_WIDTH);
            dz = relu ? relu_grad(dz, off, c) : dz;
            v[j] += dz;
            w[j] += dz * off;
        }
    for (; i < n; i += VEC_WIDTH) {
        const int64_t some = vec_count(n - i);
        const vec off = vec_load_partial(x + i, some, c->mean) - c->mean;
        vec dz = vec_load_partial(dy + i, some, 0);
        dz = relu ? relu_grad(dz, off, c) : dz;
        v[0] += dz;
        w[0] += dz * off;
    }
    memcpy(gradient->lanes, v, sizeof v);
    memcpy(product->lanes, w, sizeof w);
}

static inline void add_pairs(adder *gradient, adder *product, const real *dy, const real *x,
                             const norm_channel *c, int64_t n)
{
    for (int64_t i = 0; i < n; i += REDUCE_CHUNK) {
        const int64_t some = n - i < REDUCE_CHUNK ? n - i : REDUCE_CHUNK;
        if (c->relu)
            add_pairs_chunk(gradient, product, dy + i, x + i, c, true, some);
        else
            add_pairs_chunk(gradient, product, dy + i, x + i, c, false, some);
    }
}

// y = z
static inline void normalise(real *y, const real *x, const norm_channel *c, int64_t n)
{
    const real mean = c->mean, scale = c->scale, shift = c->shift;
    if (c->relu) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++) {
            const real z = (x[i] - mean) * scale + shift;
            y[i] = z <= 0 ? 0 : z;
        }
        return;
    }
    ELEMENTWISE_LOOP
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * scale + shift;
}

// What the gradient of a channel's elements is made of: dx = (dz - first - second x^) scale, where
// x^ = (x - mean) rstd; `first` and `second` are the means of dz and of dz x^.
typedef struct norm_slope {
    real rstd, first, second, scale;
    bool constant; // the statistics do not depend on x: dx = dz scale
} norm_slope;

VEC_INLINE real gradient_one(real dz, real off, const norm_slope *s)
{
    return (dz - s->first - off * s->rstd * s->second) * s->scale;
}

static inline void gradient(real *dx, const real *dy, const real *x, const norm_channel *c,
                            const norm_slope *s, int64_t n)
{
    const norm_channel channel = *c;
    const norm_slope slope = *s;
    if (slope.constant) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            dx[i] = relu_grad_one(dy[i], x[i] - channel.mean, &channel) * slope.scale;
    } else if (channel.relu) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++) {
            const real off = x[i] - channel.mean;
            const real dz = off * channel.scale + channel.shift <= 0 ? 0 : dy[i];
            dx[i] = gradient_one(dz, off, &slope);
        }
    } else {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            dx[i] = gradient_one(dy[i], x[i] - channel.mean, &slope);
    }
}

#endif
