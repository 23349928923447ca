// SPDX-License-Identifier: Apache-2.0
// Division by sizes that the host knows, without the device's 64-bit division, which is a call of a
// hundred instructions: T. Granlund and P. L. Montgomery, "Division by invariant integers using
// multiplication", PLDI 1994.
#ifndef TERN_SRC_CUDA_FAST_DIVIDE_CUH
#define TERN_SRC_CUDA_FAST_DIVIDE_CUH

#include "cuda/launch.cuh"

// n / size = (high word of n * factor, plus n) >> shift, for all n below half of Word's range.
template <class Word> struct divisor {
    Word size, factor;
    uint32_t shift;
};

typedef divisor<uint64_t> int64_divisor; // for int64_t that are not negative

__device__ __forceinline__ uint32_t multiply_high(uint32_t a, uint32_t b)
{
    return __umulhi(a, b);
}
__device__ __forceinline__ uint64_t multiply_high(uint64_t a, uint64_t b)
{
    return __umul64hi(a, b);
}

// The quotient; the remainder goes to *n.
template <class Word>
__device__ __forceinline__ Word fast_divmod(Word *n, const divisor<Word> &divisor)
{
    const Word quotient = (multiply_high(*n, divisor.factor) + *n) >> divisor.shift;
    *n -= quotient * divisor.size;
    return quotient;
}
__device__ __forceinline__ int64_t fast_divmod(int64_t *n, const int64_divisor &divisor)
{
    uint64_t rest = (uint64_t)*n;
    const uint64_t quotient = fast_divmod(&rest, divisor);
    *n = (int64_t)rest;
    return (int64_t)quotient;
}

__device__ __forceinline__ int64_t fast_divide(int64_t n, const int64_divisor &by)
{
    return fast_divmod(&n, by);
}

// The index along the innermost dimension of a row-major offset; *offset goes on to the others.
__device__ __forceinline__ int64_t unravel(int64_t *offset, const int64_divisor &size)
{
    int64_t index = *offset;
    *offset = fast_divmod(&index, size);
    return index;
}

// size: at most half of Word's range; by 0 nothing is divided.
template <class Word> static inline divisor<Word> make_divisor(Word size)
{
    __extension__ typedef unsigned __int128 uint128;
    const uint32_t bits = 8 * sizeof(Word);
    divisor<Word> by = {size, 0, 0};
    while (by.shift < bits - 1 && ((Word)1 << by.shift) < size)
        by.shift++;
    if (size > 0)
        by.factor = (Word)(((uint128)(((Word)1 << by.shift) - size) << bits) / size + 1);
    return by;
}

static inline int64_divisor make_int64_divisor(int64_t size)
{
    return make_divisor((uint64_t)size);
}

#endif
