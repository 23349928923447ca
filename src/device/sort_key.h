// SPDX-License-Identifier: Apache-2.0
// Keys: unsigned integers that are ordered as elements are sorted. -0 and 0 have one key, and so
// have all NaN, the largest. For C, C++ and CUDA.
//
// `sign` is the bit of an element's sign, 0 for unsigned integers; `infinity` the bits of infinity,
// 0 for integers. Keys of descending order are the complements.
#ifndef TERN_SRC_DEVICE_SORT_KEY_H
#define TERN_SRC_DEVICE_SORT_KEY_H

#include "base/integer.h"

#define SORT_KEY_FUNCTIONS(word, bits_of_word)                                                     \
    TERN_INTEGER_INLINE word sort_key_nan_##bits_of_word(word sign)                                \
    {                                                                                              \
        return sign | (word)(sign - 1);                                                            \
    }                                                                                              \
    TERN_INTEGER_INLINE word sort_key_##bits_of_word(word bits, word sign, word infinity)          \
    {                                                                                              \
        const word magnitude = bits & (word)(sign - 1), nan = sort_key_nan_##bits_of_word(sign);   \
        if (infinity == 0)                                                                         \
            return bits ^ sign;                                                                    \
        const word key = bits & sign ? bits ^ nan : bits | sign;                                   \
        return magnitude > infinity ? nan : magnitude == 0 ? sign : key;                           \
    }                                                                                              \
    /* The bits of a key's element; of the keys `sign` and nan those of 0 and of some NaN. */      \
    TERN_INTEGER_INLINE word sort_key_bits_##bits_of_word(word key, word sign, word infinity)      \
    {                                                                                              \
        if (infinity == 0 || key & sign)                                                           \
            return key ^ sign;                                                                     \
        return key ^ sort_key_nan_##bits_of_word(sign);                                            \
    }
SORT_KEY_FUNCTIONS(uint32_t, 32)
SORT_KEY_FUNCTIONS(uint64_t, 64)
#undef SORT_KEY_FUNCTIONS

#endif
