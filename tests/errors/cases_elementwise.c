// SPDX-License-Identifier: Apache-2.0
// Elementwise operations (ops.h).
#include "errors.h"

// ---- two operands -------------------------------------------------------------------------------

#define BINARY(name)                                                                               \
    REFUSES(tern_##name, "shapes that do not broadcast", TERN_ERR_SHAPE,                           \
            #name ": |a|(2, 3)|b|(4, 5)", tern_##name(f->x, f->wide))                              \
    REFUSES(tern_##name, "operands on two devices", TERN_ERR_DEVICE,                               \
            #name ": a is on cpu:0 and b on cpu:1|tern_to", tern_##name(f->x, f->far))

BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)
BINARY(pow)
BINARY(minimum)
BINARY(maximum)
BINARY(eq)
BINARY(ne)
BINARY(lt)
BINARY(le)
BINARY(gt)
BINARY(ge)
BINARY(logical_and)
BINARY(logical_or)

REFUSES(tern_sub, "a bool on the left", TERN_ERR_DTYPE, "sub: a is bool (2, 3)|b is float32",
        tern_sub(f->bools, f->x))
REFUSES(tern_sub, "a bool on the right", TERN_ERR_DTYPE, "sub: |b is bool (2, 3)",
        tern_sub(f->x, f->bools))
REFUSES(tern_add, "a NULL that stands for a failed call in a chain", TERN_ERR_SHAPE,
        "matmul: |(2, 3)|(4, 5)", tern_add(f->x, tern_matmul(f->x, f->wide)))
TAKES(tern_add, "a 0-dim CPU tensor with one on another device",
      tern_device_of(tern_add(f->far, f->scalar)).index == 1)

NULL_AND_DEAD(tern_promote, "promote", "a", tern_promote(NULL, f->x) == TERN_DTYPE_UNSPECIFIED,
              tern_promote(f->dead, f->x) == TERN_DTYPE_UNSPECIFIED)
NULL_AND_DEAD(tern_promote, "promote", "b", tern_promote(f->x, NULL) == TERN_DTYPE_UNSPECIFIED,
              tern_promote(f->x, f->dead) == TERN_DTYPE_UNSPECIFIED)

// ---- with a number ------------------------------------------------------------------------------

#define SCALAR(name)                                                                               \
    NULL_AND_DEAD(tern_##name, #name, "x", tern_##name(NULL, 2), tern_##name(f->dead, 2))
// For an integer x the number is one.
#define SCALAR_OF_KIND(name)                                                                       \
    SCALAR(name)                                                                                   \
    REFUSES(tern_##name, "a fraction for an integer x", TERN_ERR_DTYPE,                            \
            #name ": value 0.5 has a fraction|int64", tern_##name(f->ints, 0.5))                   \
    REFUSES(tern_##name, "a number out of the range of x", TERN_ERR_ARG, #name ": |uint8|300",     \
            tern_##name(f->bytes, 300))

SCALAR_OF_KIND(add_scalar)
SCALAR_OF_KIND(sub_scalar)
SCALAR_OF_KIND(mul_scalar)
SCALAR(div_scalar)
SCALAR_OF_KIND(pow_scalar)
SCALAR(eq_scalar)
SCALAR(ne_scalar)
SCALAR(lt_scalar)
SCALAR(le_scalar)
SCALAR(gt_scalar)
SCALAR(ge_scalar)

REFUSES(tern_sub_scalar, "a bool", TERN_ERR_DTYPE, "sub_scalar: x is bool (2, 3)",
        tern_sub_scalar(f->bools, 1))
REFUSES(tern_pow_scalar, "a negative power of integers", TERN_ERR_ARG, "pow_scalar: |int64|-2",
        tern_pow_scalar(f->ints, -2))
TAKES(tern_div_scalar, "integers and a fraction",
      tern_dtype_of(tern_div_scalar(f->ints, 0.5)) == TERN_FLOAT32)

// ---- one operand --------------------------------------------------------------------------------

#define UNARY_OF_NUMBERS(name)                                                                     \
    REFUSES(tern_##name, "a bool", TERN_ERR_DTYPE, #name ": x is bool (2, 3)",                     \
            tern_##name(f->bools))

UNARY_OF_NUMBERS(neg)
UNARY_OF_NUMBERS(abs)
UNARY_OF_NUMBERS(relu)
UNARY_OF_NUMBERS(round)

REFUSES(tern_softplus_with, "a beta of 0", TERN_ERR_ARG, "softplus: beta is 0",
        tern_softplus(f->x, 0, 20))
NULL_AND_DEAD(tern_clamp, "clamp", "x", tern_clamp(NULL, 0, 1), tern_clamp(f->dead, 0, 1))
REFUSES(tern_clamp, "a bound that is NaN", TERN_ERR_ARG, "clamp: low is nan and high is 1",
        tern_clamp(f->x, NAN, 1))
REFUSES(tern_clamp, "a fraction for an integer x", TERN_ERR_DTYPE, "clamp: low 0.5|int64",
        tern_clamp(f->ints, 0.5, 1))
REFUSES(tern_clamp, "a bound out of the range of x", TERN_ERR_ARG, "clamp: high 300|uint8",
        tern_clamp(f->bytes, 0, 300))
REFUSES(tern_clamp, "a bool", TERN_ERR_DTYPE, "clamp: x is bool (2, 3)", tern_clamp(f->bools, 0, 1))

// ---- choosing -----------------------------------------------------------------------------------

NULL_AND_DEAD(tern_where, "where", "condition", tern_where(NULL, f->x, f->x),
              tern_where(f->dead, f->x, f->x))
NULL_AND_DEAD(tern_where, "where", "a", tern_where(f->bools, NULL, f->x),
              tern_where(f->bools, f->dead, f->x))
NULL_AND_DEAD(tern_where, "where", "b", tern_where(f->bools, f->x, NULL),
              tern_where(f->bools, f->x, f->dead))
REFUSES(tern_where, "a condition that is not bool", TERN_ERR_DTYPE,
        "where: condition is int64 (2, 3)|not bool", tern_where(f->ints, f->x, f->x))
REFUSES(tern_where, "shapes that do not broadcast", TERN_ERR_SHAPE, "where: |(2, 3)|(4, 5)",
        tern_where(f->bools, f->x, f->wide))
REFUSES(tern_where, "operands on two devices", TERN_ERR_DEVICE, "where: |b|cpu:1",
        tern_where(f->bools, f->x, f->far))

NULL_AND_DEAD(tern_masked_fill, "masked_fill", "x", tern_masked_fill(NULL, f->bools, 0),
              tern_masked_fill(f->dead, f->bools, 0))
NULL_AND_DEAD(tern_masked_fill, "masked_fill", "mask", tern_masked_fill(f->x, NULL, 0),
              tern_masked_fill(f->x, f->dead, 0))
REFUSES(tern_masked_fill, "a mask that is not bool", TERN_ERR_DTYPE,
        "masked_fill: mask is uint8 (2, 3)|not bool", tern_masked_fill(f->x, f->bytes, 0))
REFUSES(tern_masked_fill, "a mask larger than x", TERN_ERR_SHAPE, "masked_fill: mask (2, 3)|x (3,)",
        tern_masked_fill(f->vector, f->bools, 0))
REFUSES(tern_masked_fill, "a mask on another device", TERN_ERR_DEVICE, "masked_fill: |cpu:0|cpu:1",
        tern_masked_fill(f->far, f->bools, 0))
REFUSES(tern_masked_fill, "a fraction for an integer x", TERN_ERR_DTYPE,
        "masked_fill: value 0.5|int64", tern_masked_fill(f->ints, f->bools, 0.5))

// ---- random zeros -------------------------------------------------------------------------------

NULL_AND_DEAD(tern_dropout, "dropout", "x", tern_dropout(NULL, 0.5, true),
              tern_dropout(f->dead, 0.5, true))
REFUSES(tern_dropout, "a p above 1", TERN_ERR_ARG, "dropout: p is 1.5",
        tern_dropout(f->x, 1.5, true))
REFUSES(tern_dropout, "a p that is NaN, also in evaluation", TERN_ERR_ARG, "dropout: p is nan",
        tern_dropout(f->x, NAN, false))
REFUSES(tern_dropout, "integers in training", TERN_ERR_DTYPE, "dropout: x is int64",
        tern_dropout(f->ints, 0.5, true))
