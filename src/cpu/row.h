// SPDX-License-Identifier: Apache-2.0
// Rows of a softmax. A template: REAL is float or double, REAL_BITS the signed integer of its size,
// ROW(name) the names, ROW_EXP the exponential of what is not above 0. Long rows are added in
// chunks, then in double.

#include "cpu/part.h"

typedef REAL ROW(vec) __attribute__((vector_size(FOLD_BYTES)));
typedef REAL_BITS ROW(mask) __attribute__((vector_size(FOLD_BYTES)));
typedef REAL ROW(unaligned)
    __attribute__((vector_size(FOLD_BYTES), aligned(sizeof(REAL)), may_alias));

typedef REAL ROW(quarter) __attribute__((vector_size(16)));

enum { ROW(WIDTH) = FOLD_BYTES / sizeof(REAL), ROW(QUARTER) = 16 / sizeof(REAL) };
enum { ROW(VECTORS) = FOLD_BYTES < 64 ? 2 : 1 }; // of the longest row that stays in registers

FOLD_INLINE ROW(vec) ROW(load)(const REAL *x)
{
    return *(const ROW(unaligned) *)x;
}

FOLD_INLINE int64_t ROW(part)(int64_t left)
{
    return left < ROW(WIDTH) ? left : ROW(WIDTH);
}

// Whose first n lanes are set.
FOLD_INLINE ROW(mask) ROW(below)(int64_t n)
{
    ROW(mask) lane;
    for (int i = 0; i < ROW(WIDTH); i++)
        lane[i] = i;
    return lane < (REAL_BITS)n;
}

// The first n lanes of v, 0 in the others.
FOLD_INLINE ROW(vec) ROW(first)(ROW(vec) v, int64_t n)
{
    return (ROW(vec))((ROW(mask))v & ROW(below)(n));
}

// The first n <= ROW(WIDTH) lanes from x, `rest` in the others.
FOLD_INLINE ROW(vec) ROW(load_part)(const REAL *x, int64_t n, REAL rest)
{
#if defined(TERN_ISA_AVX512)
    const uint32_t mask = (1u << n) - 1;
    if (sizeof(REAL) == sizeof(float))
        return (ROW(vec))_mm512_mask_loadu_ps(_mm512_set1_ps((float)rest), (__mmask16)mask, x);
    return (ROW(vec))_mm512_mask_loadu_pd(_mm512_set1_pd((double)rest), (__mmask8)mask, x);
#elif defined(TERN_ISA_AVX2)
    const ROW(mask) mask = ROW(below)(n), others = (ROW(mask))((ROW(vec)){0} + rest) & ~mask;
    if (sizeof(REAL) == sizeof(float))
        return (ROW(vec))((ROW(mask))_mm256_maskload_ps((const void *)x, (__m256i)mask) | others);
    return (ROW(vec))((ROW(mask))_mm256_maskload_pd((const void *)x, (__m256i)mask) | others);
#else
    REAL lane[ROW(WIDTH)];
    for (int i = 0; i < ROW(WIDTH); i++)
        lane[i] = i < n ? x[i] : rest;
    return ROW(load)(lane);
#endif
}

// The first n <= ROW(WIDTH) lanes to y.
FOLD_INLINE void ROW(store_part)(REAL *y, ROW(vec) v, int64_t n)
{
#if defined(TERN_ISA_AVX512)
    const uint32_t mask = (1u << n) - 1;
    if (sizeof(REAL) == sizeof(float))
        _mm512_mask_storeu_ps(y, (__mmask16)mask, (__m512)v);
    else
        _mm512_mask_storeu_pd(y, (__mmask8)mask, (__m512d)v);
#else
    if (n == ROW(WIDTH))
        memcpy(y, &v, sizeof v);
    else
        store_part(y, &v, sizeof v, (size_t)n * sizeof *y);
#endif
}

FOLD_INLINE ROW(vec) ROW(larger)(ROW(vec) x, ROW(vec) y)
{
    const ROW(mask) mask = x > y;
    return (ROW(vec))(((ROW(mask))x & mask) | ((ROW(mask))y & ~mask));
}

FOLD_INLINE REAL ROW(larger_one)(REAL x, REAL y)
{
    return x > y ? x : y;
}

FOLD_INLINE REAL ROW(largest_lane)(ROW(vec) v)
{
    ROW(quarter) part[FOLD_BYTES / 16];
    memcpy(part, &v, sizeof part);
    for (int half = FOLD_BYTES / 32; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            for (int k = 0; k < ROW(QUARTER); k++)
                part[j][k] = ROW(larger_one)(part[j + half][k], part[j][k]);
    REAL top = part[0][0];
    for (int k = 1; k < ROW(QUARTER); k++)
        top = ROW(larger_one)(part[0][k], top);
    return top;
}

// The largest element, -infinity for n = 0; a NaN may or may not be passed over.
static inline REAL ROW(max)(const REAL *x, int64_t n)
{
    ROW(vec) a = (ROW(vec)){0} - INFINITY, b = a;
    int64_t i = 0;
    for (; i + 2 * ROW(WIDTH) <= n; i += 2 * ROW(WIDTH)) {
        a = ROW(larger)(ROW(load)(x + i), a);
        b = ROW(larger)(ROW(load)(x + i + ROW(WIDTH)), b);
    }
    for (; i < n; i += ROW(WIDTH))
        a = ROW(larger)(ROW(load_part)(x + i, ROW(part)(n - i), -INFINITY), a);
    return ROW(largest_lane)(ROW(larger)(a, b));
}

// The lanes' sum, in pairs.
FOLD_INLINE REAL ROW(lanes)(ROW(vec) v)
{
    ROW(quarter) part[FOLD_BYTES / 16];
    memcpy(part, &v, sizeof part);
    for (int half = FOLD_BYTES / 32; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            part[i] += part[i + half];
    if (sizeof(REAL) == sizeof(double))
        return part[0][0] + part[0][1];
    return (part[0][0] + part[0][2 % ROW(QUARTER)]) + (part[0][1] + part[0][3 % ROW(QUARTER)]);
}

// n <= FOLD_CHUNK.
static inline REAL ROW(sum)(const REAL *x, int64_t n)
{
    ROW(vec) v[4] = {{0}};
    int64_t i = 0;
    for (; i + 4 * ROW(WIDTH) <= n; i += 4 * ROW(WIDTH))
        for (int j = 0; j < 4; j++)
            v[j] += ROW(load)(x + i + j * ROW(WIDTH));
    for (; i < n; i += ROW(WIDTH))
        v[0] += ROW(load_part)(x + i, ROW(part)(n - i), 0);
    return ROW(lanes)((v[0] + v[1]) + (v[2] + v[3]));
}

FOLD_INLINE ROW(vec) ROW(exp)(ROW(vec) x)
{
    REAL e[ROW(WIDTH)];
    memcpy(e, &x, sizeof e);
    for (int j = 0; j < ROW(WIDTH); j++)
        e[j] = ROW_EXP(e[j]);
    return ROW(load)(e);
}

// The sum of exp(x - shift), each written to y; n <= FOLD_CHUNK.
static inline REAL ROW(exp_chunk)(REAL *y, const REAL *x, REAL shift, int64_t n)
{
    if (n >= 64) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            y[i] = ROW_EXP(x[i] - shift);
        return ROW(sum)(y, n);
    }
    // Whole vectors, of exp(0) at the end: exp(-infinity) would underflow, which is slow.
    ROW(vec) sum = {0};
    for (int64_t i = 0; i < n; i += ROW(WIDTH)) {
        const int64_t part = ROW(part)(n - i);
        const ROW(vec) e = ROW(exp)(ROW(load_part)(x + i, part, shift) - shift);
        ROW(store_part)(y + i, e, part);
        sum += ROW(first)(e, part);
    }
    return ROW(lanes)(sum);
}

// y may be NULL.
static inline double ROW(exp_sum)(REAL *y, const REAL *x, REAL shift, int64_t n)
{
    REAL chunk[FOLD_CHUNK];
    double sum = 0;
    for (int64_t i = 0; i < n; i += FOLD_CHUNK)
        sum += (double)ROW(exp_chunk)(y ? y + i : chunk, x + i, shift,
                                      n - i < FOLD_CHUNK ? n - i : FOLD_CHUNK);
    return sum;
}

// The sum of x * y.
static inline double ROW(dot)(const REAL *x, const REAL *y, int64_t n)
{
    double sum = 0;
    for (int64_t start = 0; start < n; start += FOLD_CHUNK) {
        const int64_t end = n - start < FOLD_CHUNK ? n : start + FOLD_CHUNK;
        ROW(vec) v[4] = {{0}};
        int64_t i = start;
        for (; i + 4 * ROW(WIDTH) <= end; i += 4 * ROW(WIDTH))
            for (int j = 0; j < 4; j++)
                v[j] += ROW(load)(x + i + j * ROW(WIDTH)) * ROW(load)(y + i + j * ROW(WIDTH));
        for (; i < end; i += ROW(WIDTH)) {
            const int64_t part = ROW(part)(end - i);
            v[0] += ROW(load_part)(x + i, part, 0) * ROW(load_part)(y + i, part, 0);
        }
        sum += (double)ROW(lanes)((v[0] + v[1]) + (v[2] + v[3]));
    }
    return sum;
}

static inline double ROW(total)(const REAL *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i += FOLD_CHUNK)
        sum += (double)ROW(sum)(x + i, n - i < FOLD_CHUNK ? n - i : FOLD_CHUNK);
    return sum;
}
