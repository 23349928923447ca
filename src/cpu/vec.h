// SPDX-License-Identifier: Apache-2.0
// Vectors of `real` (real.h), as wide as the registers of the instruction set that is compiled for;
// for int64_t only those that no intrinsic is needed for.
// This file and vec_half.h are the only ones with intrinsics; kernels are plain C over them, and
// the portable build, which has none, serves any processor.
//
// At the end of a row a vector has fewer elements: the partial forms read and write the first n
// lanes alone and touch no memory behind them.
#ifndef TERN_SRC_CPU_VEC_H
#define TERN_SRC_CPU_VEC_H

#include <math.h>
#include <string.h>

#include "cpu/real.h"
#if defined(TERN_ISA_AVX512) || defined(TERN_ISA_AVX2)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(TERN_ISA_AVX512)
#define VEC_BYTES 64
#elif defined(TERN_ISA_AVX2)
#define VEC_BYTES 32
#else
#define VEC_BYTES 16
#endif
#if REAL_IS_FLOAT
#define VEC_WIDTH (VEC_BYTES / 4)
#else
#define VEC_WIDTH (VEC_BYTES / 8)
#endif

// So many elements, or rows of them, are added in float at most before a sum goes on in double.
#define REDUCE_CHUNK 1024
#define REDUCE_ROWS  32

// Clang checks every lane of a masked access and every step of an unrolled loop, and compiles
// products and convolutions for minutes: they define VEC_UNCHECKED. In the tests their operands end
// at unreadable pages instead.
#if defined(__clang__) && defined(VEC_UNCHECKED)
#define UNCHECKED __attribute__((no_sanitize("undefined", "address")))
#else
#define UNCHECKED
#endif
#define VEC_INLINE static inline __attribute__((always_inline, unused)) UNCHECKED
// Loops over registers have constant bounds and must be unrolled whole.
#if defined(__clang__)
#define UNROLL    _Pragma("clang loop unroll(full)")
#define TWO_STEPS _Pragma("clang loop unroll_count(2)")
#else
#define UNROLL    _Pragma("GCC unroll 32")
#define TWO_STEPS _Pragma("GCC unroll 2")
#endif

typedef real vec __attribute__((vector_size(VEC_BYTES)));
typedef real_bits vec_mask __attribute__((vector_size(VEC_BYTES))); // all bits set, or none
typedef real vec_unaligned
    __attribute__((vector_size(VEC_BYTES), aligned(sizeof(real)), may_alias));
typedef double vec_double __attribute__((vector_size(VEC_BYTES)));
typedef uint64_t vec_uint64 __attribute__((vector_size(VEC_BYTES)));

VEC_INLINE vec vec_load(const real *p)
{
    return *(const vec_unaligned *)p;
}

VEC_INLINE void vec_store(real *p, vec x)
{
    *(vec_unaligned *)p = x;
}

VEC_INLINE vec vec_set1(real x)
{
    return x - (vec){0};
}

// x where the mask is set, else y.
VEC_INLINE vec vec_select(vec_mask mask, vec x, vec y)
{
    return (vec)(((vec_mask)x & mask) | ((vec_mask)y & ~mask));
}

#if !REAL_IS_INTEGER
// ---- what has an instruction of its own ---------------------------------------------------------
// vec_max and vec_min give y where x and y are equal or one is NaN.

#if defined(TERN_ISA_AVX512)
#if REAL_IS_FLOAT
#define VEC_INTRINSIC(name) _mm512_##name##_ps
typedef __m512 vec_register;
typedef __mmask16 vec_lanes_mask;
#else
#define VEC_INTRINSIC(name) _mm512_##name##_pd
typedef __m512d vec_register;
typedef __mmask8 vec_lanes_mask;
#endif
#elif defined(TERN_ISA_AVX2)
#if REAL_IS_FLOAT
#define VEC_INTRINSIC(name) _mm256_##name##_ps
typedef __m256 vec_register;
#else
#define VEC_INTRINSIC(name) _mm256_##name##_pd
typedef __m256d vec_register;
#endif
#endif

#if defined(VEC_INTRINSIC)
VEC_INLINE vec vec_fma(vec x, vec y, vec z)
{
    return (vec)VEC_INTRINSIC(fmadd)((vec_register)x, (vec_register)y, (vec_register)z);
}
VEC_INLINE vec vec_max(vec x, vec y)
{
    return (vec)VEC_INTRINSIC(max)((vec_register)x, (vec_register)y);
}
VEC_INLINE vec vec_min(vec x, vec y)
{
    return (vec)VEC_INTRINSIC(min)((vec_register)x, (vec_register)y);
}
#else
VEC_INLINE vec vec_fma(vec x, vec y, vec z)
{
    return x * y + z;
}
VEC_INLINE vec vec_max(vec x, vec y)
{
    return vec_select(x > y, x, y);
}
VEC_INLINE vec vec_min(vec x, vec y)
{
    return vec_select(x < y, x, y);
}
#endif

// max(x, 0), where NaN stays.
VEC_INLINE vec vec_relu(vec x)
{
#if defined(VEC_INTRINSIC)
    return vec_max((vec){0}, x);
#else
    return (vec)((vec_mask)x & ~(vec_mask)(x < (vec){0}));
#endif
}

VEC_INLINE vec_double vec_double_fma(vec_double x, vec_double y, vec_double z)
{
#if defined(TERN_ISA_AVX512)
    return (vec_double)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
#elif defined(TERN_ISA_AVX2)
    return (vec_double)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#else
    return x * y + z;
#endif
}

// The products of the lower halves of 64-bit lanes.
VEC_INLINE vec_uint64 vec_multiply_uint32(vec_uint64 x, vec_uint64 y)
{
#if defined(TERN_ISA_AVX512)
    return (vec_uint64)_mm512_mul_epu32((__m512i)x, (__m512i)y);
#elif defined(TERN_ISA_AVX2)
    return (vec_uint64)_mm256_mul_epu32((__m256i)x, (__m256i)y);
#elif defined(__SSE2__)
    return (vec_uint64)_mm_mul_epu32((__m128i)x, (__m128i)y);
#else
    return (x & UINT32_MAX) * (y & UINT32_MAX);
#endif
}

// ---- the end of a row ---------------------------------------------------------------------------

// How many elements the next vector has, of so many that are left.
VEC_INLINE int64_t vec_count(int64_t left)
{
    return left < VEC_WIDTH ? left : VEC_WIDTH;
}

VEC_INLINE vec_mask vec_mask_first(int64_t n)
{
    vec_mask lane;
    for (int i = 0; i < VEC_WIDTH; i++)
        lane[i] = i;
    return lane < (real_bits)n;
}

// The first n lanes of x, 0 in the others.
VEC_INLINE vec vec_first(vec x, int64_t n)
{
    return (vec)((vec_mask)x & vec_mask_first(n));
}

// The first n <= VEC_WIDTH lanes from p, `fill` in the others.
VEC_INLINE vec vec_load_partial(const real *p, int64_t n, real fill)
{
#if defined(TERN_ISA_AVX512)
    const vec_lanes_mask mask = (vec_lanes_mask)((1u << n) - 1);
    return (vec)VEC_INTRINSIC(mask_loadu)((vec_register)vec_set1(fill), mask, p);
#elif defined(TERN_ISA_AVX2)
    const vec_mask mask = vec_mask_first(n), others = (vec_mask)vec_set1(fill) & ~mask;
    return (vec)((vec_mask)VEC_INTRINSIC(maskload)(p, (__m256i)mask) | others);
#else
    real lane[VEC_WIDTH];
    for (int i = 0; i < VEC_WIDTH; i++)
        lane[i] = i < n ? p[i] : fill;
    return vec_load(lane);
#endif
}

typedef double vec_half __attribute__((vector_size(16)));

// Stores less than 32 bytes, a multiple of 4, of `vector`, which has `size` bytes: 16, 8 and 4 at
// once. AVX's masked store takes dozens of cycles on many processors.
VEC_INLINE void vec_store_bytes(void *to, const void *vector, size_t size, size_t bytes)
{
    char *y = to;
    vec_half half[2] = {{0}};
    memcpy(half, vector, size);
    vec_half left = half[0];
    if (bytes & 16) {
        memcpy(y, &left, 16);
        left = half[1];
        y += 16;
    }
    if (bytes & 8) {
        memcpy(y, &left, 8);
        left = (vec_half){left[1]};
        y += 8;
    }
    if (bytes & 4)
        memcpy(y, &left, 4);
}

// The first lanes of a vector, chosen once for many accesses.
#if defined(TERN_ISA_AVX512)
typedef uint16_t vec_lanes;
#else
typedef int64_t vec_lanes; // how many, from lane 0
#endif

VEC_INLINE vec_lanes vec_lanes_first(int64_t count)
{
#if defined(TERN_ISA_AVX512)
    return (vec_lanes)((1u << count) - 1);
#else
    return count;
#endif
}

// 0 in the other lanes.
VEC_INLINE vec vec_load_lanes(const real *p, vec_lanes on)
{
#if defined(TERN_ISA_AVX512)
    return (vec)VEC_INTRINSIC(maskz_loadu)((vec_lanes_mask)on, p);
#elif defined(TERN_ISA_AVX2)
    return (vec)VEC_INTRINSIC(maskload)(p, (__m256i)vec_mask_first(on));
#else
    real x[VEC_WIDTH] = {0};
    for (int64_t i = 0; i < on; i++)
        x[i] = p[i];
    return vec_load(x);
#endif
}

VEC_INLINE void vec_store_lanes(real *p, vec x, vec_lanes on)
{
#if defined(TERN_ISA_AVX512)
    VEC_INTRINSIC(mask_storeu)(p, (vec_lanes_mask)on, (vec_register)x);
#else
    if (on == VEC_WIDTH)
        vec_store(p, x);
    else
        vec_store_bytes(p, &x, sizeof x, (size_t)on * sizeof *p);
#endif
}

// The first n <= VEC_WIDTH lanes to p.
VEC_INLINE void vec_store_partial(real *p, vec x, int64_t n)
{
    vec_store_lanes(p, x, vec_lanes_first(n));
}

// ---- reductions of the lanes --------------------------------------------------------------------

typedef real vec_quarter __attribute__((vector_size(16)));
enum { VEC_QUARTER = 16 / sizeof(real) };

// The lanes' sum, in pairs.
VEC_INLINE real vec_reduce_add(vec x)
{
    vec_quarter part[VEC_BYTES / 16];
    memcpy(part, &x, sizeof part);
    for (int half = VEC_BYTES / 32; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            part[i] += part[i + half];
    if (VEC_QUARTER == 2)
        return part[0][0] + part[0][1];
    return (part[0][0] + part[0][2 % VEC_QUARTER]) + (part[0][1] + part[0][3 % VEC_QUARTER]);
}

VEC_INLINE real vec_reduce_max(vec x)
{
    vec_quarter part[VEC_BYTES / 16];
    memcpy(part, &x, sizeof part);
    for (int half = VEC_BYTES / 32; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            for (int k = 0; k < VEC_QUARTER; k++)
                part[i][k] = part[i + half][k] > part[i][k] ? part[i + half][k] : part[i][k];
    real top = part[0][0];
    for (int k = 1; k < VEC_QUARTER; k++)
        top = part[0][k] > top ? part[0][k] : top;
    return top;
}

// ---- NaN, and equal elements, of float ----------------------------------------------------------

#if REAL_IS_FLOAT
// Which lanes have had a NaN.
#if defined(TERN_ISA_AVX512)
typedef uint32_t vec_nans;
#else
typedef vec_mask vec_nans;
#endif

// Of two vectors.
VEC_INLINE vec_nans vec_find_nans(vec x, vec y)
{
#if defined(TERN_ISA_AVX512)
    return _mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_UNORD_Q);
#else
    return (vec_mask)(x != x) | (vec_mask)(y != y);
#endif
}

VEC_INLINE bool vec_any_nan(vec_nans nans)
{
#if defined(TERN_ISA_AVX512)
    return nans != 0;
#else
    int32_t any = 0;
    for (int i = 0; i < VEC_WIDTH; i++)
        any |= nans[i];
    return any != 0;
#endif
}

VEC_INLINE vec vec_set_nans(vec_nans nans, vec x)
{
#if defined(TERN_ISA_AVX512)
    return (vec)_mm512_mask_blend_ps((__mmask16)nans, (__m512)x, _mm512_set1_ps(NAN));
#else
    return (vec)((vec_mask)x | nans); // all bits set are a NaN
#endif
}

// A bit for each lane that equals `value`.
VEC_INLINE uint32_t vec_equal(vec x, real value)
{
#if defined(TERN_ISA_AVX512)
    return _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(value), _CMP_EQ_OQ);
#elif defined(TERN_ISA_AVX2)
    return (uint32_t)_mm256_movemask_ps(
        _mm256_cmp_ps((__m256)x, _mm256_set1_ps(value), _CMP_EQ_OQ));
#else
    uint32_t bits = 0;
    for (int i = 0; i < VEC_WIDTH; i++)
        bits |= (uint32_t)(x[i] == value) << i;
    return bits;
#endif
}
#endif

// ---- shuffles -----------------------------------------------------------------------------------

// x0 y0 x1 y1 ... of the lower halves, and of the upper halves.
VEC_INLINE vec vec_zip_low(vec x, vec y)
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

VEC_INLINE vec vec_zip_high(vec x, vec y)
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
VEC_INLINE void vec_shuffle_rows(vec x[VEC_WIDTH])
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
VEC_INLINE void vec_transpose(vec x[VEC_WIDTH])
{
    vec_shuffle_rows(x);
    if (VEC_WIDTH > 2)
        vec_shuffle_rows(x);
    if (VEC_WIDTH > 4)
        vec_shuffle_rows(x);
    if (VEC_WIDTH > 8)
        vec_shuffle_rows(x);
}

VEC_INLINE void vec_add_pairs(vec x[VEC_WIDTH], int half)
{
    UNROLL
    for (int i = 0; i < half; i++)
        x[i] = vec_zip_low(x[i], x[i + half]) + vec_zip_high(x[i], x[i + half]);
}

// Lane i of the result is the sum of the lanes of x[i]; x is used up.
VEC_INLINE vec vec_sums(vec x[VEC_WIDTH])
{
    if (VEC_WIDTH > 8)
        vec_add_pairs(x, 8);
    if (VEC_WIDTH > 4)
        vec_add_pairs(x, 4);
    if (VEC_WIDTH > 2)
        vec_add_pairs(x, 2);
    vec_add_pairs(x, 1);
    return x[0];
}

#endif // !REAL_IS_INTEGER

#endif
