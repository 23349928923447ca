// SPDX-License-Identifier: Apache-2.0
// Reductions over any axes: sum, mean, amax, amin, any, all.
#include "ops/launch.h"

typedef struct reduce_function {
    tern_op op;
    tern_reduce_op code;
    unsigned flags;    // of tern_op_begin
    bool keeps_values; // the backward looks at x and y
} reduce_function;

static void keep_shape(tern_op_attrs *attrs, tern_shape keepdim)
{
    for (int i = 0; i < keepdim.rank; i++)
        attrs->i[i] = keepdim.dim[i];
}

// `t`, which lost its reduced dims, with size 1 there.
static tern_tensor *with_dims(tern_node *node, tern_tensor *t)
{
    tern_shape keepdim = tern_node_input_shape(node, 0);
    for (int i = 0; i < keepdim.rank; i++)
        keepdim.dim[i] = tern_node_attrs(node)->i[i];
    return tern_reshape(t, keepdim);
}

static tern_dtype result_dtype(tern_reduce_op op, tern_dtype dtype)
{
    if (op == TERN_REDUCE_ANY || op == TERN_REDUCE_ALL)
        return TERN_BOOL;
    return op == TERN_REDUCE_SUM && !tern_dtype_is_floating(dtype) ? TERN_INT64 : dtype;
}

static tern_status check_not_empty(const reduce_function *function, const tern_tensor *x,
                                   const tern_reduction_shape *reduced)
{
    bool needs_one = function->code == TERN_REDUCE_AMAX || function->code == TERN_REDUCE_AMIN;
    TERN_CHECK(!needs_one || reduced->count > 0, TERN_ERR_SHAPE,
               "%s: x %s has no elements along the axes, so there is no %s value",
               function->op.name, tern_shape_string(tern_shape_get(x)),
               function->code == TERN_REDUCE_AMAX ? "largest" : "smallest");
    return TERN_OK;
}

static tern_tensor *run(const reduce_function *function, tern_tensor *x, tern_axis_list axes,
                        bool keepdim)
{
    const char *name = function->op.name;
    tern_op_call call = {.op = &function->op, .count = 1, .in = {x}};
    tern_reduction_shape reduced;
    if (tern_op_begin(&call, function->flags) ||
        tern_reduction_shape_make(name, call.in[0], axes, keepdim, &reduced) ||
        check_not_empty(function, call.in[0], &reduced))
        return NULL;
    tern_tensor *y = tern_tensor_new(name, result_dtype(function->code, call.dtype), call.device,
                                     reduced.result);
    if (!y || tern_launch_reduce(function->code, 0, y, call.in[0], reduced.keepdim))
        return NULL;
    keep_shape(&call.attrs, reduced.keepdim);
    tern_tensor *saved[] = {call.in[0], y};
    return tern_op_end(&call, y, saved, function->keeps_values ? 2 : 0);
}

// A sum of integers has no gradient: only floating tensors require one.
static tern_status sum_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    dx[0] = tern_expand(with_dims(node, dy[0]), tern_node_input_shape(node, 0));
    return dx[0] ? TERN_OK : tern_failed();
}

static tern_status mean_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_shape shape = tern_node_input_shape(node, 0);
    double count = 1;
    for (int i = 0; i < shape.rank; i++)
        if (tern_node_attrs(node)->i[i] != shape.dim[i])
            count *= (double)shape.dim[i];
    dx[0] = tern_expand(with_dims(node, tern_div_scalar(dy[0], count)), shape);
    return dx[0] ? TERN_OK : tern_failed();
}

// Equal extremes share: dx = dy (x == y) / number of those
static tern_status extreme_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *x = tern_node_saved(node, 0);
    tern_tensor *y = with_dims(node, tern_node_saved(node, 1));
    tern_tensor *hit = tern_to_dtype(tern_eq(x, y), x->dtype);
    if (!y || !hit)
        return tern_failed();
    tern_tensor *share = tern_div(with_dims(node, dy[0]), tern_sum_to(hit, tern_shape_get(y)));
    dx[0] = tern_mul(hit, share);
    return dx[0] ? TERN_OK : tern_failed();
}

tern_tensor *tern_sum(tern_tensor *x, tern_axis_list axes, bool keepdim)
{
    static const reduce_function function = {
        {"sum", {"x"}, sum_backward}, TERN_REDUCE_SUM, 0, false};
    return run(&function, x, axes, keepdim);
}

tern_tensor *tern_mean(tern_tensor *x, tern_axis_list axes, bool keepdim)
{
    static const reduce_function function = {
        {"mean", {"x"}, mean_backward}, TERN_REDUCE_MEAN, TERN_OP_ONLY_FLOATING, false};
    return run(&function, x, axes, keepdim);
}

tern_tensor *tern_sum_all(tern_tensor *x)
{
    return tern_sum(x, TERN_ALL_AXES, false);
}

tern_tensor *tern_mean_all(tern_tensor *x)
{
    return tern_mean(x, TERN_ALL_AXES, false);
}

tern_tensor *tern_amax(tern_tensor *x, tern_axis_list axes, bool keepdim)
{
    static const reduce_function function = {
        {"amax", {"x"}, extreme_backward}, TERN_REDUCE_AMAX, 0, true};
    return run(&function, x, axes, keepdim);
}

tern_tensor *tern_amin(tern_tensor *x, tern_axis_list axes, bool keepdim)
{
    static const reduce_function function = {
        {"amin", {"x"}, extreme_backward}, TERN_REDUCE_AMIN, 0, true};
    return run(&function, x, axes, keepdim);
}

tern_tensor *tern_any(tern_tensor *x, tern_axis_list axes, bool keepdim)
{
    static const reduce_function function = {{"any", {"x"}, NULL}, TERN_REDUCE_ANY, 0, false};
    return run(&function, x, axes, keepdim);
}

tern_tensor *tern_all(tern_tensor *x, tern_axis_list axes, bool keepdim)
{
    static const reduce_function function = {{"all", {"x"}, NULL}, TERN_REDUCE_ALL, 0, false};
    return run(&function, x, axes, keepdim);
}
