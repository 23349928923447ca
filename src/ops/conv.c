// SPDX-License-Identifier: Apache-2.0
// Convolutions and transposed ones, with bias and activation in one operation. What one computes
// forward is the other's gradient of the input.
#include "ops/conv_sizes.h"

// x (N, C, ..) or (C, ..), weight (K, C / groups, ..), transposed (C, K / groups, ..), bias (K)
enum { X = TERN_LINEAR_CONV_X, WEIGHT = TERN_LINEAR_CONV_WEIGHT };

static tern_status launch(tern_device device, bool transposed, const tern_conv_args *args)
{
    const tern_kernels *kernels = tern_kernels_of(device);
    tern_exec exec = tern_exec_of(device);
    return (transposed ? kernels->conv_grad_input : kernels->conv)(&exec, args);
}

static tern_status weight_gradient(tern_node *node, const tern_tensor *dz, tern_tensor **dx)
{
    bool accumulate = false;
    tern_tensor *x = tern_make_contiguous(tern_node_saved(node, X));
    dx[WEIGHT] = tern_node_grad_into(node, WEIGHT, &accumulate);
    if (!x || !dx[WEIGHT])
        return tern_failed();
    tern_conv_args args = tern_conv_make_args(tern_node_attrs(node), x, dx[WEIGHT], dz);
    args.accumulate = accumulate;
    tern_exec exec = tern_exec_of(tern_dev(dz));
    return tern_kernels_of(tern_dev(dz))->conv_grad_weight(&exec, &args);
}

static tern_status input_gradient(tern_node *node, const tern_tensor *dz, tern_tensor **dx)
{
    bool accumulate = false;
    tern_tensor *weight = tern_make_contiguous(tern_node_saved(node, WEIGHT));
    dx[X] = tern_node_grad_into(node, X, &accumulate);
    if (!weight || !dx[X])
        return tern_failed();
    if (dx[X]->numel == 0)
        return TERN_OK;
    tern_conv_args args = tern_conv_make_args(tern_node_attrs(node), dx[X], weight, dz);
    args.accumulate = accumulate;
    return launch(tern_dev(dz), !tern_conv_is_transposed(tern_node_attrs(node)), &args);
}

static tern_status conv_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *dz = tern_linear_conv_dz(node, dy[0]);
    if (!dz)
        return tern_failed();
    if (tern_node_needs(node, WEIGHT))
        TERN_TRY(weight_gradient(node, dz, dx));
    int dims = tern_node_input_shape(node, WEIGHT).rank - 2;
    TERN_TRY(tern_linear_conv_bias_grad(node, dz, dz->rank - dims - 1, dx));
    return tern_node_needs(node, X) ? input_gradient(node, dz, dx) : TERN_OK;
}

static tern_tensor *forward(tern_op_call *call, const conv_sizes *sizes, tern_shape shape)
{
    tern_tensor *x = tern_make_contiguous(call->in[X]);
    tern_tensor *weight = x ? tern_make_contiguous(call->in[WEIGHT]) : NULL;
    tern_tensor *bias = tern_linear_conv_bias(call),
                *dense = bias ? tern_make_contiguous(bias) : NULL;
    tern_tensor *z = tern_tensor_new(sizes->op, call->dtype, call->device, shape);
    if (!x || !weight || (bias && !dense) || !z)
        return NULL;
    tern_conv_save(sizes, &call->attrs);
    if (z->numel > 0) {
        tern_conv_args args = tern_conv_make_args(&call->attrs, x, weight, z);
        tern_strided bias_view = dense ? tern_view_of(dense) : (tern_strided){0};
        args.bias = dense ? &bias_view : NULL;
        args.relu = sizes->activation == TERN_ACT_RELU;
        if (launch(call->device, sizes->transposed, &args))
            return NULL;
    }
    return tern_linear_conv_end(call, sizes->activation, z);
}

#define OP(name)                                                                                   \
    {                                                                                              \
        name, {"x", "weight", "bias"}, conv_backward                                               \
    }
static const tern_op ops[2][3] = {
    {OP("conv1d"), OP("conv2d"), OP("conv3d")},
    {OP("conv_transpose1d"), OP("conv_transpose2d"), OP("conv_transpose3d")}};

tern_tensor *tern_conv_run(conv_sizes sizes, tern_tensor *x, tern_tensor *weight, tern_tensor *bias)
{
    const tern_op *op = &ops[sizes.transposed][sizes.stride.rank - 1];
    tern_op_call call = {
        .op = op, .count = bias || tern_error_pending() ? 3 : 2, .in = {x, weight, bias}};
    tern_shape shape;
    sizes.op = op->name;
    if (tern_op_begin(&call, TERN_OP_SAME_DTYPE | TERN_OP_ONLY_FLOATING) ||
        tern_conv_check_options(&sizes) || tern_conv_check_operands(&sizes, &call) ||
        tern_conv_shape(&sizes, call.in[X], call.in[WEIGHT], &shape))
        return NULL;
    return forward(&call, &sizes, shape);
}

static tern_tensor *conv(int dims, const tern_conv_options *o)
{
    conv_sizes sizes = {.op = ops[false][dims - 1].name};
    if (!o)
        return (void)tern_null_error(sizes.op, "options"), NULL;
    sizes.groups = o->groups;
    sizes.activation = o->activation;
    if (tern_conv_sizes(&sizes, dims, o->stride, o->padding, o->dilation))
        return NULL;
    return tern_conv_run(sizes, o->x, o->weight, o->bias);
}

static tern_tensor *conv_transpose(int dims, const tern_conv_transpose_options *o)
{
    conv_sizes sizes = {.op = ops[true][dims - 1].name, .transposed = true};
    if (!o)
        return (void)tern_null_error(sizes.op, "options"), NULL;
    sizes.groups = o->groups;
    sizes.activation = o->activation;
    if (tern_conv_sizes(&sizes, dims, o->stride, o->padding, o->dilation) ||
        tern_sizes_shape(sizes.op, "output_padding", o->output_padding, dims,
                         &sizes.output_padding) ||
        tern_sizes_shape(sizes.op, "output_size", o->output_size, dims, &sizes.output_size))
        return NULL;
    return tern_conv_run(sizes, o->x, o->weight, o->bias);
}

#define CONV(dims)                                                                                 \
    tern_tensor *tern_conv##dims##d_with(const tern_conv_options *options)                         \
    {                                                                                              \
        return conv(dims, options);                                                                \
    }                                                                                              \
    tern_tensor *tern_conv_transpose##dims##d_with(const tern_conv_transpose_options *options)     \
    {                                                                                              \
        return conv_transpose(dims, options);                                                      \
    }
CONV(1)
CONV(2)
CONV(3)
