// SPDX-License-Identifier: Apache-2.0
// activation(x W^T + b) in one operation.
#include "ops/linear_conv.h"

// x (.., In), weight (Out, In), bias (Out) or NULL
enum { X = TERN_LINEAR_CONV_X, WEIGHT = TERN_LINEAR_CONV_WEIGHT };

static tern_status check(const tern_op_call *call, tern_activation activation)
{
    const tern_tensor *x = call->in[X], *weight = call->in[WEIGHT];
    const tern_tensor *bias = tern_linear_conv_bias(call);
    TERN_TRY(tern_linear_conv_check("linear", activation));
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
static void view_as_rows(tern_strided *view, const tern_tensor *t)
{
    tern_view_set(view, t);
    (void)tern_view_rows(view);
}

// z = x W^T + b, with relu on the way
static tern_status product(tern_tensor *z, tern_tensor *const *in, tern_tensor *bias, bool relu)
{
    tern_strided bias_view;
    tern_product p;
    tern_view_set(&p.a, in[X]);
    if (!tern_view_rows(&p.a)) {
        tern_tensor *dense = tern_make_contiguous(in[X]);
        if (!dense)
            return tern_failed();
        view_as_rows(&p.a, dense);
    }
    view_as_rows(&p.y, z);
    tern_view_set(&p.b, in[WEIGHT]);
    tern_view_transpose(&p.b);
    p.bias = NULL;
    p.relu = relu;
    p.accumulate = false;
    if (bias) {
        bias = tern_make_contiguous(bias);
        if (!bias)
            return tern_failed();
        tern_view_set(&bias_view, bias);
        p.bias = &bias_view;
    }
    return tern_launch_product(tern_dev(z), &p);
}

// dW = dz^T x
static tern_status weight_gradient(tern_node *node, const tern_tensor *dz, tern_tensor **dx)
{
    tern_tensor *x = tern_make_contiguous(tern_node_saved(node, X));
    tern_product p;
    p.bias = NULL;
    p.relu = false;
    dx[WEIGHT] = tern_node_grad_into(node, WEIGHT, &p.accumulate);
    if (!x || !dx[WEIGHT])
        return tern_failed();
    tern_view_set(&p.y, dx[WEIGHT]);
    view_as_rows(&p.a, dz);
    tern_view_transpose(&p.a);
    view_as_rows(&p.b, x);
    return tern_launch_product(tern_dev(dz), &p);
}

// dx = dz W
static tern_status input_gradient(tern_node *node, const tern_tensor *dz, tern_tensor **dx)
{
    tern_product p;
    p.bias = NULL;
    p.relu = false;
    dx[X] = tern_node_grad_into(node, X, &p.accumulate);
    if (!dx[X])
        return tern_failed();
    view_as_rows(&p.y, dx[X]);
    view_as_rows(&p.a, dz);
    tern_view_set(&p.b, tern_node_saved(node, WEIGHT));
    return tern_launch_product(tern_dev(dz), &p);
}

static tern_status linear_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *dz = tern_linear_conv_dz(node, dy[0]);
    if (!dz)
        return tern_failed();
    if (tern_node_needs(node, WEIGHT))
        TERN_TRY(weight_gradient(node, dz, dx));
    TERN_TRY(tern_linear_conv_bias_grad(node, dz, dz->rank - 1, dx));
    return tern_node_needs(node, X) ? input_gradient(node, dz, dx) : TERN_OK;
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
    tern_tensor *z = tern_tensor_new("linear", call.dtype, call.device, shape);
    if (!z || product(z, call.in, tern_linear_conv_bias(&call), activation == TERN_ACT_RELU))
        return NULL;
    return tern_linear_conv_end(&call, activation, z);
}
