// SPDX-License-Identifier: Apache-2.0
// Vectors of float32 for folds at full width.
#ifndef TERN_SRC_CPU_REDUCE_FOLD_LANES_H
#define TERN_SRC_CPU_REDUCE_FOLD_LANES_H

#include "cpu/reduce/reduce_ops.h"

typedef float fold_floats __attribute__((vector_size(VEC_BYTES)));
typedef int32_t fold_ints __attribute__((vector_size(VEC_BYTES)));
typedef float fold_floats_unaligned
    __attribute__((vector_size(VEC_BYTES), aligned(sizeof(float)), may_alias));

#define FOLD_WIDTH (VEC_BYTES / (int)sizeof(float))

VEC_INLINE fold_floats fold_load(const float *x)
{
    return *(const fold_floats_unaligned *)x;
}

// The first n < FOLD_WIDTH lanes from x, `rest` in the others.
VEC_INLINE fold_floats fold_load_part(const float *x, int64_t n, float rest)
{
#if defined(TERN_ISA_AVX512)
    return (fold_floats)_mm512_mask_loadu_ps(_mm512_set1_ps(rest), (__mmask16)((1u << n) - 1), x);
#elif defined(TERN_ISA_AVX2)
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
    return (fold_floats)_mm256_blendv_ps(_mm256_set1_ps(rest), _mm256_maskload_ps(x, mask),
                                         (__m256)mask);
#else
    fold_floats v;
    for (int i = 0; i < FOLD_WIDTH; i++)
        v[i] = i < n ? x[i] : rest;
    return v;
#endif
}

// A bit for each lane that equals `value`.
VEC_INLINE uint32_t fold_equal(fold_floats x, float value)
{
#if defined(TERN_ISA_AVX512)
    return _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(value), _CMP_EQ_OQ);
#elif defined(TERN_ISA_AVX2)
    return (uint32_t)_mm256_movemask_ps(
        _mm256_cmp_ps((__m256)x, _mm256_set1_ps(value), _CMP_EQ_OQ));
#else
    uint32_t bits = 0;
    for (int i = 0; i < FOLD_WIDTH; i++)
        bits |= (uint32_t)(x[i] == value) << i;
    return bits;
#endif
}

// The larger of x and a in each lane, a where they are equal; anything for a NaN.
VEC_INLINE fold_floats fold_larger(fold_floats x, fold_floats a)
{
#if defined(TERN_ISA_AVX512)
    return (fold_floats)_mm512_max_ps((__m512)x, (__m512)a);
#elif defined(TERN_ISA_AVX2)
    return (fold_floats)_mm256_max_ps((__m256)x, (__m256)a);
#else
    const fold_ints larger = x > a;
    return (fold_floats)(((fold_ints)x & larger) | ((fold_ints)a & ~larger));
#endif
}

VEC_INLINE fold_floats fold_smaller(fold_floats x, fold_floats a)
{
#if defined(TERN_ISA_AVX512)
    return (fold_floats)_mm512_min_ps((__m512)x, (__m512)a);
#elif defined(TERN_ISA_AVX2)
    return (fold_floats)_mm256_min_ps((__m256)x, (__m256)a);
#else
    const fold_ints less = x < a;
    return (fold_floats)(((fold_ints)x & less) | ((fold_ints)a & ~less));
#endif
}

// Which lanes have met a NaN.
#if defined(TERN_ISA_AVX512)
typedef uint32_t fold_nans;
#else
typedef fold_ints fold_nans;
#endif

// Of two vectors.
VEC_INLINE fold_nans fold_nans_of(fold_floats x, fold_floats y)
{
#if defined(TERN_ISA_AVX512)
    return _mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_UNORD_Q);
#else
    return (fold_ints)(x != x) | (fold_ints)(y != y);
#endif
}

VEC_INLINE bool fold_any_nan(fold_nans nans)
{
#if defined(TERN_ISA_AVX512)
    return nans != 0;
#else
    int32_t any = 0;
    for (int i = 0; i < FOLD_WIDTH; i++)
        any |= nans[i];
    return any != 0;
#endif
}

VEC_INLINE fold_floats fold_nan_where(fold_nans nans, fold_floats x)
{
#if defined(TERN_ISA_AVX512)
    return (fold_floats)_mm512_mask_blend_ps((__mmask16)nans, (__m512)x, _mm512_set1_ps(NAN));
#else
    return (fold_floats)((fold_ints)x | nans); // all bits set are a NaN
#endif
}

#endif
