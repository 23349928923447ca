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

static tern_tensor *run(const tern_op *op, conv_sizes sizes, tern_tensor *x, tern_tensor *weight,
                        tern_tensor *bias)
{
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

#define ONE(size)   (size)
#define TWO(size)   tern_pair_of(size, TERN_SAME_AS_FIRST)
#define THREE(size) tern_triple_of(size, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST)

// What only transposed convolutions have.
#define PLAIN_DEFAULTS(of)
#define PLAIN_SIZES(sizes_of)
#define TRANSPOSED_DEFAULTS(of) , .output_padding = of(0), .output_size = of(0)
#define TRANSPOSED_SIZES(sizes_of)                                                                 \
    , .transposed = true, .output_padding = sizes_of(options->output_padding),                     \
      .output_size = sizes_of(options->output_size)

// The public functions; `of` makes a size of a number, `sizes_of` a shape of a size.
#define CONV(function, kind, of, sizes_of)                                                         \
    tern_tensor *tern_##function##_with(const tern_##function##_options *options)                  \
    {                                                                                              \
        static const tern_op op = {#function, {"x", "weight", "bias"}, conv_backward};             \
        if (!options) {                                                                            \
            tern_null_error(op.name, "options");                                                   \
            return NULL;                                                                           \
        }                                                                                          \
        const conv_sizes sizes = {.stride = sizes_of(options->stride),                             \
                                  .padding = sizes_of(options->padding),                           \
                                  .dilation = sizes_of(options->dilation),                         \
                                  .groups = options->groups,                                       \
                                  .activation = options->activation kind##_SIZES(sizes_of)};       \
        return run(&op, sizes, options->x, options->weight, options->bias);                        \
    }

CONV(conv1d, PLAIN, ONE, tern_sizes_1)
CONV(conv2d, PLAIN, TWO, tern_sizes_2)
CONV(conv3d, PLAIN, THREE, tern_sizes_3)
CONV(conv_transpose1d, TRANSPOSED, ONE, tern_sizes_1)
CONV(conv_transpose2d, TRANSPOSED, TWO, tern_sizes_2)
CONV(conv_transpose3d, TRANSPOSED, THREE, tern_sizes_3)
