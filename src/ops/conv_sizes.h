// SPDX-License-Identifier: Apache-2.0
// Sizes of convolutions: what the options say, checked against the operands, and the arguments of
// the kernels. One to three spatial dims; where there are fewer, those in front count as 1.
#ifndef TERN_SRC_OPS_CONV_SIZES_H
#define TERN_SRC_OPS_CONV_SIZES_H

#include "ops/linear_conv.h"

// Of as many dims as the operation has.
typedef struct conv_sizes {
    const char *op;
    bool transposed;
    tern_shape stride, padding, dilation;
    tern_shape output_padding, output_size; // of transposed ones
    int64_t groups;
    tern_activation activation;
} conv_sizes;

// Options as a shape, with TERN_SAME_AS_FIRST replaced.
tern_shape tern_sizes_1(int64_t size);
tern_shape tern_sizes_2(tern_pair size);
tern_shape tern_sizes_3(tern_triple size);

// Each size is `min` or more, and below 2^31.
tern_status tern_sizes_check(const char *op, const char *what, tern_shape sizes, int64_t min);
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

// The sizes that a backward needs go through the attrs of the call.
void tern_conv_save(const conv_sizes *sizes, tern_op_attrs *attrs);
bool tern_conv_is_transposed(const tern_op_attrs *attrs);
// Arguments of a kernel from those attrs, for contiguous tensors. A transposed convolution writes
// what its kernels call x.
tern_conv_args tern_conv_make_args(const tern_op_attrs *attrs, const tern_tensor *x,
                                   const tern_tensor *weight, const tern_tensor *y);

#endif
