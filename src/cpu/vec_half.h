// SPDX-License-Identifier: Apache-2.0
// Conversions between float and the types of 16 bits, rounded to nearest, halves to even.
#ifndef TERN_SRC_CPU_VEC_HALF_H
#define TERN_SRC_CPU_VEC_HALF_H

#include <stdint.h>
#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "cpu/vecmath_exp.h"

#define SPAN_INLINE static inline __attribute__((unused))

SPAN_INLINE float bfloat_to_float(uint16_t h)
{
    return vm_float((uint32_t)h << 16);
}

SPAN_INLINE uint16_t float_to_bfloat(float x)
{
    const uint32_t bits = vm_bits(x);
    const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16 | 0x40u) : rounded);
}

SPAN_INLINE float half_to_float(uint16_t h)
{
    // Exponent and mantissa in float's places, 112 too small; subnormals are put right by the
    // product.
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, rest = (uint32_t)(h & 0x7fffu) << 13;
    const float scaled = vm_float(rest) * 0x1p112f;
    const uint32_t quiet =
        (h & 0x3ffu) ? 0x7fc00000u : 0x7f800000u; // the machine's conversion keeps NaN so
    const uint32_t special = (h & 0x7c00u) == 0x7c00u ? rest | quiet : vm_bits(scaled);
    return vm_float(special | sign);
}

SPAN_INLINE uint16_t float_to_half(float x)
{
    const uint32_t sign = vm_bits(x) & 0x80000000u;
    uint32_t bits = vm_bits(x) ^ sign;
    if (bits > 0x7f800000u) // NaN
        return (uint16_t)(sign >> 16 | 0x7e00u | (bits >> 13 & 0x3ffu));
    if (bits >= 0x477ff000u) // 65520 and more round to infinity
        return (uint16_t)(sign >> 16 | 0x7c00u);
    if (bits < 0x38800000u) // adding 0.5 rounds a subnormal in the last bits of the sum
        bits = vm_bits(vm_float(bits) + 0.5f) - 0x3f000000u;
    else
        bits = (bits - 0x38000000u + 0xfffu + (bits >> 13 & 1)) >> 13;
    return (uint16_t)(sign >> 16 | bits);
}

SPAN_INLINE void halves_to_floats(float *to, const uint16_t *from, int64_t n)
{
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(from + i))));
#endif
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from + i))));
#endif
    for (; i < n; i++)
        to[i] = half_to_float(from[i]);
}

SPAN_INLINE void floats_to_halves(uint16_t *to, const float *from, int64_t n)
{
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((void *)(to + i), _mm512_cvtps_ph(_mm512_loadu_ps(from + i), 0));
#endif
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((void *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
#endif
    for (; i < n; i++)
        to[i] = float_to_half(from[i]);
}

SPAN_INLINE void floats_to_bfloats(uint16_t *to, const float *from, int64_t n)
{
    int64_t i = 0;
#if defined(__AVX2__) && !defined(__AVX512F__)
    // Compilers select between halves that are packed already; here the numbers are packed once,
    // and NaN is looked for in 16 at a time.
    const __m256i below_half = _mm256_set1_epi32(0x7fff), one = _mm256_set1_epi32(1);
    for (; i + 16 <= n; i += 16) {
        const __m256 x = _mm256_loadu_ps(from + i), y = _mm256_loadu_ps(from + i + 8);
        if (_mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_UNORD_Q))) {
            for (int j = 0; j < 16; j++)
                to[i + j] = float_to_bfloat(from[i + j]);
            continue;
        }
        __m256i a = _mm256_castps_si256(x), b = _mm256_castps_si256(y);
        const __m256i odd_a = _mm256_and_si256(_mm256_srli_epi32(a, 16), one);
        const __m256i odd_b = _mm256_and_si256(_mm256_srli_epi32(b, 16), one);
        a = _mm256_add_epi32(_mm256_add_epi32(a, below_half), odd_a);
        b = _mm256_add_epi32(_mm256_add_epi32(b, below_half), odd_b);
        a = _mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16));
        _mm256_storeu_si256((void *)(to + i), _mm256_permute4x64_epi64(a, 0xd8));
    }
#endif
    for (; i < n; i++)
        to[i] = float_to_bfloat(from[i]);
}

#endif
