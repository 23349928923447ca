// SPDX-License-Identifier: Apache-2.0
#include "train/log/histogram.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Elements that are looked at together, in lanes that the compiler makes vectors of.
#define BLOCK 512
#define LANES 4

// ---- moments ------------------------------------------------------------------------------------

static void add_one(tern_log_histogram *h, double x)
{
    if (!isfinite(x)) {
        h->nan += isnan(x);
        h->inf += !isnan(x);
        return;
    }
    h->min = x < h->min ? x : h->min;
    h->max = x > h->max ? x : h->max;
    h->sum += x;
    h->sum_squares += x * x;
    h->count++;
}

typedef struct lanes {
    double min[LANES], max[LANES], sum[LANES], squares[LANES], zero[LANES];
} lanes;

static void add_lanes(tern_log_histogram *h, const lanes *l)
{
    for (int k = 0; k < LANES; k++) {
        h->min = l->min[k] < h->min ? l->min[k] : h->min;
        h->max = l->max[k] > h->max ? l->max[k] : h->max;
        h->sum += l->sum[k];
        h->sum_squares += l->squares[k];
    }
    h->count += BLOCK;
}

// False, and nothing is added, where an element of the block is not finite.
static bool add_block(tern_log_histogram *h, const double *x)
{
    lanes l;
    memset(&l, 0, sizeof l);
    memcpy(l.min, x, sizeof l.min);
    memcpy(l.max, x, sizeof l.max);
    for (int i = 0; i < BLOCK; i += LANES)
        for (int k = 0; k < LANES; k++) {
            const double value = x[i + k];
            l.min[k] = value < l.min[k] ? value : l.min[k];
            l.max[k] = value > l.max[k] ? value : l.max[k];
            l.sum[k] += value;
            l.squares[k] += value * value;
            l.zero[k] += value - value; // NaN once one is not finite
        }
    for (int k = 0; k < LANES; k++)
        if (l.zero[k] != 0)
            return false;
    add_lanes(h, &l);
    return true;
}

static void add_moments(tern_log_histogram *h, const double *x, int64_t count)
{
    if (count == BLOCK && add_block(h, x))
        return;
    for (int64_t i = 0; i < count; i++)
        add_one(h, x[i]);
}

// ---- ranges -------------------------------------------------------------------------------------

// The bin of x is about (half * x - from) * scale; `half` keeps the range of any doubles finite.
typedef struct ranges {
    int64_t bins;
    double half, from, scale;
    double doubt;        // nearer to an edge than this the edges decide
    const double *edges; // left ones, and the last right one
    int64_t *counts;
} ranges;

// Those of one value are wide enough to be drawn.
static void widen(double *left, double *right)
{
    const double pad = fmax(0.5, fabs(*right) * 0x1p-20);
    *left = fmax(*left - pad, -DBL_MAX);
    *right = fmin(*right + pad, DBL_MAX);
}

static ranges ranges_of(const tern_log_histogram *h, int64_t bins, double *edges, int64_t *counts)
{
    double left = h->min, right = h->max;
    if (!isfinite((double)bins / (right - left)))
        widen(&left, &right);
    ranges r = {.bins = bins, .half = isfinite(right - left) ? 1 : 0.5};
    const double width = right * r.half - left * r.half;
    const double step = width / (double)bins;
    for (int64_t i = 0; i < bins; i++)
        edges[i] = (left * r.half + (double)i * step) / r.half;
    edges[bins] = right;
    r.edges = edges;
    r.counts = counts;
    r.from = left * r.half;
    r.scale = (double)bins / width;
    r.doubt = 1e-9 + 8 * DBL_EPSILON * (fabs(left * r.half) + fabs(right * r.half)) * r.scale;
    return r;
}

// Whatever was rounded in the quotient.
static int64_t bin_by_edges(const ranges *r, double x, double quotient)
{
    int64_t bin = quotient < (double)r->bins ? (int64_t)quotient : r->bins - 1;
    bin -= x < r->edges[bin];
    return bin + (bin < r->bins - 1 && x >= r->edges[bin + 1]);
}

static void count_block(const ranges *r, const double *x, int64_t count)
{
    double quotient[BLOCK];
    int32_t bin[BLOCK];
    for (int64_t i = 0; i < count; i++) {
        quotient[i] = (x[i] * r->half - r->from) * r->scale;
        // those that are not finite are none
        const double inside = quotient[i] >= 0 && quotient[i] < 2048 ? quotient[i] : -1;
        bin[i] = (int32_t)inside;
    }
    for (int64_t i = 0; i < count; i++) {
        const double above = quotient[i] - bin[i];
        if (bin[i] >= 0 && bin[i] < r->bins && above > r->doubt && above < 1 - r->doubt)
            r->counts[bin[i]]++;
        else if (isfinite(x[i]))
            r->counts[bin_by_edges(r, x[i], quotient[i])]++;
    }
}

// ---- all ----------------------------------------------------------------------------------------

// Elements from `at` on as doubles, at most a block of them.
static const double *read_block(tern_dtype dtype, const void *x, int64_t at, int64_t count,
                                double buffer[BLOCK])
{
    if (dtype == TERN_FLOAT64)
        return (const double *)x + at;
    for (int64_t i = 0; i < count; i++)
        buffer[i] = (double)((const float *)x)[at + i];
    return buffer;
}

void tern_log_histogram_make(tern_log_histogram *h, tern_dtype dtype, const void *x, int64_t count,
                             int64_t bins, double *edges, int64_t *counts)
{
    double buffer[BLOCK];
    *h = (tern_log_histogram){.min = INFINITY, .max = -INFINITY};
    for (int64_t at = 0, n; at < count; at += n) {
        n = count - at < BLOCK ? count - at : BLOCK;
        add_moments(h, read_block(dtype, x, at, n, buffer), n);
    }
    if (h->count == 0)
        return;
    const ranges r = ranges_of(h, bins, edges, counts);
    for (int64_t at = 0, n; at < count; at += n) {
        n = count - at < BLOCK ? count - at : BLOCK;
        count_block(&r, read_block(dtype, x, at, n, buffer), n);
    }
    h->bins = bins;
    h->left = edges[0];
    h->limits = edges + 1;
    h->counts = counts;
}
