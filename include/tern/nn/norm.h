// SPDX-License-Identifier: Apache-2.0
/// @file
/// Layers that normalise (tern/ops/norm.h).
///
///     tern_module *bn = tern_nn_batch_norm2d(64, .momentum = 0.05);   // (N, 64, H, W)
///     tern_module *ln = tern_nn_layer_norm(tern_dims(512));           // (.., 512)
///
/// Nothing is drawn: weights start as 1, biases as 0. Running statistics are buffers of PyTorch's
/// names; the dtype and device options say where they and the parameters are. Constructors make
/// modules that the caller frees or hands to a container, NULL on failure, on any thread: nn.h.
#ifndef TERN_NN_NORM_H
#define TERN_NN_NORM_H

#include <math.h>
#include <tern/module.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// `tern_nn_batch_norm2d(64, .momentum = 0.05)`, `tern_nn_instance_norm2d(64, .affine = true)`.
typedef struct tern_nn_batch_norm_options {
    double eps;               ///< added to the variance, 0 or more
    double momentum;          ///< of the running statistics; NAN: the mean of all, InstanceNorm: 0
    bool affine;              ///< it has weight and bias (C)
    bool track_running_stats; ///< it has running statistics
    bool bias;                ///< with `affine`
    tern_dtype dtype;         ///< floating; the default dtype unless said
    tern_device device;       ///< the default device unless said
    char reserved_;
    int64_t num_features; ///< C > 0
} tern_nn_batch_norm_options;
/// Those of InstanceNorm, with defaults of its own.
typedef tern_nn_batch_norm_options tern_nn_instance_norm_options;

#define TERN_NN_BATCH_NORM_DEFAULTS_                                                               \
    .eps = 1e-5, .momentum = 0.1, .affine = true, .track_running_stats = true, .bias = true,       \
    TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_BATCH_NORM_FIELDS_ 1, 0, (num_features), (int64)
TERN_API tern_nn_batch_norm_options tern_nn_batch_norm_defaults(void);
/// tern_batch_norm of (N, C) or (N, C, L): in training by the statistics of the batch, which the
/// buffers running_mean, running_var and num_batches_tracked follow, else by those. Without
/// track_running_stats there are none, and it is always by the batch.
TERN_API tern_module *tern_nn_batch_norm1d_with(const tern_nn_batch_norm_options *options);
/// Likewise of (N, C, H, W).
TERN_API tern_module *tern_nn_batch_norm2d_with(const tern_nn_batch_norm_options *options);
/// Likewise of (N, C, D, H, W).
TERN_API tern_module *tern_nn_batch_norm3d_with(const tern_nn_batch_norm_options *options);
#define tern_nn_batch_norm1d(...)                                                                  \
    TERN_WITH_(tern_nn_batch_norm1d, tern_nn_batch_norm, TERN_NN_BATCH_NORM, __VA_ARGS__)
#define tern_nn_batch_norm2d(...)                                                                  \
    TERN_WITH_(tern_nn_batch_norm2d, tern_nn_batch_norm, TERN_NN_BATCH_NORM, __VA_ARGS__)
#define tern_nn_batch_norm3d(...)                                                                  \
    TERN_WITH_(tern_nn_batch_norm3d, tern_nn_batch_norm, TERN_NN_BATCH_NORM, __VA_ARGS__)

#define TERN_NN_INSTANCE_NORM_DEFAULTS_                                                            \
    .eps = 1e-5, .momentum = 0.1, .affine = false, .track_running_stats = false, .bias = true,     \
    TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_INSTANCE_NORM_FIELDS_ TERN_NN_BATCH_NORM_FIELDS_
TERN_API tern_nn_instance_norm_options tern_nn_instance_norm_defaults(void);
/// tern_instance_norm of (N, C, L) or (C, L). With track_running_stats it has BatchNorm's
/// buffers, of which num_batches_tracked stays 0, and evaluation is by them.
TERN_API tern_module *tern_nn_instance_norm1d_with(const tern_nn_instance_norm_options *options);
/// Likewise of (N, C, H, W) or (C, H, W).
TERN_API tern_module *tern_nn_instance_norm2d_with(const tern_nn_instance_norm_options *options);
/// Likewise of (N, C, D, H, W) or (C, D, H, W).
TERN_API tern_module *tern_nn_instance_norm3d_with(const tern_nn_instance_norm_options *options);
#define tern_nn_instance_norm1d(...)                                                               \
    TERN_WITH_(tern_nn_instance_norm1d, tern_nn_instance_norm, TERN_NN_INSTANCE_NORM, __VA_ARGS__)
#define tern_nn_instance_norm2d(...)                                                               \
    TERN_WITH_(tern_nn_instance_norm2d, tern_nn_instance_norm, TERN_NN_INSTANCE_NORM, __VA_ARGS__)
#define tern_nn_instance_norm3d(...)                                                               \
    TERN_WITH_(tern_nn_instance_norm3d, tern_nn_instance_norm, TERN_NN_INSTANCE_NORM, __VA_ARGS__)

/// `tern_nn_group_norm(8, 64)`.
typedef struct tern_nn_group_norm_options {
    double eps;         ///< added to the variance, 0 or more
    bool affine;        ///< it has weight and bias (C)
    bool bias;          ///< with `affine`
    tern_dtype dtype;   ///< floating; the default dtype unless said
    tern_device device; ///< the default device unless said
    char reserved_;
    int64_t num_groups;   ///< > 0
    int64_t num_channels; ///< C > 0, a multiple of num_groups
} tern_nn_group_norm_options;

#define TERN_NN_GROUP_NORM_DEFAULTS_                                                               \
    .eps = 1e-5, .affine = true, .bias = true, TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_GROUP_NORM_FIELDS_ 2, 0, (num_groups, num_channels), (int64, int64)
TERN_API tern_nn_group_norm_options tern_nn_group_norm_defaults(void);
/// tern_group_norm of (N, C, ..).
TERN_API tern_module *tern_nn_group_norm_with(const tern_nn_group_norm_options *options);
#define tern_nn_group_norm(...)                                                                    \
    TERN_WITH_(tern_nn_group_norm, tern_nn_group_norm, TERN_NN_GROUP_NORM, __VA_ARGS__)

/// `tern_nn_layer_norm(tern_dims(512), .bias = false)`.
typedef struct tern_nn_layer_norm_options {
    double eps;              ///< added to the variance, 0 or more
    bool elementwise_affine; ///< it has weight and bias of normalized_shape
    bool bias;               ///< with `elementwise_affine`
    tern_dtype dtype;        ///< floating; the default dtype unless said
    tern_device device;      ///< the default device unless said
    char reserved_;
    tern_shape normalized_shape; ///< the last sizes of what comes in
} tern_nn_layer_norm_options;

#define TERN_NN_LAYER_NORM_DEFAULTS_                                                               \
    .eps = 1e-5, .elementwise_affine = true, .bias = true, TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_LAYER_NORM_FIELDS_ 1, 0, (normalized_shape), (shape)
TERN_API tern_nn_layer_norm_options tern_nn_layer_norm_defaults(void);
/// tern_layer_norm of (.., normalized_shape).
TERN_API tern_module *tern_nn_layer_norm_with(const tern_nn_layer_norm_options *options);
#define tern_nn_layer_norm(...)                                                                    \
    TERN_WITH_(tern_nn_layer_norm, tern_nn_layer_norm, TERN_NN_LAYER_NORM, __VA_ARGS__)

/// `tern_nn_rms_norm(tern_dims(512))`.
typedef struct tern_nn_rms_norm_options {
    double eps;              ///< added to the mean square, 0 or more; NAN: as in tern_rms_norm
    bool elementwise_affine; ///< it has a weight of normalized_shape
    tern_dtype dtype;        ///< floating; the default dtype unless said
    tern_device device;      ///< the default device unless said
    char reserved_;
    tern_shape normalized_shape; ///< the last sizes of what comes in
} tern_nn_rms_norm_options;

#define TERN_NN_RMS_NORM_DEFAULTS_                                                                 \
    .eps = NAN, .elementwise_affine = true, TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_RMS_NORM_FIELDS_ 1, 0, (normalized_shape), (shape)
TERN_API tern_nn_rms_norm_options tern_nn_rms_norm_defaults(void);
/// tern_rms_norm of (.., normalized_shape).
TERN_API tern_module *tern_nn_rms_norm_with(const tern_nn_rms_norm_options *options);
#define tern_nn_rms_norm(...)                                                                      \
    TERN_WITH_(tern_nn_rms_norm, tern_nn_rms_norm, TERN_NN_RMS_NORM, __VA_ARGS__)

TERN_END_DECLS

#endif
