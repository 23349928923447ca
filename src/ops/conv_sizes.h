// SPDX-License-Identifier: Apache-2.0
// Sizes of convolutions: what the options say, checked against the operands, and the arguments of
// the kernels. One to three spatial dims; where there are fewer, those in front count as 1.
#ifndef TERN_SRC_OPS_CONV_SIZES_H
#define TERN_SRC_OPS_CONV_SIZES_H

#include "ops/linear_conv.h"
#include "ops/sizes.h"

// Of as many dims as the operation has.
typedef struct conv_sizes {
    const char *op;
    bool transposed;
    tern_shape stride, padding, dilation;
    tern_shape output_padding, output_size; // of transposed ones
    int64_t groups;
    tern_activation activation;
} conv_sizes;

// The sizes of every convolution.
tern_status tern_conv_sizes(conv_sizes *sizes, int dims, tern_sizes stride, tern_sizes padding,
                            tern_sizes dilation);
// The ranges of stride, dilation, padding and groups.
tern_status tern_conv_check_sizes(const conv_sizes *sizes);
// What needs no operand: the ranges of all options.
tern_status tern_conv_check_options(const conv_sizes *sizes);
// Ranks, channels, groups and the bias.
tern_status tern_conv_check_operands(const conv_sizes *sizes, const tern_op_call *call);
// The shape of the result. Padding becomes what is in front: TERN_SAME_PADDING is half of what the
// kernel reaches.
tern_status tern_conv_shape(conv_sizes *sizes, const tern_tensor *x, const tern_tensor *weight,
                            tern_shape *shape);

// As tern_conv2d and its like, in the dimensions of the sizes.
tern_tensor *tern_conv_run(conv_sizes sizes, tern_tensor *x, tern_tensor *weight,
                           tern_tensor *bias);

// The sizes that a backward needs go through the attrs of the call.
void tern_conv_save(const conv_sizes *sizes, tern_op_attrs *attrs);
bool tern_conv_is_transposed(const tern_op_attrs *attrs);
// Arguments of a kernel from those attrs, for contiguous tensors. A transposed convolution writes
// what its kernels call x.
tern_conv_args tern_conv_make_args(const tern_op_attrs *attrs, const tern_tensor *x,
                                   const tern_tensor *weight, const tern_tensor *y);

#endif
