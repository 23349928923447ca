// SPDX-License-Identifier: Apache-2.0
// Elementwise operations: an operation is a function over contiguous blocks of the type that it
// computes in; the engine brings operands of any dtype and strides into that form and the result
// back.
#ifndef TERN_SRC_CPU_ELEMENTWISE_ELEMENTWISE_H
#define TERN_SRC_CPU_ELEMENTWISE_ELEMENTWISE_H

#include "base/integer.h"
#include "cpu/real.h"
#include "device/comparison.h"

// What an operation computes in: float for float32, float16 and bfloat16, double for float64,
// int64_t for integers and bool.
typedef enum compute_type {
    COMPUTE_FLOAT,
    COMPUTE_DOUBLE,
    COMPUTE_INT64,
    COMPUTE_COUNT
} compute_type;

static inline compute_type compute_type_of(tern_dtype dtype)
{
    if (!tern_dtype_is_floating(dtype))
        return COMPUTE_INT64;
    return dtype == TERN_FLOAT64 ? COMPUTE_DOUBLE : COMPUTE_FLOAT;
}

// Parameters of an operation, in both forms; blocks use the one of their type.
typedef scalar_params block_params;

// y[0][i] = op(x[0][i], x[1][i], ..), n elements; y[1][i] where there are two results. A result may
// be one of the operands. Predicates write bytes.
typedef void block_fn(void *const *y, const void *const *x, int64_t n, const block_params *p);

// Elements moved by their size alone, whatever their type is.
typedef uint8_t __attribute__((may_alias)) raw_1;
typedef uint16_t __attribute__((may_alias)) raw_2;
typedef uint32_t __attribute__((may_alias)) raw_4;
typedef uint64_t __attribute__((may_alias)) raw_8;

#define MAX_OUTPUTS 2
#define MAX_INPUTS  3

// views: the results, then the operands, of one dtype. A result has that dtype, or is bool where
// `predicate` is set.
typedef struct elementwise {
    block_fn *block;
    block_fn *one[2]; // of two operands: the same where operand k is one value, or NULL
    int outputs, inputs;
    bool predicate, costly;
    block_params params;
} elementwise;

// Whether an operation, or its gradient, takes at least half a nanosecond an element.
static inline bool is_costly(tern_unary_op op)
{
    static const bool costly[] = {
        [TERN_UNARY_SIN] = true,        [TERN_UNARY_COS] = true,   [TERN_UNARY_GELU] = true,
        [TERN_UNARY_GELU_TANH] = true,  [TERN_UNARY_MISH] = true,  [TERN_UNARY_SOFTPLUS] = true,
        [TERN_UNARY_LOGSIGMOID] = true, [TERN_UNARY_LOG1P] = true, [TERN_UNARY_TANHSHRINK] = true,
        [TERN_UNARY_POW_SCALAR] = true,
    };
    return (size_t)op < sizeof costly / sizeof *costly && costly[op];
}

void TERN_ISA_NAME(elementwise)(const elementwise *op, const tern_strided *const *views);

// Which of two operands is one value for all elements.
typedef enum operand_form {
    EACH, // neither
    ONE_A,
    ONE_B
} operand_form;

// The block of an operation, or NULL where it has none for the type (or form).
typedef block_fn *unary_blocks(tern_unary_op op);
typedef block_fn *binary_blocks(tern_binary_op op, operand_form form);
typedef block_fn *binary_grad_blocks(tern_binary_op op);
NUMBER_DECLARE(unary_blocks, unary);
REAL_DECLARE(unary_blocks, unary_grad);
NUMBER_DECLARE(binary_blocks, binary);
REAL_DECLARE(binary_grad_blocks, binary_grad);

#endif
