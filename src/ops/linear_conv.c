// SPDX-License-Identifier: Apache-2.0
#include "ops/linear_conv.h"

// An activation's operation; false for none.
static bool find_operation(tern_activation activation, tern_unary_op *op)
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

tern_status tern_linear_conv_check(const char *op, tern_activation activation)
{
    TERN_CHECK(activation >= TERN_ACT_UNSPECIFIED && activation <= TERN_ACT_SIGMOID, TERN_ERR_ARG,
               "%s: there is no activation %d", op, (int)activation);
    return TERN_OK;
}

static bool will_record(const tern_op_call *call)
{
    bool needs = false;
    for (int i = 0; i < call->count; i++)
        needs |= call->in[i]->requires_grad;
    return needs && tern_grad_enabled();
}

// y = activation(z): over z where the derivative does not look at z.
static tern_tensor *activate(tern_unary_op op, tern_tensor *z, bool saves_z)
{
    tern_tensor *y = saves_z ? tern_new_like(z) : z;
    return y && tern_launch_unary(op, 0, 0, y, z) == TERN_OK ? y : NULL;
}

tern_tensor *tern_linear_conv_end(tern_op_call *call, tern_activation activation, tern_tensor *z)
{
    tern_tensor *y = z;
    tern_unary_op op = TERN_UNARY_RELU;
    bool activated = find_operation(activation, &op);
    bool saves_output = tern_unary_saves(op) == TERN_SAVES_OUTPUT;
    if (activated && activation != TERN_ACT_RELU)
        y = activate(op, z, !saves_output && will_record(call));
    if (!y)
        return NULL;
    call->attrs.i[0] = activation;
    call->attrs.i[1] = call->count > TERN_LINEAR_CONV_BIAS;
    tern_tensor *x = call->in[TERN_LINEAR_CONV_X], *weight = call->in[TERN_LINEAR_CONV_WEIGHT];
    tern_tensor *saved[] = {weight->requires_grad ? x : NULL, x->requires_grad ? weight : NULL,
                            !activated     ? NULL
                            : saves_output ? y
                                           : z};
    return tern_op_end(call, y, saved, 3);
}

// What the activation's derivative needs is in slot 2.
tern_tensor *tern_linear_conv_dz(tern_node *node, tern_tensor *dy)
{
    tern_unary_op op;
    if (!find_operation((tern_activation)tern_node_attrs(node)->i[0], &op))
        return tern_make_contiguous(dy);
    tern_tensor *dz = tern_new_like(dy);
    tern_status failed =
        dz ? tern_launch_unary_grad(op, 0, 0, dz, dy, tern_node_saved(node, 2)) : tern_failed();
    return failed ? NULL : dz;
}

tern_status tern_linear_conv_bias_grad(tern_node *node, tern_tensor *dz, int dim, tern_tensor **dx)
{
    if (!tern_node_attrs(node)->i[1] || !tern_node_needs(node, TERN_LINEAR_CONV_BIAS))
        return TERN_OK;
    bool accumulate = false;
    tern_shape keepdim = tern_shape_get(dz);
    for (int i = 0; i < dz->rank; i++)
        if (i != dim)
            keepdim.dim[i] = 1;
    dx[TERN_LINEAR_CONV_BIAS] = tern_node_grad_into(node, TERN_LINEAR_CONV_BIAS, &accumulate);
    if (!dx[TERN_LINEAR_CONV_BIAS])
        return tern_failed();
    if (!accumulate)
        return tern_launch_reduce(TERN_REDUCE_SUM, 0, dx[TERN_LINEAR_CONV_BIAS], dz, keepdim);
    tern_tensor *sum = tern_new_like(dx[TERN_LINEAR_CONV_BIAS]);
    if (!sum)
        return tern_failed();
    TERN_TRY(tern_launch_reduce(TERN_REDUCE_SUM, 0, sum, dz, keepdim));
    return tern_launch_binary(TERN_BINARY_ADD, 1, dx[TERN_LINEAR_CONV_BIAS],
                              dx[TERN_LINEAR_CONV_BIAS], sum);
}
