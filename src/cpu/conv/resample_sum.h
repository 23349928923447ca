// SPDX-License-Identifier: Apache-2.0
// Sums of rows, in vectors of 32 bytes under every instruction set.
#ifndef TERN_SRC_CPU_CONV_RESAMPLE_SUM_H
#define TERN_SRC_CPU_CONV_RESAMPLE_SUM_H

#include "cpu/real.h"

// Places of a shuffle: the halves of two vectors, in turns.
#if REAL_IS_FLOAT
#define LOW  0, 8, 1, 9, 2, 10, 3, 11
#define HIGH 4, 12, 5, 13, 6, 14, 7, 15
#else
#define LOW  0, 4, 1, 5
#define HIGH 2, 6, 3, 7
#endif

enum { LANES = 32 / sizeof(real) };

static real sum(const real *x, int64_t n)
{
    real lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += x[i + l];
    for (; i < n; i++)
        sum += x[i];
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

// The products of weights and inputs.
static real dot(const real *weight, const real *x, int64_t n)
{
    real lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += weight[i + l] * x[i + l];
    for (; i < n; i++)
        sum += weight[i] * x[i];
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

typedef real lanes __attribute__((vector_size(32)));
typedef real loose __attribute__((vector_size(32), aligned(sizeof(real)), may_alias));
typedef real_bits mask __attribute__((vector_size(32)));

// The means of as many samples as a vector has lanes, side by side: no sum waits for another, and
// their lanes are added in pairs of samples. n is at least a vector; the last one is masked.
static inline void mean_lanes(real *y, const real *x, int64_t n)
{
    const int64_t whole = n / LANES * LANES;
    lanes sum[LANES] = {{0}};
    mask last;
    for (int l = 0; l < LANES; l++)
        last[l] = l < LANES - (n - whole) ? 0 : -1;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int r = 0; r < LANES; r++)
            sum[r] += *(const loose *)(x + r * n + i);
    for (int r = 0; r < LANES; r++) {
        const lanes rest = *(const loose *)(x + r * n + n - LANES);
        sum[r] += (lanes)((mask)rest & last);
    }
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int r = 0; r < half; r++)
            sum[r] = __builtin_shufflevector(sum[r], sum[r + half], LOW) +
                     __builtin_shufflevector(sum[r], sum[r + half], HIGH);
    *(loose *)y = sum[0] / (real)n;
}

#endif
