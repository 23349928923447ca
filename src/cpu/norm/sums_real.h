// SPDX-License-Identifier: Apache-2.0
// Sums over runs of elements, for normalisations. A template over row.h's parameters, included
// after it. Up to FOLD_CHUNK elements are added in REAL, everything beyond them in double.

typedef struct ROW(adder) {
    ROW(vec) lanes[4];
    int64_t count; // of elements since the last flush
    double total;
} ROW(adder);

FOLD_INLINE void ROW(flush)(ROW(adder) * a)
{
    const ROW(vec) zero = {0};
    const ROW(vec) all = (a->lanes[0] + a->lanes[1]) + (a->lanes[2] + a->lanes[3]);
    a->total += (double)ROW(lanes)(all);
    for (int j = 0; j < 4; j++)
        a->lanes[j] = zero;
    a->count = 0;
}

// Before n <= FOLD_CHUNK elements are added.
FOLD_INLINE void ROW(make_room)(ROW(adder) * a, int64_t n)
{
    if (a->count + n > FOLD_CHUNK)
        ROW(flush)(a);
    a->count += n;
}

// n <= FOLD_CHUNK
FOLD_INLINE void ROW(add_chunk)(ROW(adder) * a, const REAL *x, int64_t n)
{
    int64_t i = 0;
    ROW(vec) v[4];
    ROW(make_room)(a, n);
    memcpy(v, a->lanes, sizeof v);
    for (; i + 4 * ROW(WIDTH) <= n; i += 4 * ROW(WIDTH))
        for (int j = 0; j < 4; j++)
            v[j] += ROW(load)(x + i + j * ROW(WIDTH));
    for (; i + ROW(WIDTH) <= n; i += ROW(WIDTH))
        v[0] += ROW(load)(x + i);
    if (i < n)
        v[1] += ROW(load_part)(x + i, n - i, 0);
    memcpy(a->lanes, v, sizeof v);
}

static inline void ROW(add_values)(ROW(adder) * a, const REAL *x, int64_t n)
{
    for (int64_t i = 0; i < n; i += FOLD_CHUNK)
        ROW(add_chunk)(a, x + i, n - i < FOLD_CHUNK ? n - i : FOLD_CHUNK);
}

// x - mean to `off` and its square to `squares`, for n <= FOLD_CHUNK.
FOLD_INLINE void ROW(add_off_chunk)(ROW(adder) * off, ROW(adder) * squares, const REAL *x,
                                    REAL mean, int64_t n)
{
    int64_t i = 0;
    ROW(vec) v[4], w[4];
    ROW(make_room)(off, n);
    ROW(make_room)(squares, n);
    memcpy(v, off->lanes, sizeof v);
    memcpy(w, squares->lanes, sizeof w);
    for (; i + 4 * ROW(WIDTH) <= n; i += 4 * ROW(WIDTH))
        for (int j = 0; j < 4; j++) {
            const ROW(vec) d = ROW(load)(x + i + j * ROW(WIDTH)) - mean;
            v[j] += d;
            w[j] += d * d;
        }
    for (; i + ROW(WIDTH) <= n; i += ROW(WIDTH)) {
        const ROW(vec) d = ROW(load)(x + i) - mean;
        v[0] += d;
        w[0] += d * d;
    }
    if (i < n) {
        const ROW(vec) d = ROW(load_part)(x + i, n - i, mean) - mean;
        v[1] += d;
        w[1] += d * d;
    }
    memcpy(off->lanes, v, sizeof v);
    memcpy(squares->lanes, w, sizeof w);
}

static inline void ROW(add_off)(ROW(adder) * off, ROW(adder) * squares, const REAL *x, REAL mean,
                                int64_t n)
{
    for (int64_t i = 0; i < n; i += FOLD_CHUNK)
        ROW(add_off_chunk)(off, squares, x + i, mean, n - i < FOLD_CHUNK ? n - i : FOLD_CHUNK);
}

// What a channel's elements go through: z = (x - mean) scale + shift.
typedef struct ROW(channel) {
    REAL mean, scale, shift;
    bool relu;
} ROW(channel);

// dy where relu lets it pass.
FOLD_INLINE ROW(vec) ROW(passed)(ROW(vec) dy, ROW(vec) off, const ROW(channel) * c)
{
    const ROW(vec) zero = {0};
    const ROW(mask) stopped = off * c->scale + c->shift <= zero;
    return (ROW(vec))((ROW(mask))dy & ~stopped);
}
FOLD_INLINE REAL ROW(passed_one)(REAL dy, REAL off, const ROW(channel) * c)
{
    return c->relu && off * c->scale + c->shift <= 0 ? 0 : dy;
}

// dz to `gradient` and dz (x - mean) to `product`; dz is dy where relu lets it pass.
FOLD_INLINE void ROW(add_pairs_chunk)(ROW(adder) * gradient, ROW(adder) * product, const REAL *dy,
                                      const REAL *x, const ROW(channel) * c, bool relu, int64_t n)
{
    int64_t i = 0;
    ROW(vec) v[2], w[2];
    ROW(make_room)(gradient, n);
    ROW(make_room)(product, n);
    memcpy(v, gradient->lanes, sizeof v);
    memcpy(w, product->lanes, sizeof w);
    for (; i + 2 * ROW(WIDTH) <= n; i += 2 * ROW(WIDTH))
        for (int j = 0; j < 2; j++) {
            const ROW(vec) off = ROW(load)(x + i + j * ROW(WIDTH)) - c->mean;
            ROW(vec) dz = ROW(load)(dy + i + j * ROW(WIDTH));
            dz = relu ? ROW(passed)(dz, off, c) : dz;
            v[j] += dz;
            w[j] += dz * off;
        }
    for (; i < n; i += ROW(WIDTH)) {
        const int64_t some = ROW(part)(n - i);
        const ROW(vec) off = ROW(load_part)(x + i, some, c->mean) - c->mean;
        ROW(vec) dz = ROW(load_part)(dy + i, some, 0);
        dz = relu ? ROW(passed)(dz, off, c) : dz;
        v[0] += dz;
        w[0] += dz * off;
    }
    memcpy(gradient->lanes, v, sizeof v);
    memcpy(product->lanes, w, sizeof w);
}

static inline void ROW(add_pairs)(ROW(adder) * gradient, ROW(adder) * product, const REAL *dy,
                                  const REAL *x, const ROW(channel) * c, int64_t n)
{
    for (int64_t i = 0; i < n; i += FOLD_CHUNK) {
        const int64_t some = n - i < FOLD_CHUNK ? n - i : FOLD_CHUNK;
        if (c->relu)
            ROW(add_pairs_chunk)(gradient, product, dy + i, x + i, c, true, some);
        else
            ROW(add_pairs_chunk)(gradient, product, dy + i, x + i, c, false, some);
    }
}

// y = z
static inline void ROW(normalise)(REAL *y, const REAL *x, const ROW(channel) * c, int64_t n)
{
    const REAL mean = c->mean, scale = c->scale, shift = c->shift;
    if (c->relu) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++) {
            const REAL z = (x[i] - mean) * scale + shift;
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
typedef struct ROW(slope) {
    REAL rstd, first, second, scale;
    bool constant; // the statistics do not depend on x: dx = dz scale
} ROW(slope);

FOLD_INLINE REAL ROW(gradient_one)(REAL dz, REAL off, const ROW(slope) * s)
{
    return (dz - s->first - off * s->rstd * s->second) * s->scale;
}

static inline void ROW(gradient)(REAL *dx, const REAL *dy, const REAL *x, const ROW(channel) * c,
                                 const ROW(slope) * s, int64_t n)
{
    const ROW(channel) channel = *c;
    const ROW(slope) slope = *s;
    if (slope.constant) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            dx[i] = ROW(passed_one)(dy[i], x[i] - channel.mean, &channel) * slope.scale;
    } else if (channel.relu) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++) {
            const REAL off = x[i] - channel.mean;
            const REAL dz = off * channel.scale + channel.shift <= 0 ? 0 : dy[i];
            dx[i] = ROW(gradient_one)(dz, off, &slope);
        }
    } else {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            dx[i] = ROW(gradient_one)(dy[i], x[i] - channel.mean, &slope);
    }
}
