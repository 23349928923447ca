// SPDX-License-Identifier: Apache-2.0
/// @file
/// Normalisation: y = (x - mean) / sqrt(variance + eps) * weight + bias, by the mean and the biased
/// variance of what belongs together.
///
///     tern_tensor *y = tern_layer_norm(x, tern_dims(512), .weight = weight, .bias = bias);
///     tern_tensor *z = tern_group_norm(x, 8, .eps = 1e-6);
///
/// Results are temporaries of the innermost scope, of x's dtype and shape, NULL on failure. x is
/// floating; weight, bias and running statistics are of its dtype, or float32 where x is float16 or
/// bfloat16 (TERN_ERR_DTYPE). Those are computed in float32, float64 in float64. Gradients flow to
/// x, weight and bias. An empty x is fine. Threads: any, each tensor used by one at a time.
#ifndef TERN_OPS_NORM_H
#define TERN_OPS_NORM_H

#include <math.h>
#include <tern/activation.h>
#include <tern/scope.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// `tern_batch_norm(x, .weight = weight, .bias = bias, .training = true)`.
typedef struct tern_batch_norm_options {
    tern_tensor *weight;              ///< (C), or NULL: all 1
    tern_tensor *bias;                ///< (C), or NULL: all 0
    tern_tensor *running_mean;        ///< (C), contiguous, with running_var; or NULL
    tern_tensor *running_var;         ///< (C), likewise
    tern_tensor *num_batches_tracked; ///< () int64, or NULL: grows by 1 in training
    bool training;                    ///< by the statistics of x, else by the running ones
    double momentum; ///< weight of x in the running statistics; NAN: 1 / num_batches_tracked
    double eps;      ///< 0 or more
    tern_activation activation; ///< in the same pass: none or TERN_ACT_RELU
    char reserved_;
    tern_tensor *x; ///< (N, C, ..)
} tern_batch_norm_options;

#define TERN_BATCH_NORM_DEFAULTS_                                                                  \
    .weight = NULL, .bias = NULL, .running_mean = NULL, .running_var = NULL,                       \
    .num_batches_tracked = NULL, .training = false, .momentum = 0.1, .eps = 1e-5,                  \
    .activation = TERN_ACT_NONE
#define TERN_BATCH_NORM_FIELDS_ 1, 0, (x), (tensor)
TERN_API tern_batch_norm_options tern_batch_norm_defaults(void);
/// Of each channel over all samples (Ioffe and Szegedy 2015). In training the running statistics
/// become (1 - momentum) running + momentum * those of x, the variance unbiased, without history;
/// an empty x and a call that fails leave them as they are. Training with one value a channel is
/// TERN_ERR_SHAPE, another activation than those two TERN_ERR_ARG.
TERN_API tern_tensor *tern_batch_norm_with(const tern_batch_norm_options *options);
#define tern_batch_norm(...)                                                                       \
    TERN_WITH_(tern_batch_norm, tern_batch_norm, TERN_BATCH_NORM, __VA_ARGS__)

/// `tern_instance_norm(x, .weight = weight)`.
typedef struct tern_instance_norm_options {
    tern_tensor *weight;       ///< (C), or NULL: all 1
    tern_tensor *bias;         ///< (C), or NULL: all 0
    tern_tensor *running_mean; ///< (C), contiguous, with running_var; or NULL
    tern_tensor *running_var;  ///< (C), likewise
    bool use_input_stats;      ///< by the statistics of x, else by the running ones
    double momentum;           ///< weight of x in the running statistics
    double eps;                ///< 0 or more
    char reserved_;
    tern_tensor *x; ///< (N, C, L, ..)
} tern_instance_norm_options;

#define TERN_INSTANCE_NORM_DEFAULTS_                                                               \
    .weight = NULL, .bias = NULL, .running_mean = NULL, .running_var = NULL,                       \
    .use_input_stats = true, .momentum = 0.1, .eps = 1e-5
#define TERN_INSTANCE_NORM_FIELDS_ 1, 0, (x), (tensor)
TERN_API tern_instance_norm_options tern_instance_norm_defaults(void);
/// Of each channel of each sample (Ulyanov et al. 2016). With use_input_stats, running statistics
/// follow the mean over the samples, as in tern_batch_norm, and one element a channel is
/// TERN_ERR_SHAPE.
TERN_API tern_tensor *tern_instance_norm_with(const tern_instance_norm_options *options);
#define tern_instance_norm(...)                                                                    \
    TERN_WITH_(tern_instance_norm, tern_instance_norm, TERN_INSTANCE_NORM, __VA_ARGS__)

/// `tern_group_norm(x, 8, .weight = weight, .bias = bias)`.
typedef struct tern_group_norm_options {
    tern_tensor *weight; ///< (C), or NULL: all 1
    tern_tensor *bias;   ///< (C), or NULL: all 0
    double eps;          ///< 0 or more
    char reserved_;
    tern_tensor *x;     ///< (N, C, ..)
    int64_t num_groups; ///< > 0, divides C
} tern_group_norm_options;

#define TERN_GROUP_NORM_DEFAULTS_ .weight = NULL, .bias = NULL, .eps = 1e-5
#define TERN_GROUP_NORM_FIELDS_   2, 0, (x, num_groups), (tensor, int64)
TERN_API tern_group_norm_options tern_group_norm_defaults(void);
/// Of groups of adjacent channels of each sample (Wu and He 2018). An x of 0 channels is
/// TERN_ERR_SHAPE, as is one sample with one element a group.
TERN_API tern_tensor *tern_group_norm_with(const tern_group_norm_options *options);
#define tern_group_norm(...)                                                                       \
    TERN_WITH_(tern_group_norm, tern_group_norm, TERN_GROUP_NORM, __VA_ARGS__)

/// `tern_layer_norm(x, tern_dims(512), .weight = weight, .bias = bias)`.
typedef struct tern_layer_norm_options {
    tern_tensor *weight; ///< of normalized_shape, or NULL: all 1
    tern_tensor *bias;   ///< of normalized_shape, or NULL: all 0
    double eps;          ///< 0 or more
    char reserved_;
    tern_tensor *x;              ///< ends in normalized_shape
    tern_shape normalized_shape; ///< at least one size
} tern_layer_norm_options;

#define TERN_LAYER_NORM_DEFAULTS_ .weight = NULL, .bias = NULL, .eps = 1e-5
#define TERN_LAYER_NORM_FIELDS_   2, 0, (x, normalized_shape), (tensor, shape)
TERN_API tern_layer_norm_options tern_layer_norm_defaults(void);
/// Over the last dimensions, which are normalized_shape (Ba et al. 2016).
TERN_API tern_tensor *tern_layer_norm_with(const tern_layer_norm_options *options);
#define tern_layer_norm(...)                                                                       \
    TERN_WITH_(tern_layer_norm, tern_layer_norm, TERN_LAYER_NORM, __VA_ARGS__)

/// `tern_rms_norm(x, tern_dims(512), .weight = weight)`.
typedef struct tern_rms_norm_options {
    tern_tensor *weight; ///< of normalized_shape, or NULL: all 1
    double eps;          ///< 0 or more; NAN: 2^-23, for float64 2^-52
    char reserved_;
    tern_tensor *x;              ///< ends in normalized_shape
    tern_shape normalized_shape; ///< at least one size
} tern_rms_norm_options;

#define TERN_RMS_NORM_DEFAULTS_ .weight = NULL, .eps = NAN
#define TERN_RMS_NORM_FIELDS_   2, 0, (x, normalized_shape), (tensor, shape)
TERN_API tern_rms_norm_options tern_rms_norm_defaults(void);
/// x / sqrt(mean of x^2 + eps) * weight over the last dimensions, which are normalized_shape (Zhang
/// and Sennrich 2019).
TERN_API tern_tensor *tern_rms_norm_with(const tern_rms_norm_options *options);
#define tern_rms_norm(...) TERN_WITH_(tern_rms_norm, tern_rms_norm, TERN_RMS_NORM, __VA_ARGS__)

TERN_END_DECLS

#endif
