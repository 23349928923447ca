// SPDX-License-Identifier: Apache-2.0
// Elementwise operations with one operand; activations with options are in activation.c.
#include <math.h>

#include "device/comparison.h"
#include "ops/alias.h"
#include "ops/launch.h"
#include "tensor/liveness.h"

tern_status tern_launch_unary_grad(tern_unary_op op, double p0, double p1, tern_tensor *dx,
                                   const tern_tensor *dy, const tern_tensor *s)
{
    if (dx->numel == 0)
        return TERN_OK;
    tern_strided dxv, dyv, sv;
    if (dx->contiguous && dy->contiguous && s->contiguous) {
        dxv = tern_view_flat(dx);
        dyv = tern_view_flat(dy);
        sv = tern_view_flat(s);
    } else {
        dxv = tern_view_of(dx);
        dyv = tern_view_of(dy);
        sv = tern_view_of(s);
        tern_views_coalesce((tern_strided *const[]){&dxv, &dyv, &sv}, 3);
    }
    tern_device device = tern_dev(dx);
    tern_exec exec = tern_exec_of(device);
    const double p[2] = {p0, p1};
    return tern_kernels_of(device)->unary_grad(&exec, op, p, &dxv, &dyv, &sv);
}

tern_status tern_unary_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    tern_unary_op op = (tern_unary_op)attrs->i[0];
    tern_tensor *s = tern_unary_saves(op) == TERN_SAVES_NOTHING ? dy[0] : tern_node_saved(node, 0);
    dx[0] = tern_node_grad_new(node, 0);
    if (!dx[0])
        return tern_failed();
    return tern_launch_unary_grad(op, attrs->d[0], attrs->d[1], dx[0], dy[0], s);
}

tern_status tern_unary_linear_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    tern_unary_op op = (tern_unary_op)attrs->i[0];
    if (op == TERN_UNARY_ADD_SCALAR) {
        dx[0] = dy[0];
        return TERN_OK;
    }
    dx[0] = tern_node_grad_new(node, 0);
    return dx[0] ? tern_launch_unary(op, attrs->d[0], attrs->d[1], dx[0], dy[0]) : tern_failed();
}

static tern_status zero_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    (void)node;
    dx[0] = tern_zeros_like(dy[0]);
    return dx[0] ? TERN_OK : tern_failed();
}

static tern_tensor *end(tern_op_call *call, tern_unary_op code, tern_tensor *y, tern_scalar p0,
                        tern_scalar p1)
{
    tern_tensor *x = call->in[0];
    const tern_saves saves = tern_unary_saves(code);
    call->attrs.i[0] = code;
    call->attrs.d[0] = scalar_floating(p0, x->dtype);
    call->attrs.d[1] = scalar_floating(p1, x->dtype);
    return tern_op_end(call, y, saves == TERN_SAVES_OUTPUT ? &y : &x, saves != TERN_SAVES_NOTHING);
}

tern_tensor *(tern_unary_run)(const tern_unary_function *function, tern_tensor *x, tern_scalar p0,
                              tern_scalar p1)
{
    const char *name = function->op.name;
    tern_op_call call = {.op = &function->op, .count = 1, .in = {x}};
    if (tern_op_begin(&call, function->flags))
        return NULL;
    TERN_CHECK_PTR(!function->no_bool || call.dtype != TERN_BOOL, TERN_ERR_DTYPE,
                   "%s: x is %s, and bool is not a number here (tern_to_dtype makes it one)", name,
                   tern_tensor_string(call.in[0]));
    tern_dtype dtype = tern_unary_gives_bool(function->code) ? TERN_BOOL : call.dtype;
    tern_tensor *y = tern_tensor_new(name, dtype, call.device, call.shape);
    if (!y || tern_launch_unary(function->code, p0, p1, y, call.in[0]))
        return NULL;
    return end(&call, function->code, y, p0, p1);
}

// A public function of x alone: name, operation, how its dtype is prepared, whether bool is
// refused, backward.
#define FUNCTION(name, op, ...) FUNCTION_(name, op, __VA_ARGS__)
#define FUNCTION_(name, code, flags, no_bool, backward)                                            \
    tern_tensor *tern_##name(tern_tensor *x)                                                       \
    {                                                                                              \
        static const tern_unary_function function = {                                              \
            {#name, {"x"}, backward}, TERN_UNARY_##code, flags, no_bool};                          \
        return tern_unary_run(&function, x, 0, 0);                                                 \
    }
#define FLOATING TERN_OP_TO_FLOATING, false, tern_unary_backward
#define NUMBERS  TERN_OP_PLAIN, true
#define ANY      TERN_OP_PLAIN, false, NULL

// clang-format off
FUNCTION(neg, NEG, NUMBERS, tern_unary_linear_backward)
FUNCTION(abs, ABS, NUMBERS, tern_unary_backward)
FUNCTION(sqrt, SQRT, FLOATING)
FUNCTION(rsqrt, RSQRT, FLOATING)
FUNCTION(exp, EXP, FLOATING)
FUNCTION(log, LOG, FLOATING)
FUNCTION(log1p, LOG1P, FLOATING)
FUNCTION(sin, SIN, FLOATING)
FUNCTION(cos, COS, FLOATING)
FUNCTION(tanh, TANH, FLOATING)
FUNCTION(sigmoid, SIGMOID, FLOATING)
FUNCTION(relu, RELU, NUMBERS, tern_unary_backward)
FUNCTION(silu, SILU, FLOATING)
FUNCTION(hardswish, HARDSWISH, FLOATING)
FUNCTION(hardsigmoid, HARDSIGMOID, FLOATING)
FUNCTION(selu, SELU, FLOATING)
FUNCTION(tanhshrink, TANHSHRINK, FLOATING)
FUNCTION(softsign, SOFTSIGN, FLOATING)
FUNCTION(mish, MISH, FLOATING)
FUNCTION(logsigmoid, LOGSIGMOID, FLOATING)
FUNCTION(round, ROUND, NUMBERS, zero_backward)
FUNCTION(isfinite, ISFINITE, ANY)
FUNCTION(logical_not, NOT, ANY)
// clang-format on

static bool is_nan(tern_scalar value)
{
    return !value.is_integer && isnan(value.floating);
}

static tern_status check_bound(const char *name, tern_scalar value, tern_dtype dtype)
{
    const bool open = !value.is_integer && isinf(value.floating);
    return open ? TERN_OK : tern_check_integral("clamp", name, value, dtype);
}

tern_tensor *(tern_clamp)(tern_tensor *x, tern_scalar low, tern_scalar high)
{
    static const tern_unary_function function = {
        {"clamp", {"x"}, tern_unary_backward}, TERN_UNARY_CLAMP, TERN_OP_PLAIN, true};
    if (tern_check_tensor("clamp", "x", x))
        return NULL;
    TERN_CHECK_PTR(!is_nan(low) && !is_nan(high), TERN_ERR_ARG,
                   "clamp: low is %g and high is %g; INFINITY leaves a side open",
                   scalar_floating(low, TERN_FLOAT64), scalar_floating(high, TERN_FLOAT64));
    if (check_bound("low", low, x->dtype) || check_bound("high", high, x->dtype))
        return NULL;
    return tern_unary_run(&function, x, low, high);
}
