// SPDX-License-Identifier: Apache-2.0
// Max pooling over windows of 2 x 2, side by side: a vector of outputs at a time.
#ifndef TERN_SRC_CPU_CONV_POOL_PAIRS_H
#define TERN_SRC_CPU_CONV_POOL_PAIRS_H

#include "cpu/conv/pool_plan.h"

// Of two vectors the elements with even and odd positions; and these put together again. Vectors
// of 64 bytes take longer for short rows, which are common: the 7 outputs of 14 x 14 inputs.
#if defined(__AVX__)
#define POOL_BYTES 32
#else
#define POOL_BYTES 16
#endif
#if defined(__AVX__) && REAL_IS_FLOAT
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD  1, 3, 5, 7, 9, 11, 13, 15
#define LOW  0, 8, 1, 9, 2, 10, 3, 11
#define HIGH 4, 12, 5, 13, 6, 14, 7, 15
#elif defined(__AVX__) || REAL_IS_FLOAT
#define EVEN 0, 2, 4, 6
#define ODD  1, 3, 5, 7
#define LOW  0, 4, 1, 5
#define HIGH 2, 6, 3, 7
#else
#define EVEN 0, 2
#define ODD  1, 3
#define LOW  0, 2
#define HIGH 1, 3
#endif

enum { POOL_LANES = POOL_BYTES / sizeof(real) };
typedef real pool_vec __attribute__((vector_size(POOL_BYTES)));
typedef real pool_unaligned
    __attribute__((vector_size(POOL_BYTES), aligned(sizeof(real)), may_alias));
typedef real_bits pool_mask __attribute__((vector_size(POOL_BYTES)));

POOL_LOOP pool_vec pool_load(const real *x)
{
    return *(const pool_unaligned *)x;
}

// x where the mask is set, else y.
POOL_LOOP pool_mask choose(pool_mask mask, pool_mask x, pool_mask y)
{
    return (x & mask) | (y & ~mask);
}

// Of two vectors the larger, v after best; *tap becomes `at` where v is.
POOL_LOOP pool_vec keep_max(pool_vec best, pool_vec v, pool_mask *tap, pool_mask at)
{
    const pool_mask better = (v > best) | (v != v);
    *tap = choose(better, at, *tap);
    return (pool_vec)choose(better, (pool_mask)v, (pool_mask)best);
}

// The larger of neighbours in two vectors.
POOL_LOOP pool_vec neighbours(const real *x, pool_mask *tap)
{
    const pool_vec low = pool_load(x), high = pool_load(x + POOL_LANES);
    const pool_mask zero = {0};
    *tap = zero;
    return keep_max(__builtin_shufflevector(low, high, EVEN),
                    __builtin_shufflevector(low, high, ODD), tap, zero + 1);
}

// A vector of outputs from two rows of x.
POOL_LOOP void pair_lanes(real *y, uint8_t *tap, const real *x, const real *below, bool tapped)
{
    pool_mask at, at_below;
    const pool_vec top = neighbours(x, &at), low = neighbours(below, &at_below);
    *(pool_unaligned *)y = keep_max(top, low, &at, at_below + 2);
    for (int l = 0; tapped && l < POOL_LANES; l++)
        tap[l] = (uint8_t)at[l];
}

// One output row; what is written past its end, if `spare` outputs lie behind it, is made later.
POOL_LOOP void pair_row(real *y, uint8_t *tap, const real *x, const real *below, int64_t n,
                        bool spare, bool tapped)
{
    int64_t j = 0;
    for (; j + POOL_LANES <= n || (spare && j < n); j += POOL_LANES)
        pair_lanes(y + j, tapped ? tap + j : NULL, x + 2 * j, below + 2 * j, tapped);
    for (; j < n; j++) {
        real best = x[2 * j];
        int at = 0;
        for (int t = 1; t < 4; t++) {
            const real v = (t < 2 ? x : below)[2 * j + t % 2];
            if (POOL_BETTER(v, best)) {
                best = v;
                at = t;
            }
        }
        y[j] = best;
        if (tapped)
            tap[j] = (uint8_t)at;
    }
}

POOL_LOOP void pair_rows(const pool_job *job, int64_t first, int64_t end, bool tapped)
{
    const int64_t n = job->w.out, width = job->w.in;
    const int64_t from = first * job->h.out, rows = end * job->h.out;
    for (int64_t r = from; r < rows; r++) {
        const real *x =
            (const real *)job->x + (r / job->h.out * job->h.in + 2 * (r % job->h.out)) * width;
        pair_row((real *)job->y + r * n, tapped ? job->small + r * n : NULL, x, x + width, n,
                 (rows - 1 - r) * n >= POOL_LANES, tapped);
    }
}

static void pairs(void *context, int64_t group)
{
    const pool_job *job = context;
    const int64_t first = job->units * group / job->groups;
    const int64_t end = job->units * (group + 1) / job->groups;
    if (job->small)
        pair_rows(job, first, end, true);
    else
        pair_rows(job, first, end, false);
}

// A row of dx, of which tap - `from` is 0 or 1 where an element of it was the largest.
POOL_LOOP void spread_row(real *dx, const real *dy, const uint8_t *tap, int64_t n, int32_t from,
                          bool spare)
{
    int64_t j = 0;
    for (; j + POOL_LANES <= n || (spare && j < n); j += POOL_LANES) {
        pool_mask at;
        for (int l = 0; l < POOL_LANES; l++)
            at[l] = tap[j + l] - from;
        const pool_mask value = (pool_mask)pool_load(dy + j), zero = {0};
        const pool_vec even = (pool_vec)(value & (at == zero));
        const pool_vec odd = (pool_vec)(value & (at == zero + 1));
        *(pool_unaligned *)(dx + 2 * j) = __builtin_shufflevector(even, odd, LOW);
        *(pool_unaligned *)(dx + 2 * j + POOL_LANES) = __builtin_shufflevector(even, odd, HIGH);
    }
    for (; j < n; j++) {
        dx[2 * j] = tap[j] == from ? dy[j] : 0;
        dx[2 * j + 1] = tap[j] == from + 1 ? dy[j] : 0;
    }
}

// One sample of a group that goes up to `end`, behind which others write.
static void spread(const pool_job *job, int64_t unit, int64_t end)
{
    const int64_t n = job->w.out, width = job->w.in, rows = job->h.out;
    real *dx = (real *)job->y + unit * job->h.in * width;
    for (int64_t r = 0; r < 2 * rows; r++) {
        const int64_t at = (unit * rows + r / 2) * n;
        const bool spare = ((end - unit) * rows - 1 - r / 2) * n >= POOL_LANES;
        spread_row(dx + r * width, (const real *)job->x + at, job->small + at, n, r % 2 ? 2 : 0,
                   spare);
        for (int64_t j = 2 * n; j < width; j++)
            dx[r * width + j] = 0;
    }
    memset(dx + 2 * rows * width, 0, (size_t)((job->h.in - 2 * rows) * width) * sizeof *dx);
}

static void spreads(void *context, int64_t group)
{
    const pool_job *job = context;
    const int64_t end = job->units * (group + 1) / job->groups;
    for (int64_t unit = job->units * group / job->groups; unit < end; unit++)
        spread(job, unit, end);
}

#endif
