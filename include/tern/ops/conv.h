// SPDX-License-Identifier: Apache-2.0
/// @file
/// Convolutions of an input with the kernels of a weight.
///
///     tern_tensor *y = tern_conv2d(x, weight, bias, .stride = 2, .padding = 1);
///     tern_tensor *z = tern_conv2d(x, weight, NULL, .padding = 1, .activation = TERN_ACT_RELU);
///
/// Results are temporaries of the innermost scope; NULL with a pending error. Differentiable in x,
/// weight and bias. Threads: any, each tensor used by one at a time.
#ifndef TERN_OPS_CONV_H
#define TERN_OPS_CONV_H

#include <tern/activation.h>
#include <tern/sizes.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// A padding that makes the output as large as the input, for stride 1: dilation * (kernel - 1)
/// zeros, half of them in front, an odd one behind.
#define TERN_SAME_PADDING (-2)

/// `tern_conv2d(x, weight, bias, .stride = 2, .padding = {1, 0})`.
typedef struct tern_conv_options {
    tern_sizes stride;          ///< from window to window
    tern_sizes padding;         ///< zeros on both sides, or TERN_SAME_PADDING
    tern_sizes dilation;        ///< from tap to tap of the kernel
    int64_t groups;             ///< of channels, each with filters of its own
    tern_activation activation; ///< of the result
    char reserved_;
    tern_tensor *x;      ///< (N, C, H, W) or (C, H, W)
    tern_tensor *weight; ///< (K, C / groups, KH, KW)
    tern_tensor *bias;   ///< (K) or NULL
} tern_conv_options;
#define TERN_CONV_DEFAULTS_                                                                        \
    .stride = TERN_EACH_(1), .padding = TERN_EACH_(0), .dilation = TERN_EACH_(1), .groups = 1,     \
    .activation = TERN_ACT_NONE
#define TERN_CONV_FIELDS_ 3, 0, (x, weight, bias), (tensor, tensor, tensor)
TERN_API tern_conv_options tern_conv_defaults(void);
/// Cross-correlation: y (N, K, OH, OW), or (K, OH, OW) of an x without a batch,
/// y[n, k] = bias[k] + the sum over c of weight[k, c] times the windows of x[n, c], with
/// OH = (H + 2 padding - dilation (KH - 1) - 1) / stride + 1 rounded down. With groups, filters
/// k of group g see the channels c of group g alone. One floating dtype; the batch may be empty.
/// TERN_ERR_SHAPE where channels do not fit or the kernel is larger than the padded input.
TERN_API tern_tensor *tern_conv2d_with(const tern_conv_options *options);
/// Likewise along one dimension, x (N, C, L): see tern_conv2d.
TERN_API tern_tensor *tern_conv1d_with(const tern_conv_options *options);
/// Likewise along three dimensions, x (N, C, D, H, W): see tern_conv2d.
TERN_API tern_tensor *tern_conv3d_with(const tern_conv_options *options);
#define tern_conv1d(...) TERN_WITH_(tern_conv1d, tern_conv, TERN_CONV, __VA_ARGS__)
#define tern_conv2d(...) TERN_WITH_(tern_conv2d, tern_conv, TERN_CONV, __VA_ARGS__)
#define tern_conv3d(...) TERN_WITH_(tern_conv3d, tern_conv, TERN_CONV, __VA_ARGS__)

/// `tern_conv_transpose2d(x, weight, bias, .stride = 2, .padding = {1, 0})`.
typedef struct tern_conv_transpose_options {
    tern_sizes stride;          ///< from window to window
    tern_sizes padding;         ///< what is cut off on both sides, not negative
    tern_sizes output_padding;  ///< added behind the last, less than stride or dilation
    tern_sizes output_size;     ///< instead of output_padding; 0: the smallest
    tern_sizes dilation;        ///< from tap to tap of the kernel
    int64_t groups;             ///< of channels, each with filters of its own
    tern_activation activation; ///< of the result
    char reserved_;
    tern_tensor *x;      ///< (N, C, H, W) or (C, H, W)
    tern_tensor *weight; ///< (C, K / groups, KH, KW)
    tern_tensor *bias;   ///< (K) or NULL
} tern_conv_transpose_options;
#define TERN_CONV_TRANSPOSE_DEFAULTS_                                                              \
    TERN_CONV_DEFAULTS_, .output_padding = TERN_EACH_(0), .output_size = TERN_EACH_(0)
#define TERN_CONV_TRANSPOSE_FIELDS_ TERN_CONV_FIELDS_
TERN_API tern_conv_transpose_options tern_conv_transpose_defaults(void);
/// The transposed convolution: the gradient of tern_conv2d with this weight, as a function of the
/// output's. y (N, K, OH, OW), or (K, OH, OW) of an x without a batch, with
/// OH = (H - 1) stride - 2 padding + dilation (KH - 1) + output_padding + 1. An output_size must be
/// one that the stride can give: the smallest and up to stride - 1 more.
TERN_API tern_tensor *tern_conv_transpose2d_with(const tern_conv_transpose_options *options);
/// Likewise along one dimension: see tern_conv_transpose2d.
TERN_API tern_tensor *tern_conv_transpose1d_with(const tern_conv_transpose_options *options);
/// Likewise along three dimensions: see tern_conv_transpose2d.
TERN_API tern_tensor *tern_conv_transpose3d_with(const tern_conv_transpose_options *options);
#define tern_conv_transpose1d(...)                                                                 \
    TERN_WITH_(tern_conv_transpose1d, tern_conv_transpose, TERN_CONV_TRANSPOSE, __VA_ARGS__)
#define tern_conv_transpose2d(...)                                                                 \
    TERN_WITH_(tern_conv_transpose2d, tern_conv_transpose, TERN_CONV_TRANSPOSE, __VA_ARGS__)
#define tern_conv_transpose3d(...)                                                                 \
    TERN_WITH_(tern_conv_transpose3d, tern_conv_transpose, TERN_CONV_TRANSPOSE, __VA_ARGS__)

TERN_END_DECLS

#endif
