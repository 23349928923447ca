// SPDX-License-Identifier: Apache-2.0
/// @file
/// Convolutions.
///
///     tern_nn_conv2d(3, 64, 7, .stride = 2, .padding = 3)
///     tern_nn_conv2d(64, 64, .kernel_size = {3, 5}, .padding = TERN_SAME_PADDING, .bias = false)
///
/// Constructors make modules that the caller frees or hands to a container, NULL on failure, on any
/// thread: nn.h.
#ifndef TERN_NN_CONV_H
#define TERN_NN_CONV_H

#include <tern/module.h>
#include <tern/ops/conv.h>
#include <tern/ops/resize.h>
#include <tern/sizes.h>

TERN_BEGIN_DECLS

/// `tern_nn_conv2d(3, 64, 3, .stride = 2)`, `tern_nn_conv2d(3, 64, .kernel_size = {3, 5})`.
typedef struct tern_nn_conv_options {
    tern_sizes stride;          ///< from window to window
    tern_sizes padding;         ///< on both sides, or TERN_SAME_PADDING
    tern_sizes dilation;        ///< from tap to tap of the kernel
    int64_t groups;             ///< of channels, each with filters of its own
    bool bias;                  ///< whether there is one
    tern_pad_mode padding_mode; ///< what is on both sides
    tern_sizes kernel_size;     ///< instead of `kernel`
    tern_dtype dtype;           ///< floating; the default dtype unless said
    tern_device device;         ///< the default device unless said
    char reserved_;
    int64_t in_channels;  ///< C > 0
    int64_t out_channels; ///< K > 0
    int64_t kernel;       ///< its size, the same in each dimension
} tern_nn_conv_options;
#define TERN_NN_CONV_DEFAULTS_                                                                     \
    .stride = TERN_EACH_(1), .padding = TERN_EACH_(0), .dilation = TERN_EACH_(1), .groups = 1,     \
    .bias = true, .padding_mode = TERN_PAD_ZEROS, .kernel_size = TERN_EACH_(0),                    \
    TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_CONV_FIELDS_ 2, 1, (in_channels, out_channels, kernel), (int64, int64)
TERN_API tern_nn_conv_options tern_nn_conv_defaults(void);
/// tern_conv2d as a module: (N, C, H, W) -> (N, K, OH, OW), the batch may be left out. weight
/// (K, C / groups, KH, KW) and bias (K) start uniform in +-1 / sqrt(C / groups KH KW). padding_mode
/// pads by tern_pad first.
TERN_API tern_module *tern_nn_conv2d_with(const tern_nn_conv_options *options);
/// Likewise along one dimension: see tern_nn_conv2d.
TERN_API tern_module *tern_nn_conv1d_with(const tern_nn_conv_options *options);
/// Likewise along three dimensions: see tern_nn_conv2d.
TERN_API tern_module *tern_nn_conv3d_with(const tern_nn_conv_options *options);
#define tern_nn_conv1d(...) TERN_WITH_(tern_nn_conv1d, tern_nn_conv, TERN_NN_CONV, __VA_ARGS__)
#define tern_nn_conv2d(...) TERN_WITH_(tern_nn_conv2d, tern_nn_conv, TERN_NN_CONV, __VA_ARGS__)
#define tern_nn_conv3d(...) TERN_WITH_(tern_nn_conv3d, tern_nn_conv, TERN_NN_CONV, __VA_ARGS__)

/// `tern_nn_conv_transpose2d(3, 64, 3, .stride = 2)`.
typedef struct tern_nn_conv_transpose_options {
    tern_sizes stride;         ///< from window to window
    tern_sizes padding;        ///< what is cut off on both sides
    tern_sizes output_padding; ///< added behind the last, less than stride or dilation
    tern_sizes dilation;       ///< from tap to tap of the kernel
    int64_t groups;            ///< of channels, each with filters of its own
    bool bias;                 ///< whether there is one
    tern_sizes kernel_size;    ///< instead of `kernel`
    tern_dtype dtype;          ///< floating; the default dtype unless said
    tern_device device;        ///< the default device unless said
    char reserved_;
    int64_t in_channels;  ///< C > 0
    int64_t out_channels; ///< K > 0
    int64_t kernel;       ///< its size, the same in each dimension
} tern_nn_conv_transpose_options;
#define TERN_NN_CONV_TRANSPOSE_DEFAULTS_                                                           \
    .stride = TERN_EACH_(1), .padding = TERN_EACH_(0), .output_padding = TERN_EACH_(0),            \
    .dilation = TERN_EACH_(1), .groups = 1, .bias = true, .kernel_size = TERN_EACH_(0),            \
    TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_CONV_TRANSPOSE_FIELDS_ TERN_NN_CONV_FIELDS_
TERN_API tern_nn_conv_transpose_options tern_nn_conv_transpose_defaults(void);
/// tern_conv_transpose2d as a module: (N, C, H, W) -> (N, K, OH, OW), the batch may be left out.
/// weight (C, K / groups, KH, KW) and bias (K) start uniform in +-1 / sqrt(K / groups KH KW).
TERN_API tern_module *tern_nn_conv_transpose2d_with(const tern_nn_conv_transpose_options *options);
/// Likewise along one dimension: see tern_nn_conv_transpose2d.
TERN_API tern_module *tern_nn_conv_transpose1d_with(const tern_nn_conv_transpose_options *options);
/// Likewise along three dimensions: see tern_nn_conv_transpose2d.
TERN_API tern_module *tern_nn_conv_transpose3d_with(const tern_nn_conv_transpose_options *options);
#define tern_nn_conv_transpose1d(...)                                                              \
    TERN_WITH_(tern_nn_conv_transpose1d, tern_nn_conv_transpose, TERN_NN_CONV_TRANSPOSE,           \
               __VA_ARGS__)
#define tern_nn_conv_transpose2d(...)                                                              \
    TERN_WITH_(tern_nn_conv_transpose2d, tern_nn_conv_transpose, TERN_NN_CONV_TRANSPOSE,           \
               __VA_ARGS__)
#define tern_nn_conv_transpose3d(...)                                                              \
    TERN_WITH_(tern_nn_conv_transpose3d, tern_nn_conv_transpose, TERN_NN_CONV_TRANSPOSE,           \
               __VA_ARGS__)

TERN_END_DECLS

#endif
