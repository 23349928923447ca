// SPDX-License-Identifier: Apache-2.0
// activation(x W^T + b) in one operation.
#include "ops/launch.h"

// x (.., In), weight (Out, In), bias (Out) or NULL
enum { X, WEIGHT, BIAS };

// An activation's operation; false for none.
static bool operation_of(tern_activation activation, tern_unary_op *op)
{
    switch (activation) {
    case TERN_ACT_UNSPECIFIED:
    case TERN_ACT_NONE:
        return false;
    case TERN_ACT_RELU:
        *op = TERN_UNARY_RELU;
        return true;
    case TERN_ACT_GELU:
        *op = TERN_UNARY_GELU;
        return true;
    case TERN_ACT_GELU_TANH:
        *op = TERN_UNARY_GELU_TANH;
        return true;
    case TERN_ACT_SILU:
        *op = TERN_UNARY_SILU;
        return true;
    case TERN_ACT_TANH:
        *op = TERN_UNARY_TANH;
        return true;
    case TERN_ACT_SIGMOID:
        *op = TERN_UNARY_SIGMOID;
        return true;
    }
    return false;
}

static tern_status check(const tern_op_call *call, tern_activation activation)
{
    const tern_tensor *x = call->in[X], *weight = call->in[WEIGHT];
    const tern_tensor *bias = call->count > BIAS ? call->in[BIAS] : NULL;
    TERN_CHECK(activation >= TERN_ACT_UNSPECIFIED && activation <= TERN_ACT_SIGMOID, TERN_ERR_ARG,
               "linear: there is no activation %d", (int)activation);
    TERN_CHECK(weight->rank == 2, TERN_ERR_SHAPE, "linear: weight %s is not (Out, In)",
               tern_shape_string(tern_shape_get(weight)));
    TERN_CHECK(x->rank > 0 && x->size[x->rank - 1] == weight->size[1], TERN_ERR_SHAPE,
               "linear: x %s and weight %s do not fit: %lld features meet %lld columns",
               tern_shape_string(tern_shape_get(x)), tern_shape_string(tern_shape_get(weight)),
               (long long)(x->rank ? x->size[x->rank - 1] : 1), (long long)weight->size[1]);
    TERN_CHECK(!bias || (bias->rank == 1 && bias->size[0] == weight->size[0]), TERN_ERR_SHAPE,
               "linear: bias %s does not fit weight %s: it must be (%lld)",
               tern_shape_string(tern_shape_get(bias)), tern_shape_string(tern_shape_get(weight)),
               (long long)weight->size[0]);
    return TERN_OK;
}

// (.., C) of a contiguous tensor as (R, C), also when C is 0.
static tern_strided rows_of(const tern_tensor *t)
{
    tern_strided view = tern_view_of(t);
    (void)tern_view_rows(&view);
    return view;
}

// z = x W^T + b, with relu on the way
static tern_status product(tern_tensor *z, tern_tensor *const *in, tern_tensor *bias, bool relu)
{
    tern_strided bias_view;
    tern_strided x = tern_view_of(in[X]);
    if (!tern_view_rows(&x)) {
        tern_tensor *dense = tern_make_contiguous(in[X]);
        if (!dense)
            return tern_failed();
        x = rows_of(dense);
    }
    tern_product p = {
        .y = rows_of(z), .a = x, .b = tern_view_transposed(tern_view_of(in[WEIGHT])), .relu = relu};
    if (bias) {
        bias = tern_make_contiguous(bias);
        if (!bias)
            return tern_failed();
        bias_view = tern_view_of(bias);
        p.bias = &bias_view;
    }
    return tern_launch_product(tern_dev(z), &p);
}

// dW = dz^T x
static tern_status weight_gradient(tern_node *node, const tern_tensor *dz, tern_tensor **dx)
{
    tern_tensor *x = tern_make_contiguous(tern_node_saved(node, X));
    tern_product p = {0};
    dx[WEIGHT] = tern_node_grad_into(node, WEIGHT, &p.accumulate);
    if (!x || !dx[WEIGHT])
        return tern_failed();
    p.y = tern_view_of(dx[WEIGHT]);
    p.a = tern_view_transposed(rows_of(dz));
    p.b = rows_of(x);
    return tern_launch_product(tern_dev(dz), &p);
}

// dx = dz W
static tern_status input_gradient(tern_node *node, const tern_tensor *dz, tern_tensor **dx)
{
    tern_product p = {0};
    dx[X] = tern_node_grad_into(node, X, &p.accumulate);
    if (!dx[X])
        return tern_failed();
    p.y = rows_of(dx[X]);
    p.a = rows_of(dz);
    p.b = tern_view_of(tern_node_saved(node, WEIGHT));
    return tern_launch_product(tern_dev(dz), &p);
}

// db = the sum of dz's rows
static tern_status bias_gradient(tern_node *node, tern_tensor *dz, tern_tensor **dx)
{
    bool accumulate = false;
    tern_shape keepdim = tern_shape_get(dz);
    for (int i = 0; i < dz->rank - 1; i++)
        keepdim.dim[i] = 1;
    dx[BIAS] = tern_node_grad_into(node, BIAS, &accumulate);
    if (!dx[BIAS])
        return tern_failed();
    if (!accumulate)
        return tern_launch_reduce(TERN_REDUCE_SUM, 0, dx[BIAS], dz, keepdim);
    tern_tensor *sum = tern_empty_like(dx[BIAS]);
    if (!sum)
        return tern_failed();
    TERN_TRY(tern_launch_reduce(TERN_REDUCE_SUM, 0, sum, dz, keepdim));
    return tern_launch_binary(TERN_BINARY_ADD, 1, dx[BIAS], dx[BIAS], sum);
}

// dz = dy * activation'; what the activation's derivative needs is in slot 2
static tern_tensor *before_activation(tern_node *node, tern_tensor *dy)
{
    tern_unary_op op;
    if (!operation_of((tern_activation)tern_node_attrs(node)->i[0], &op))
        return tern_make_contiguous(dy);
    tern_tensor *dz = tern_empty_like(dy);
    tern_status failed =
        dz ? tern_launch_unary_grad(op, 0, 0, dz, dy, tern_node_saved(node, 2)) : tern_failed();
    return failed ? NULL : dz;
}

static tern_status linear_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *dz = before_activation(node, dy[0]);
    if (!dz)
        return tern_failed();
    if (tern_node_needs(node, WEIGHT))
        TERN_TRY(weight_gradient(node, dz, dx));
    if (tern_node_attrs(node)->i[1] && tern_node_needs(node, BIAS))
        TERN_TRY(bias_gradient(node, dz, dx));
    return tern_node_needs(node, X) ? input_gradient(node, dz, dx) : TERN_OK;
}

static tern_tensor *end(tern_op_call *call, tern_activation activation, tern_tensor *y,
                        tern_tensor *activated_from)
{
    call->attrs.i[0] = activation;
    call->attrs.i[1] = call->count > BIAS;
    tern_tensor *saved[] = {call->in[WEIGHT]->requires_grad ? call->in[X] : NULL,
                            call->in[X]->requires_grad ? call->in[WEIGHT] : NULL, activated_from};
    return tern_op_end(call, y, saved, 3);
}

static bool will_record(const tern_op_call *call)
{
    bool needs = false;
    for (int i = 0; i < call->count; i++)
        needs |= call->in[i]->requires_grad;
    return needs && tern_grad_enabled();
}

// y = activation(z): over z where the derivative does not look at z.
static tern_tensor *activate(tern_unary_op op, tern_tensor *z, bool keep_z)
{
    tern_tensor *y = keep_z ? tern_empty_like(z) : z;
    return y && tern_launch_unary(op, 0, 0, y, z) == TERN_OK ? y : NULL;
}

tern_tensor *tern_linear(tern_tensor *x, tern_tensor *weight, tern_tensor *bias,
                         tern_activation activation)
{
    static const tern_op linear = {"linear", {"x", "weight", "bias"}, linear_backward};
    tern_op_call call = {
        .op = &linear, .count = bias || tern_error_pending() ? 3 : 2, .in = {x, weight, bias}};
    if (tern_op_begin(&call, TERN_OP_SAME_DTYPE | TERN_OP_ONLY_FLOATING) ||
        check(&call, activation))
        return NULL;
    tern_shape shape = tern_shape_get(call.in[X]);
    shape.dim[shape.rank - 1] = call.in[WEIGHT]->size[0];
    tern_tensor *y = tern_tensor_new("linear", call.dtype, call.device, shape), *z = y;
    bool relu = activation == TERN_ACT_RELU;
    if (!y || product(z, call.in, call.count > BIAS ? call.in[BIAS] : NULL, relu))
        return NULL;
    tern_unary_op op = TERN_UNARY_RELU;
    bool activated = operation_of(activation, &op);
    bool saves_output = tern_unary_saves(op) == TERN_SAVES_OUTPUT;
    if (activated && !relu)
        y = activate(op, z, !saves_output && will_record(&call));
    if (!y)
        return NULL;
    return end(&call, activation, y, !activated ? NULL : saves_output ? y : z);
}
