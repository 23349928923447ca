// SPDX-License-Identifier: Apache-2.0
// y = op(x)
#include <math.h>
#include "base/error.h"
#include "cpu/elementwise.h"
#include "cpu/span.h"
#include "tensor/comparison.h"

static block_fn *const *const tables[COMPUTE_COUNT] = {
    [COMPUTE_FLOAT] = TERN_ISA_NAME(unary_float),
    [COMPUTE_DOUBLE] = TERN_ISA_NAME(unary_double),
    [COMPUTE_INT64] = TERN_ISA_NAME(unary_int64),
};

// The number as an element of the dtype, for comparing; past the largest one it stays what it is.
static double rounded_to(tern_dtype dtype, double number)
{
    double rounded = number;
    if (dtype == TERN_FLOAT16)
        rounded = half_to_float(float_to_half((float)number));
    else if (dtype == TERN_BFLOAT16)
        rounded = bfloat_to_float(float_to_bfloat((float)number));
    return isinf(rounded) ? number : rounded;
}

static tern_unary_op set_params(block_params *to, tern_unary_op op, tern_dtype dtype,
                                const double p[2])
{
    for (int i = 0; p && i < 2; i++) {
        to->floating[i] = compares(op) ? rounded_to(dtype, p[i]) : p[i];
        to->integer[i] = truncate_to_int64(p[i]);
    }
    if (p && dtype == TERN_BOOL && op == TERN_UNARY_ADD_SCALAR)
        to->integer[0] = p[0] != 0;
    if (p && compares(op) && !tern_dtype_is_floating(dtype))
        return integer_comparison(op, p[0], &to->integer[0]);
    return op;
}

tern_status TERN_ISA_NAME(unary)(const tern_exec *exec, tern_unary_op op, const double p[2],
                                 const tern_strided *y, const tern_strided *x)
{
    (void)exec;
    elementwise e = {.inputs = 1, .predicate = op >= TERN_UNARY_ISFINITE};
    const tern_unary_op which = set_params(&e.params, op, x->dtype, p);
    e.block = tables[compute_type_of(x->dtype)][which];
    TERN_CHECK(e.block, TERN_ERR_DTYPE, "unary operation %d is not made for %s", (int)op,
               tern_dtype_name(x->dtype));
    TERN_ISA_NAME(elementwise)(&e, (const tern_strided *const[]){y, x});
    return TERN_OK;
}
