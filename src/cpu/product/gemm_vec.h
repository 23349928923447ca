// SPDX-License-Identifier: Apache-2.0
// The vector of one instruction set and element type, for the matrix product. The including source
// has defined `real` as float or double and REAL_IS_FLOAT as 1 or 0.
//
// A `lanes` says which lanes of a vector at the edge of a matrix exist; masked loads give 0 in the
// others and touch no memory there.
#ifndef TERN_SRC_CPU_PRODUCT_GEMM_VEC_H
#define TERN_SRC_CPU_PRODUCT_GEMM_VEC_H

#include <stdint.h>
#include <string.h>
#if defined(TERN_ISA_AVX512) || defined(TERN_ISA_AVX2)
#include <immintrin.h>
#endif
#include "cpu/part.h"

// VEC_BYTES is the width. TILE_ROWS x TILE_VECS vectors of accumulators, with the operands, fill
// the registers; tiles of one or two rows are wider, so that enough sums are under way.
#if defined(TERN_ISA_AVX512)
#define VEC_BYTES 64
#define TILE_ROWS 14
#elif defined(TERN_ISA_AVX2)
#define VEC_BYTES 32
#define TILE_ROWS 6
#else
#define VEC_BYTES 16
#define TILE_ROWS 6
#endif
#define TILE_VECS       2
#define TILE_VECS_ROWS2 4
#define TILE_VECS_ROWS1 8

#if REAL_IS_FLOAT
#define VEC_WIDTH (VEC_BYTES / 4)
typedef int32_t lane_index;
#else
#define VEC_WIDTH (VEC_BYTES / 8)
typedef int64_t lane_index;
#endif
#define TILE_COLS (TILE_VECS * VEC_WIDTH)

// Clang checks every lane of a masked access and every step of an unrolled loop, and compiles for
// minutes. In the tests the operands end at unreadable pages instead.
#if defined(__clang__)
#define UNCHECKED __attribute__((no_sanitize("undefined", "address")))
#else
#define UNCHECKED
#endif
#define ALWAYS_INLINE static inline __attribute__((always_inline, unused)) UNCHECKED
// Loops over registers have constant bounds and must be unrolled whole.
#if defined(__clang__)
#define UNROLL    _Pragma("clang loop unroll(full)")
#define TWO_STEPS _Pragma("clang loop unroll_count(2)")
#else
#define UNROLL    _Pragma("GCC unroll 32")
#define TWO_STEPS _Pragma("GCC unroll 2")
#endif

typedef real vec __attribute__((vector_size(VEC_BYTES)));
typedef real vec_unaligned
    __attribute__((vector_size(VEC_BYTES), aligned(sizeof(real)), may_alias));

ALWAYS_INLINE vec vec_load(const real *p)
{
    return *(const vec_unaligned *)p;
}

ALWAYS_INLINE void vec_store(real *p, vec x)
{
    *(vec_unaligned *)p = x;
}

ALWAYS_INLINE vec vec_set1(real x)
{
    return x - (vec){0};
}

#if defined(TERN_ISA_AVX512)

typedef uint16_t lanes;

ALWAYS_INLINE lanes lanes_first(int64_t count)
{
    return (lanes)((1u << count) - 1);
}

#if REAL_IS_FLOAT
ALWAYS_INLINE vec vec_load_lanes(const real *p, lanes on)
{
    return (vec)_mm512_maskz_loadu_ps(on, p);
}
ALWAYS_INLINE void vec_store_lanes(real *p, vec x, lanes on)
{
    _mm512_mask_storeu_ps(p, on, (__m512)x);
}
ALWAYS_INLINE vec vec_fma(vec x, vec y, vec z)
{
    return (vec)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z);
}
ALWAYS_INLINE vec vec_relu(vec x)
{
    return (vec)_mm512_max_ps(_mm512_setzero_ps(), (__m512)x);
}
#else
ALWAYS_INLINE vec vec_load_lanes(const real *p, lanes on)
{
    return (vec)_mm512_maskz_loadu_pd((__mmask8)on, p);
}
ALWAYS_INLINE void vec_store_lanes(real *p, vec x, lanes on)
{
    _mm512_mask_storeu_pd(p, (__mmask8)on, (__m512d)x);
}
ALWAYS_INLINE vec vec_fma(vec x, vec y, vec z)
{
    return (vec)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
}
ALWAYS_INLINE vec vec_relu(vec x)
{
    return (vec)_mm512_max_pd(_mm512_setzero_pd(), (__m512d)x);
}
#endif

#else

typedef int64_t lanes; // how many, from lane 0

ALWAYS_INLINE lanes lanes_first(int64_t count)
{
    return count;
}

#if defined(TERN_ISA_AVX2) && REAL_IS_FLOAT
ALWAYS_INLINE vec vec_load_lanes(const real *p, lanes on)
{
    const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (vec)_mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)on), index));
}
ALWAYS_INLINE vec vec_fma(vec x, vec y, vec z)
{
    return (vec)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z);
}
ALWAYS_INLINE vec vec_relu(vec x)
{
    return (vec)_mm256_max_ps(_mm256_setzero_ps(), (__m256)x);
}
#elif defined(TERN_ISA_AVX2)
ALWAYS_INLINE vec vec_load_lanes(const real *p, lanes on)
{
    const __m256i index = _mm256_setr_epi64x(0, 1, 2, 3);
    return (vec)_mm256_maskload_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(on), index));
}
ALWAYS_INLINE vec vec_fma(vec x, vec y, vec z)
{
    return (vec)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
}
ALWAYS_INLINE vec vec_relu(vec x)
{
    return (vec)_mm256_max_pd(_mm256_setzero_pd(), (__m256d)x);
}
#else
ALWAYS_INLINE vec vec_load_lanes(const real *p, lanes on)
{
    real x[VEC_WIDTH] = {0};
    for (int64_t i = 0; i < on; i++)
        x[i] = p[i];
    return vec_load(x);
}
ALWAYS_INLINE vec vec_fma(vec x, vec y, vec z)
{
    return x * y + z;
}
ALWAYS_INLINE vec vec_relu(vec x)
{
    typedef lane_index lane_mask __attribute__((vector_size(VEC_BYTES)));
    return (vec)((lane_mask)x & ~(lane_mask)(x < (vec){0}));
}
#endif

ALWAYS_INLINE void vec_store_lanes(real *p, vec x, lanes on)
{
    if (on == VEC_WIDTH)
        vec_store(p, x);
    else
        store_part(p, &x, sizeof x, (size_t)on * sizeof(real));
}

#endif

// x0 y0 x1 y1 ... of the lower halves, and of the upper halves.
ALWAYS_INLINE vec vec_zip_low(vec x, vec y)
{
#if VEC_WIDTH == 16
    return __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif VEC_WIDTH == 8
    return __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
#elif VEC_WIDTH == 4
    return __builtin_shufflevector(x, y, 0, 4, 1, 5);
#else
    return __builtin_shufflevector(x, y, 0, 2);
#endif
}

ALWAYS_INLINE vec vec_zip_high(vec x, vec y)
{
#if VEC_WIDTH == 16
    return __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
#elif VEC_WIDTH == 8
    return __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
#elif VEC_WIDTH == 4
    return __builtin_shufflevector(x, y, 2, 6, 3, 7);
#else
    return __builtin_shufflevector(x, y, 1, 3);
#endif
}

// A perfect shuffle of the rows of a block.
ALWAYS_INLINE void vec_shuffle_rows(vec x[VEC_WIDTH])
{
    vec y[VEC_WIDTH];
    UNROLL
    for (int i = 0; i < VEC_WIDTH / 2; i++) {
        y[2 * i] = vec_zip_low(x[i], x[i + VEC_WIDTH / 2]);
        y[2 * i + 1] = vec_zip_high(x[i], x[i + VEC_WIDTH / 2]);
    }
    UNROLL
    for (int i = 0; i < VEC_WIDTH; i++)
        x[i] = y[i];
}

// Rows become columns after log2(width) shuffles.
ALWAYS_INLINE void vec_transpose(vec x[VEC_WIDTH])
{
    vec_shuffle_rows(x);
    if (VEC_WIDTH > 2)
        vec_shuffle_rows(x);
    if (VEC_WIDTH > 4)
        vec_shuffle_rows(x);
    if (VEC_WIDTH > 8)
        vec_shuffle_rows(x);
}

ALWAYS_INLINE void vec_fold_rows(vec x[VEC_WIDTH], int half)
{
    UNROLL
    for (int i = 0; i < half; i++)
        x[i] = vec_zip_low(x[i], x[i + half]) + vec_zip_high(x[i], x[i + half]);
}

// Lane i of the result is the sum of the lanes of x[i]; x is used up.
ALWAYS_INLINE vec vec_sums(vec x[VEC_WIDTH])
{
    if (VEC_WIDTH > 8)
        vec_fold_rows(x, 8);
    if (VEC_WIDTH > 4)
        vec_fold_rows(x, 4);
    if (VEC_WIDTH > 2)
        vec_fold_rows(x, 2);
    vec_fold_rows(x, 1);
    return x[0];
}

#endif
