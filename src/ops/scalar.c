// SPDX-License-Identifier: Apache-2.0
// A tensor and a number, which never changes the tensor's dtype.
#include "device/comparison.h"
#include "ops/alias.h"
#include "ops/launch.h"
#include "tensor/liveness.h"

// Fails for NULL and dead tensors too, so that x->dtype may be looked at.
static tern_status check(const tern_unary_function *function, const tern_tensor *x,
                         tern_scalar value)
{
    TERN_TRY(tern_check_tensor(function->op.name, "x", x));
    if (x->dtype == TERN_BOOL && function->no_bool)
        return TERN_OK; // refused as an operand
    return tern_check_integral(function->op.name, "value", value, x->dtype);
}

static tern_tensor *run(const tern_unary_function *function, tern_tensor *x, tern_scalar value)
{
    return check(function, x, value) ? NULL : tern_unary_run(function, x, value, 0);
}

tern_tensor *(tern_add_scalar)(tern_tensor *x, tern_scalar value)
{
    static const tern_unary_function function = {
        {"add_scalar", {"x"}, tern_unary_linear_backward}, TERN_UNARY_ADD_SCALAR, 0, true};
    return run(&function, x, value);
}

// Of integers, the one that has the same effect when sums wrap around.
static tern_scalar negated(tern_scalar value, tern_dtype dtype)
{
    if (!tern_dtype_is_floating(dtype))
        return tern_scalar_int(wrap_sub(0, scalar_integer(value)));
    return tern_scalar_double(-scalar_floating(value, dtype));
}

tern_tensor *(tern_sub_scalar)(tern_tensor *x, tern_scalar value)
{
    static const tern_unary_function function = {
        {"sub_scalar", {"x"}, tern_unary_linear_backward}, TERN_UNARY_ADD_SCALAR, 0, true};
    if (check(&function, x, value))
        return NULL;
    return tern_unary_run(&function, x, negated(value, x->dtype), 0);
}

tern_tensor *(tern_mul_scalar)(tern_tensor *x, tern_scalar value)
{
    static const tern_unary_function function = {
        {"mul_scalar", {"x"}, tern_unary_linear_backward}, TERN_UNARY_MUL_SCALAR, 0, true};
    return run(&function, x, value);
}

tern_tensor *(tern_div_scalar)(tern_tensor *x, tern_scalar value)
{
    static const tern_unary_function function = {{"div_scalar", {"x"}, tern_unary_linear_backward},
                                                 TERN_UNARY_DIV_SCALAR,
                                                 TERN_OP_TO_FLOATING,
                                                 false};
    return tern_unary_run(&function, x, value, 0);
}

tern_tensor *(tern_pow_scalar)(tern_tensor *x, tern_scalar exponent)
{
    static const tern_unary_function function = {
        {"pow_scalar", {"x"}, tern_unary_backward}, TERN_UNARY_POW_SCALAR, 0, true};
    if (tern_check_tensor("pow_scalar", "x", x))
        return NULL;
    const double number = scalar_floating(exponent, TERN_FLOAT64);
    TERN_CHECK_PTR(tern_dtype_is_floating(x->dtype) || !(number < 0), TERN_ERR_ARG,
                   "pow_scalar: x is %s and exponent is %g: integers have no negative powers",
                   tern_dtype_name(x->dtype), number);
    return run(&function, x, exponent);
}

// A comparison sees the number as x's dtype holds it: 0.1 equals a float32 made from 0.1.
static tern_tensor *compare(const tern_unary_function *function, tern_tensor *x, tern_scalar value)
{
    if (tern_check_tensor(function->op.name, "x", x))
        return NULL;
    if (x->dtype == TERN_FLOAT32)
        value = tern_scalar_double((float)scalar_floating(value, TERN_FLOAT32));
    return tern_unary_run(function, x, value, 0);
}

#define COMPARISON(name, operation)                                                                \
    tern_tensor *(tern_##name##_scalar)(tern_tensor * x, tern_scalar value)                        \
    {                                                                                              \
        static const tern_unary_function function = {                                              \
            {#name "_scalar", {"x"}, NULL}, operation, 0, false};                                  \
        return compare(&function, x, value);                                                       \
    }
COMPARISON(eq, TERN_UNARY_EQ_SCALAR)
COMPARISON(ne, TERN_UNARY_NE_SCALAR)
COMPARISON(lt, TERN_UNARY_LT_SCALAR)
COMPARISON(le, TERN_UNARY_LE_SCALAR)
COMPARISON(gt, TERN_UNARY_GT_SCALAR)
COMPARISON(ge, TERN_UNARY_GE_SCALAR)
