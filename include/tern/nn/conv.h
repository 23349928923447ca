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
#include <tern/pair.h>

TERN_BEGIN_DECLS

/// `tern_nn_conv2d(3, 64, 3, .stride = 2)`,
/// `tern_nn_conv2d(3, 64, .kernel_size = {3, 5})`.
typedef struct tern_nn_conv2d_options {
    tern_pair stride;           ///< from window to window; 1
    tern_pair padding;          ///< on both sides, or TERN_SAME_PADDING; 0
    tern_pair dilation;         ///< from tap to tap of the kernel; 1
    int64_t groups;             ///< of channels, each with filters of its own; 1
    bool bias;                  ///< true
    tern_pad_mode padding_mode; ///< what is on both sides; zeros
    tern_pair kernel_size;      ///< instead of `kernel`
    tern_dtype dtype;           ///< floating; the default dtype unless said
    tern_device device;         ///< the default device unless said
    char reserved_;
    int64_t in_channels;  ///< C > 0
    int64_t out_channels; ///< K > 0
    int64_t kernel;       ///< its size, the same in each dimension
} tern_nn_conv2d_options;

#define TERN_NN_CONV2D_DEFAULTS_                                                                   \
    .stride = {1, TERN_SAME_AS_FIRST}, .padding = {0, TERN_SAME_AS_FIRST},                         \
    .dilation = {1, TERN_SAME_AS_FIRST}, .groups = 1, .bias = true,                                \
    .padding_mode = TERN_PAD_ZEROS, .kernel_size = {0, TERN_SAME_AS_FIRST},                        \
    TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_CONV2D_FIELDS_ 2, 1, (in_channels, out_channels, kernel), (int64, int64)
TERN_API tern_nn_conv2d_options tern_nn_conv2d_defaults(void);
/// tern_conv2d as a module: (N, C, H, W) -> (N, K, OH, OW), the batch may be left out. weight
/// (K, C / groups, KH, KW) and bias (K) start uniform in +-1 / sqrt(C / groups KH KW). padding_mode
/// pads by tern_pad first.
TERN_API tern_module *tern_nn_conv2d_with(const tern_nn_conv2d_options *options);
#define tern_nn_conv2d(...) TERN_WITH_(tern_nn_conv2d, tern_nn_conv2d, TERN_NN_CONV2D, __VA_ARGS__)

/// `tern_nn_conv1d(3, 64, 3, .stride = 2)`,
/// `tern_nn_conv1d(3, 64, .kernel_size = 5)`.
typedef struct tern_nn_conv1d_options {
    int64_t stride;             ///< from window to window; 1
    int64_t padding;            ///< on both sides, or TERN_SAME_PADDING; 0
    int64_t dilation;           ///< from tap to tap of the kernel; 1
    int64_t groups;             ///< of channels, each with filters of its own; 1
    bool bias;                  ///< true
    tern_pad_mode padding_mode; ///< what is on both sides; zeros
    int64_t kernel_size;        ///< instead of `kernel`
    tern_dtype dtype;           ///< floating; the default dtype unless said
    tern_device device;         ///< the default device unless said
    char reserved_;
    int64_t in_channels;  ///< C > 0
    int64_t out_channels; ///< K > 0
    int64_t kernel;       ///< its size
} tern_nn_conv1d_options;

#define TERN_NN_CONV1D_DEFAULTS_                                                                   \
    .stride = 1, .padding = 0, .dilation = 1, .groups = 1, .bias = true,                           \
    .padding_mode = TERN_PAD_ZEROS, .kernel_size = 0, TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_CONV1D_FIELDS_ 2, 1, (in_channels, out_channels, kernel), (int64, int64)
TERN_API tern_nn_conv1d_options tern_nn_conv1d_defaults(void);
/// Likewise along one dimension: see tern_nn_conv2d.
TERN_API tern_module *tern_nn_conv1d_with(const tern_nn_conv1d_options *options);
#define tern_nn_conv1d(...) TERN_WITH_(tern_nn_conv1d, tern_nn_conv1d, TERN_NN_CONV1D, __VA_ARGS__)

/// `tern_nn_conv3d(3, 64, 3, .stride = 2)`,
/// `tern_nn_conv3d(3, 64, .kernel_size = {1, 3, 3})`.
typedef struct tern_nn_conv3d_options {
    tern_triple stride;         ///< from window to window; 1
    tern_triple padding;        ///< on both sides, or TERN_SAME_PADDING; 0
    tern_triple dilation;       ///< from tap to tap of the kernel; 1
    int64_t groups;             ///< of channels, each with filters of its own; 1
    bool bias;                  ///< true
    tern_pad_mode padding_mode; ///< what is on both sides; zeros
    tern_triple kernel_size;    ///< instead of `kernel`
    tern_dtype dtype;           ///< floating; the default dtype unless said
    tern_device device;         ///< the default device unless said
    char reserved_;
    int64_t in_channels;  ///< C > 0
    int64_t out_channels; ///< K > 0
    int64_t kernel;       ///< its size, the same in each dimension
} tern_nn_conv3d_options;

#define TERN_NN_CONV3D_DEFAULTS_                                                                   \
    .stride = {1, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST},                                         \
    .padding = {0, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST},                                        \
    .dilation = {1, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST}, .groups = 1, .bias = true,            \
    .padding_mode = TERN_PAD_ZEROS, .kernel_size = {0, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST},    \
    TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_CONV3D_FIELDS_ 2, 1, (in_channels, out_channels, kernel), (int64, int64)
TERN_API tern_nn_conv3d_options tern_nn_conv3d_defaults(void);
/// Likewise along three dimensions: see tern_nn_conv2d.
TERN_API tern_module *tern_nn_conv3d_with(const tern_nn_conv3d_options *options);
#define tern_nn_conv3d(...) TERN_WITH_(tern_nn_conv3d, tern_nn_conv3d, TERN_NN_CONV3D, __VA_ARGS__)

/// `tern_nn_conv_transpose2d(3, 64, 3, .stride = 2)`,
/// `tern_nn_conv_transpose2d(3, 64, .kernel_size = {3, 5})`.
typedef struct tern_nn_conv_transpose2d_options {
    tern_pair stride;         ///< from window to window; 1
    tern_pair padding;        ///< what is cut off on both sides; 0
    tern_pair output_padding; ///< added behind the last, less than stride or dilation; 0
    tern_pair dilation;       ///< from tap to tap of the kernel; 1
    int64_t groups;           ///< of channels, each with filters of its own; 1
    bool bias;                ///< true
    tern_pair kernel_size;    ///< instead of `kernel`
    tern_dtype dtype;         ///< floating; the default dtype unless said
    tern_device device;       ///< the default device unless said
    char reserved_;
    int64_t in_channels;  ///< C > 0
    int64_t out_channels; ///< K > 0
    int64_t kernel;       ///< its size, the same in each dimension
} tern_nn_conv_transpose2d_options;

#define TERN_NN_CONV_TRANSPOSE2D_DEFAULTS_                                                         \
    .stride = {1, TERN_SAME_AS_FIRST}, .padding = {0, TERN_SAME_AS_FIRST},                         \
    .output_padding = {0, TERN_SAME_AS_FIRST}, .dilation = {1, TERN_SAME_AS_FIRST}, .groups = 1,   \
    .bias = true, .kernel_size = {0, TERN_SAME_AS_FIRST}, TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_CONV_TRANSPOSE2D_FIELDS_ 2, 1, (in_channels, out_channels, kernel), (int64, int64)
TERN_API tern_nn_conv_transpose2d_options tern_nn_conv_transpose2d_defaults(void);
/// tern_conv_transpose2d as a module: (N, C, H, W) -> (N, K, OH, OW), the batch may be left out.
/// weight (C, K / groups, KH, KW) and bias (K) start uniform in +-1 / sqrt(K / groups KH KW).
TERN_API tern_module *tern_nn_conv_transpose2d_with(
    const tern_nn_conv_transpose2d_options *options);
#define tern_nn_conv_transpose2d(...)                                                              \
    TERN_WITH_(tern_nn_conv_transpose2d, tern_nn_conv_transpose2d, TERN_NN_CONV_TRANSPOSE2D,       \
               __VA_ARGS__)

/// `tern_nn_conv_transpose1d(3, 64, 3, .stride = 2)`,
/// `tern_nn_conv_transpose1d(3, 64, .kernel_size = 5)`.
typedef struct tern_nn_conv_transpose1d_options {
    int64_t stride;         ///< from window to window; 1
    int64_t padding;        ///< what is cut off on both sides; 0
    int64_t output_padding; ///< added behind the last, less than stride or dilation; 0
    int64_t dilation;       ///< from tap to tap of the kernel; 1
    int64_t groups;         ///< of channels, each with filters of its own; 1
    bool bias;              ///< true
    int64_t kernel_size;    ///< instead of `kernel`
    tern_dtype dtype;       ///< floating; the default dtype unless said
    tern_device device;     ///< the default device unless said
    char reserved_;
    int64_t in_channels;  ///< C > 0
    int64_t out_channels; ///< K > 0
    int64_t kernel;       ///< its size
} tern_nn_conv_transpose1d_options;

#define TERN_NN_CONV_TRANSPOSE1D_DEFAULTS_                                                         \
    .stride = 1, .padding = 0, .output_padding = 0, .dilation = 1, .groups = 1, .bias = true,      \
    .kernel_size = 0, TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_CONV_TRANSPOSE1D_FIELDS_ 2, 1, (in_channels, out_channels, kernel), (int64, int64)
TERN_API tern_nn_conv_transpose1d_options tern_nn_conv_transpose1d_defaults(void);
/// Likewise along one dimension: see tern_nn_conv_transpose2d.
TERN_API tern_module *tern_nn_conv_transpose1d_with(
    const tern_nn_conv_transpose1d_options *options);
#define tern_nn_conv_transpose1d(...)                                                              \
    TERN_WITH_(tern_nn_conv_transpose1d, tern_nn_conv_transpose1d, TERN_NN_CONV_TRANSPOSE1D,       \
               __VA_ARGS__)

/// `tern_nn_conv_transpose3d(3, 64, 3, .stride = 2)`,
/// `tern_nn_conv_transpose3d(3, 64, .kernel_size = {1, 3, 3})`.
typedef struct tern_nn_conv_transpose3d_options {
    tern_triple stride;         ///< from window to window; 1
    tern_triple padding;        ///< what is cut off on both sides; 0
    tern_triple output_padding; ///< added behind the last, less than stride or dilation; 0
    tern_triple dilation;       ///< from tap to tap of the kernel; 1
    int64_t groups;             ///< of channels, each with filters of its own; 1
    bool bias;                  ///< true
    tern_triple kernel_size;    ///< instead of `kernel`
    tern_dtype dtype;           ///< floating; the default dtype unless said
    tern_device device;         ///< the default device unless said
    char reserved_;
    int64_t in_channels;  ///< C > 0
    int64_t out_channels; ///< K > 0
    int64_t kernel;       ///< its size, the same in each dimension
} tern_nn_conv_transpose3d_options;

#define TERN_NN_CONV_TRANSPOSE3D_DEFAULTS_                                                         \
    .stride = {1, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST},                                         \
    .padding = {0, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST},                                        \
    .output_padding = {0, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST},                                 \
    .dilation = {1, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST}, .groups = 1, .bias = true,            \
    .kernel_size = {0, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST}, TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_CONV_TRANSPOSE3D_FIELDS_ 2, 1, (in_channels, out_channels, kernel), (int64, int64)
TERN_API tern_nn_conv_transpose3d_options tern_nn_conv_transpose3d_defaults(void);
/// Likewise along three dimensions: see tern_nn_conv_transpose2d.
TERN_API tern_module *tern_nn_conv_transpose3d_with(
    const tern_nn_conv_transpose3d_options *options);
#define tern_nn_conv_transpose3d(...)                                                              \
    TERN_WITH_(tern_nn_conv_transpose3d, tern_nn_conv_transpose3d, TERN_NN_CONV_TRANSPOSE3D,       \
               __VA_ARGS__)

TERN_END_DECLS

#endif
