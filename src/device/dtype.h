// SPDX-License-Identifier: Apache-2.0
// What every operation asks of a dtype, inline.
#ifndef TERN_SRC_DEVICE_DTYPE_H
#define TERN_SRC_DEVICE_DTYPE_H

#include <stdint.h>
#include <tern/dtype.h>

// tern_dtype_is_floating: the four come first.
static inline bool tern_is_floating(tern_dtype dtype)
{
    return dtype >= TERN_FLOAT32 && dtype <= TERN_BFLOAT16;
}

// tern_dtype_size of one that exists.
static inline int64_t tern_element_size(tern_dtype dtype)
{
    static const unsigned char size[] = {0, 4, 8, 2, 2, 8, 4, 1, 1}; // C++ reads this too
    return size[dtype];
}

#endif
