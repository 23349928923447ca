// SPDX-License-Identifier: Apache-2.0
// What every operation asks of a dtype, inline.
#ifndef TERN_SRC_DEVICE_DTYPE_H
#define TERN_SRC_DEVICE_DTYPE_H

#include <tern/dtype.h>

// tern_dtype_is_floating: the four come first.
static inline bool tern_is_floating(tern_dtype dtype)
{
    return dtype >= TERN_FLOAT32 && dtype <= TERN_BFLOAT16;
}

#endif
