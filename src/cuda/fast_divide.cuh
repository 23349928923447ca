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

typedef divisor<uint64_t> place_divisor; // for int64_t that are not negative

__device__ __forceinline__ uint32_t high_word(uint32_t a, uint32_t b)
{
    return __umulhi(a, b);
}
__device__ __forceinline__ uint64_t high_word(uint64_t a, uint64_t b)
{
    return __umul64hi(a, b);
}

// The quotient; the remainder goes to *n.
template <class Word>
__device__ __forceinline__ Word divide_by(Word *n, const divisor<Word> &divisor)
{
    const Word quotient = (high_word(*n, divisor.factor) + *n) >> divisor.shift;
    *n -= quotient * divisor.size;
    return quotient;
}
__device__ __forceinline__ int64_t divide_by(int64_t *n, const place_divisor &divisor)
{
    uint64_t rest = (uint64_t)*n;
    const uint64_t quotient = divide_by(&rest, divisor);
    *n = (int64_t)rest;
    return (int64_t)quotient;
}

// size: at most half of Word's range; by 0 nothing is divided.
template <class Word> static inline divisor<Word> divisor_of(Word size)
{
    __extension__ typedef unsigned __int128 wide;
    const uint32_t bits = 8 * sizeof(Word);
    divisor<Word> by = {size, 0, 0};
    while (by.shift < bits - 1 && ((Word)1 << by.shift) < size)
        by.shift++;
    if (size > 0)
        by.factor = (Word)(((wide)(((Word)1 << by.shift) - size) << bits) / size + 1);
    return by;
}

static inline place_divisor place_divisor_of(int64_t size)
{
    return divisor_of((uint64_t)size);
}

#endif
