// SPDX-License-Identifier: Apache-2.0
// Resampling along one dimension: which inputs (taps) an output is the weighted sum of. One text
// for the CPU and CUDA. A template over the type of coordinates and weights; before it is included:
//
//     REAL        float or double
//     TAPS(name)  the names of this type
//     FLOOR(x)    of a REAL
//     RESAMPLE_FN        what a function begins with
//     RESAMPLE_DIM       tern_resample_dim, or a struct that has its fields
//     RESAMPLE_BY(n, dim, field)  n / dim->field, n >= 0; field: in, out or stride

typedef struct TAPS(taps) {
    int64_t first; // of the first input; padding and cubic may lie outside
    int64_t count;
    REAL fraction; // of linear and cubic
    REAL weight;   // of the others
} TAPS(taps);

// Where output o lies among the inputs, for linear and cubic.
RESAMPLE_FN REAL TAPS(coordinate)(const RESAMPLE_DIM *d, int64_t o)
{
    const REAL ratio = (REAL)d->ratio;
    if (d->align_corners)
        return (REAL)o * ratio;
    const REAL x = ((REAL)o + (REAL)0.5) * ratio - (REAL)0.5;
    return d->kind == TERN_RESAMPLE_LINEAR && x < 0 ? 0 : x;
}

// The input that is nearest to output o.
RESAMPLE_FN int64_t TAPS(nearest)(const RESAMPLE_DIM *d, int64_t o)
{
    const float half = d->kind == TERN_RESAMPLE_NEAREST_EXACT ? 0.5f : 0;
    const int64_t i = (int64_t)(((float)o + half) * (float)d->ratio);
    return i < d->in ? i : d->in - 1;
}

// The window of output o of an average.
RESAMPLE_FN void TAPS(window)(const RESAMPLE_DIM *d, int64_t o, TAPS(taps) * taps)
{
    int64_t first = o * d->stride - d->padding, end = first + d->kernel;
    if (end > d->in + d->padding)
        end = d->in + d->padding;
    const int64_t padded = end - first;
    first = first > 0 ? first : 0;
    end = end < d->in ? end : d->in;
    taps->first = first;
    taps->count = end - first;
    taps->weight = d->divisor == TERN_DIVISOR_ONE      ? 1
                   : d->divisor == TERN_DIVISOR_PADDED ? 1 / (REAL)padded
                                                       : 1 / (REAL)taps->count;
}

RESAMPLE_FN int64_t TAPS(padded)(const RESAMPLE_DIM *d, int64_t o)
{
    const int64_t i = o - d->padding, last = d->in - 1;
    if (d->kind == TERN_RESAMPLE_REPLICATE)
        return i < 0 ? 0 : i > last ? last : i;
    if (d->kind == TERN_RESAMPLE_REFLECT)
        return i < 0 ? -i : i > last ? 2 * last - i : i;
    return i < 0 ? i + d->in : i > last ? i - d->in : i;
}

RESAMPLE_FN void TAPS(find)(const RESAMPLE_DIM *d, int64_t o, TAPS(taps) * taps)
{
    taps->count = 1;
    taps->weight = 1;
    taps->fraction = 0;
    taps->first = o;
    switch (d->kind) {
    case TERN_RESAMPLE_SAME:
        return;
    case TERN_RESAMPLE_NEAREST:
    case TERN_RESAMPLE_NEAREST_EXACT:
        taps->first = TAPS(nearest)(d, o);
        return;
    case TERN_RESAMPLE_LINEAR:
    case TERN_RESAMPLE_CUBIC: {
        const REAL x = TAPS(coordinate)(d, o), below = FLOOR(x);
        const bool cubic = d->kind == TERN_RESAMPLE_CUBIC;
        int64_t first = (int64_t)below;
        first = first < d->in ? first : d->in - 1;
        const REAL fraction = x - (REAL)first;
        taps->fraction = fraction < 1 ? fraction : 1;
        taps->first = first - cubic;
        taps->count = cubic ? 4 : 2;
        return;
    }
    case TERN_RESAMPLE_AREA:
        taps->first = RESAMPLE_BY(o * d->in, d, out);
        taps->count = RESAMPLE_BY((o + 1) * d->in + d->out - 1, d, out) - taps->first;
        taps->weight = 1 / (REAL)taps->count;
        return;
    case TERN_RESAMPLE_WINDOW:
        TAPS(window)(d, o, taps);
        return;
    case TERN_RESAMPLE_REFLECT:
    case TERN_RESAMPLE_REPLICATE:
    case TERN_RESAMPLE_CIRCULAR:
        taps->first = TAPS(padded)(d, o);
        return;
    }
}

// The input of tap k.
RESAMPLE_FN int64_t TAPS(index)(const RESAMPLE_DIM *d, const TAPS(taps) * taps, int64_t k)
{
    const int64_t i = taps->first + k;
    return i < 0 ? 0 : i < d->in ? i : d->in - 1;
}

// Cubic convolution with A = -0.75 (R. G. Keys, 1981): at distances below 1, and from 1 to 2.
RESAMPLE_FN REAL TAPS(near)(REAL x)
{
    const REAL a = (REAL)-0.75;
    return ((a + 2) * x - (a + 3)) * x * x + 1;
}
RESAMPLE_FN REAL TAPS(far)(REAL x)
{
    const REAL a = (REAL)-0.75;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

RESAMPLE_FN REAL TAPS(weight)(const RESAMPLE_DIM *d, const TAPS(taps) * taps, int64_t k)
{
    const REAL t = taps->fraction;
    if (d->kind == TERN_RESAMPLE_LINEAR)
        return k ? t : 1 - t;
    if (d->kind != TERN_RESAMPLE_CUBIC)
        return taps->weight;
    return k == 0   ? TAPS(far)(t + 1)
           : k == 1 ? TAPS(near)(t)
           : k == 2 ? TAPS(near)(1 - t)
                    : TAPS(far)(2 - t);
}
