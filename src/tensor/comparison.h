// SPDX-License-Identifier: Apache-2.0
// How kernels compare integers with a number that need not be one.
#ifndef TERN_SRC_TENSOR_COMPARISON_H
#define TERN_SRC_TENSOR_COMPARISON_H

#include <math.h>
#include "base/integer.h"
#include "tensor/kernels.h"

static inline bool compares(tern_unary_op op)
{
    return op >= TERN_UNARY_EQ_SCALAR && op <= TERN_UNARY_GE_SCALAR;
}

// An integer comparison that always holds, or never does.
static inline tern_unary_op constant_comparison(bool holds, int64_t *limit)
{
    *limit = holds ? INT64_MAX : INT64_MIN;
    return holds ? TERN_UNARY_LE_SCALAR : TERN_UNARY_LT_SCALAR;
}

// Integers are compared with a number exactly: with the nearest integer on the right side of it.
static inline tern_unary_op integer_comparison(tern_unary_op op, double number, int64_t *limit)
{
    const bool equality = op == TERN_UNARY_EQ_SCALAR || op == TERN_UNARY_NE_SCALAR;
    const bool below = op == TERN_UNARY_LT_SCALAR || op == TERN_UNARY_LE_SCALAR;
    if (isnan(number))
        return constant_comparison(op == TERN_UNARY_NE_SCALAR, limit);
    if (equality && floor(number) != number)
        return constant_comparison(op == TERN_UNARY_NE_SCALAR, limit);
    if (number >= 0x1p63)
        return constant_comparison(below || op == TERN_UNARY_NE_SCALAR, limit);
    if (number < -0x1p63)
        return constant_comparison(!below && op != TERN_UNARY_EQ_SCALAR, limit);
    // v < 2.5 is v < 3, v <= 2.5 is v <= 2
    const bool up = op == TERN_UNARY_LT_SCALAR || op == TERN_UNARY_GE_SCALAR;
    *limit = truncate_to_int64(up ? ceil(number) : floor(number));
    return op;
}

#endif
