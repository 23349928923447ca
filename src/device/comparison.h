// SPDX-License-Identifier: Apache-2.0
// How a number that comes with an elementwise operation is brought to the dtype of the elements,
// for every backend.
#ifndef TERN_SRC_DEVICE_COMPARISON_H
#define TERN_SRC_DEVICE_COMPARISON_H

#include <math.h>
#include "base/integer.h"
#include "device/kernels.h"

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
static inline tern_unary_op integer_comparison(tern_unary_op op, double value, int64_t *limit)
{
    const bool equality = op == TERN_UNARY_EQ_SCALAR || op == TERN_UNARY_NE_SCALAR;
    const bool below = op == TERN_UNARY_LT_SCALAR || op == TERN_UNARY_LE_SCALAR;
    if (isnan(value))
        return constant_comparison(op == TERN_UNARY_NE_SCALAR, limit);
    if (equality && floor(value) != value)
        return constant_comparison(op == TERN_UNARY_NE_SCALAR, limit);
    if (value >= 0x1p63)
        return constant_comparison(below || op == TERN_UNARY_NE_SCALAR, limit);
    if (value < -0x1p63)
        return constant_comparison(!below && op != TERN_UNARY_EQ_SCALAR, limit);
    // v < 2.5 is v < 3, v <= 2.5 is v <= 2
    const bool up = op == TERN_UNARY_LT_SCALAR || op == TERN_UNARY_GE_SCALAR;
    *limit = truncate_to_int64(up ? ceil(value) : floor(value));
    return op;
}

// A number for floating elements; an integer is rounded once, to the type that they compute in.
static inline double scalar_floating(tern_scalar value, tern_dtype dtype)
{
    if (!value.is_integer)
        return value.floating;
    return dtype == TERN_FLOAT64 ? (double)value.integer : (double)(float)value.integer;
}

// For integers, without its fraction.
static inline int64_t scalar_integer(tern_scalar value)
{
    return value.is_integer ? value.integer : truncate_to_int64(value.floating);
}

// For bool.
static inline bool scalar_truth(tern_scalar value)
{
    return value.is_integer ? value.integer != 0 : value.floating != 0;
}

// The numbers of an operation, in the types that kernels compute in.
typedef struct scalar_params {
    double floating[2];
    int64_t integer[2];
} scalar_params;

// A float rounded to float16 or bfloat16; backends have their own conversions.
typedef float round_16_bit(tern_dtype dtype, float value);

// The number as an element of the dtype, for comparing; past the largest one it stays what it is.
static inline double rounded_to(tern_dtype dtype, double value, round_16_bit *round)
{
    double rounded = value;
    if (dtype == TERN_FLOAT16 || dtype == TERN_BFLOAT16)
        rounded = (double)round(dtype, (float)value);
    return isinf(rounded) ? value : rounded;
}

// Powers of the exponents in everyday use are operations of their own.
static inline tern_unary_op usual_power(tern_unary_op op, double exponent)
{
    if (op != TERN_UNARY_POW_SCALAR)
        return op;
#define UNARY(...)
#define UNARY_TEST(...)
#define UNARY_POWER(CODE, name, exponent_, ...)                                                    \
    if (exponent == exponent_)                                                                     \
        return TERN_UNARY_##CODE;
#include "device/elementwise.def"
    return op;
}

// Fills `to` (p may be NULL); returns the operation that does the same with what is in it.
static inline tern_unary_op set_scalar_params(scalar_params *to, tern_unary_op op, tern_dtype dtype,
                                              const tern_scalar p[2], round_16_bit *round)
{
    for (int i = 0; p && i < 2; i++) {
        const double plain = scalar_floating(p[i], dtype);
        to->floating[i] = compares(op) ? rounded_to(dtype, plain, round) : plain;
        to->integer[i] = scalar_integer(p[i]);
    }
    if (p && dtype == TERN_BOOL && op == TERN_UNARY_ADD_SCALAR)
        to->integer[0] = scalar_truth(p[0]);
    if (p && compares(op) && !tern_dtype_is_floating(dtype) && !p[0].is_integer)
        return integer_comparison(op, p[0].floating, &to->integer[0]);
    return tern_dtype_is_floating(dtype) ? usual_power(op, to->floating[0]) : op;
}

// The same for an operation with two operands.
static inline tern_binary_op set_factor(scalar_params *to, tern_binary_op op, tern_dtype dtype,
                                        double alpha)
{
    to->floating[0] = alpha;
    // The sum of two truths is "or": a factor must not turn it back to 0.
    to->integer[0] = dtype == TERN_BOOL ? alpha != 0 : truncate_to_int64(alpha);
    return op == TERN_BINARY_ADD && alpha != 1 ? TERN_BINARY_ADD_SCALED : op;
}

#endif
