// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers that meet tensors, as in tern_add_scalar(x, 3): integers are taken exactly, by their C
/// type, and other numbers as double.
///
/// In C the functions are macros of their own names that make a tern_scalar of any number, and in
/// C++ every number converts to one. Bindings make it by tern_scalar_int or tern_scalar_double, or
/// fill the struct; any thread may. An integer that meets a floating tensor is rounded once, to the
/// type that the tensor computes in.
///
///     tern_tensor *ids = tern_full(tern_dims(2), INT64_MAX, .dtype = TERN_INT64);
///     tern_tensor *big = tern_gt_scalar(ids, 9007199254740993);
#ifndef TERN_SCALAR_H
#define TERN_SCALAR_H

#include <tern/base.h>

/// A number by value. All zeros are 0.
typedef struct tern_scalar {
    int64_t integer; ///< where is_integer holds
    double floating; ///< where it does not
    bool is_integer; ///< which of the two it is
#ifdef __cplusplus
    tern_scalar() = default;
    tern_scalar(const void *) = delete; // which would be true or false
    tern_scalar(double value) : integer(0), floating(value), is_integer(false)
    {
    }
    tern_scalar(float value) : tern_scalar(static_cast<double>(value))
    {
    }
    tern_scalar(long long value) : integer(value), floating(0), is_integer(true)
    {
    }
    tern_scalar(bool value) : tern_scalar(static_cast<long long>(value))
    {
    }
    tern_scalar(int value) : tern_scalar(static_cast<long long>(value))
    {
    }
    tern_scalar(unsigned value) : tern_scalar(static_cast<long long>(value))
    {
    }
    tern_scalar(long value) : tern_scalar(static_cast<long long>(value))
    {
    }
    tern_scalar(unsigned long value) : tern_scalar(static_cast<unsigned long long>(value))
    {
    }
    tern_scalar(unsigned long long value)
        : integer(static_cast<int64_t>(value <= INT64_MAX ? value : 0)),
          floating(static_cast<double>(value)), is_integer(value <= INT64_MAX)
    {
    }
#endif
} tern_scalar;

/// An integer.
static inline tern_scalar tern_scalar_int(int64_t value)
{
    tern_scalar scalar_;
    scalar_.integer = value;
    scalar_.floating = 0;
    scalar_.is_integer = true;
    return scalar_;
}

/// A number of any kind.
static inline tern_scalar tern_scalar_double(double value)
{
    tern_scalar scalar_;
    scalar_.integer = 0;
    scalar_.floating = value;
    scalar_.is_integer = false;
    return scalar_;
}

/// An integer without a sign; above INT64_MAX, where no integer dtype holds it, as double.
static inline tern_scalar tern_scalar_uint(uint64_t value)
{
    return value <= INT64_MAX ? tern_scalar_int((int64_t)value) : tern_scalar_double((double)value);
}

/// What is a scalar already.
static inline tern_scalar tern_scalar_same(tern_scalar value)
{
    return value;
}

#ifndef __cplusplus
// clang-format off
/// A scalar of a number, or of a scalar.
#define TERN_SCALAR_(value)                                                                        \
    _Generic((value),                                                                              \
             tern_scalar: tern_scalar_same,                                                        \
             double: tern_scalar_double, float: tern_scalar_double,                                \
             long double: tern_scalar_double,                                                      \
             bool: tern_scalar_int,                                                                \
             char: tern_scalar_int, signed char: tern_scalar_int, unsigned char: tern_scalar_int,  \
             short: tern_scalar_int, unsigned short: tern_scalar_int,                              \
             int: tern_scalar_int, unsigned: tern_scalar_int,                                      \
             long: tern_scalar_int, unsigned long: tern_scalar_uint,                               \
             long long: tern_scalar_int, unsigned long long: tern_scalar_uint)(value)
// clang-format on
/// A required value that is a scalar.
#define tern_required_scalar_(value) TERN_SCALAR_(value)
#endif

#endif
