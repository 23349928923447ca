// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pooling layers; what they compute is in ops/pool.h.
///
///     tern_nn_sequential(tern_nn_max_pool2d(3, .stride = 2, .padding = 1),
///                        tern_nn_adaptive_avg_pool2d(1))
///
/// Constructors make modules that the caller frees or hands to a container, NULL on failure, on any
/// thread: nn.h.
#ifndef TERN_NN_POOL_H
#define TERN_NN_POOL_H

#include <tern/module.h>
#include <tern/ops/pool.h>
#include <tern/sizes.h>

TERN_BEGIN_DECLS

/// `tern_nn_max_pool2d(3, .stride = 2)`, `tern_nn_max_pool2d(.kernel_size = {3, 2})`.
typedef struct tern_nn_max_pool_options {
    tern_sizes stride;      ///< from window to window
    tern_sizes padding;     ///< at most half the kernel
    tern_sizes dilation;    ///< between the elements of a window
    bool ceil_mode;         ///< a last window that x does not fill counts
    bool return_indices;    ///< a second output: int64 indices
    tern_sizes kernel_size; ///< instead of `kernel`
    char reserved_;
    int64_t kernel; ///< elements of a window along each dimension
} tern_nn_max_pool_options;
#define TERN_NN_MAX_POOL_DEFAULTS_                                                                 \
    .stride = TERN_EACH_(TERN_SAME_AS_KERNEL), .padding = TERN_EACH_(0),                           \
    .dilation = TERN_EACH_(1), .ceil_mode = false, .return_indices = false,                        \
    .kernel_size = TERN_EACH_(0), .kernel = 0
#define TERN_NN_MAX_POOL_FIELDS_ 0, 1, (kernel), ()
TERN_API tern_nn_max_pool_options tern_nn_max_pool_defaults(void);
/// The largest of each window: tern_max_pool1d.
TERN_API tern_module *tern_nn_max_pool1d_with(const tern_nn_max_pool_options *options);
/// The largest of each window: tern_max_pool2d.
TERN_API tern_module *tern_nn_max_pool2d_with(const tern_nn_max_pool_options *options);
/// The largest of each window: tern_max_pool3d.
TERN_API tern_module *tern_nn_max_pool3d_with(const tern_nn_max_pool_options *options);
#define tern_nn_max_pool1d(...)                                                                    \
    TERN_WITH_(tern_nn_max_pool1d, tern_nn_max_pool, TERN_NN_MAX_POOL, __VA_ARGS__)
#define tern_nn_max_pool2d(...)                                                                    \
    TERN_WITH_(tern_nn_max_pool2d, tern_nn_max_pool, TERN_NN_MAX_POOL, __VA_ARGS__)
#define tern_nn_max_pool3d(...)                                                                    \
    TERN_WITH_(tern_nn_max_pool3d, tern_nn_max_pool, TERN_NN_MAX_POOL, __VA_ARGS__)

/// `tern_nn_avg_pool2d(3, .stride = 2)`, `tern_nn_avg_pool2d(.kernel_size = {3, 2})`.
typedef struct tern_nn_avg_pool_options {
    tern_sizes stride;        ///< from window to window
    tern_sizes padding;       ///< at most half the kernel
    bool ceil_mode;           ///< a last window that x does not fill counts
    bool count_include_pad;   ///< the mean is also over the padding
    int64_t divisor_override; ///< what sums are divided by; 0: the elements; not of one dimension
    tern_sizes kernel_size;   ///< instead of `kernel`
    char reserved_;
    int64_t kernel; ///< elements of a window along each dimension
} tern_nn_avg_pool_options;
#define TERN_NN_AVG_POOL_DEFAULTS_ TERN_AVG_POOL_DEFAULTS_, .kernel = 0
#define TERN_NN_AVG_POOL_FIELDS_   0, 1, (kernel), ()
TERN_API tern_nn_avg_pool_options tern_nn_avg_pool_defaults(void);
/// The mean of each window: tern_avg_pool1d.
TERN_API tern_module *tern_nn_avg_pool1d_with(const tern_nn_avg_pool_options *options);
/// The mean of each window: tern_avg_pool2d.
TERN_API tern_module *tern_nn_avg_pool2d_with(const tern_nn_avg_pool_options *options);
/// The mean of each window: tern_avg_pool3d.
TERN_API tern_module *tern_nn_avg_pool3d_with(const tern_nn_avg_pool_options *options);
#define tern_nn_avg_pool1d(...)                                                                    \
    TERN_WITH_(tern_nn_avg_pool1d, tern_nn_avg_pool, TERN_NN_AVG_POOL, __VA_ARGS__)
#define tern_nn_avg_pool2d(...)                                                                    \
    TERN_WITH_(tern_nn_avg_pool2d, tern_nn_avg_pool, TERN_NN_AVG_POOL, __VA_ARGS__)
#define tern_nn_avg_pool3d(...)                                                                    \
    TERN_WITH_(tern_nn_avg_pool3d, tern_nn_avg_pool, TERN_NN_AVG_POOL, __VA_ARGS__)

/// `tern_nn_adaptive_avg_pool2d(1)`, `tern_nn_adaptive_avg_pool2d(.size = {7, TERN_KEEP_SIZE})`.
typedef struct tern_nn_adaptive_pool_options {
    bool return_indices; ///< of the largest: a second output, int64 indices
    tern_sizes size;     ///< instead of `out`
    char reserved_;
    int64_t out; ///< outputs along each dimension, or TERN_KEEP_SIZE
} tern_nn_adaptive_pool_options;
#define TERN_NN_ADAPTIVE_POOL_DEFAULTS_                                                            \
    .return_indices = false, .size = TERN_EACH_(TERN_SAME_AS_FIRST), .out = TERN_SAME_AS_FIRST
#define TERN_NN_ADAPTIVE_POOL_FIELDS_ 0, 1, (out), ()
TERN_API tern_nn_adaptive_pool_options tern_nn_adaptive_pool_defaults(void);
/// The mean of each of so many windows: tern_adaptive_avg_pool1d.
TERN_API tern_module *tern_nn_adaptive_avg_pool1d_with(
    const tern_nn_adaptive_pool_options *options);
/// The mean of each of so many windows: tern_adaptive_avg_pool2d.
TERN_API tern_module *tern_nn_adaptive_avg_pool2d_with(
    const tern_nn_adaptive_pool_options *options);
#define tern_nn_adaptive_avg_pool1d(...)                                                           \
    TERN_WITH_(tern_nn_adaptive_avg_pool1d, tern_nn_adaptive_pool, TERN_NN_ADAPTIVE_POOL,          \
               __VA_ARGS__)
#define tern_nn_adaptive_avg_pool2d(...)                                                           \
    TERN_WITH_(tern_nn_adaptive_avg_pool2d, tern_nn_adaptive_pool, TERN_NN_ADAPTIVE_POOL,          \
               __VA_ARGS__)
/// The largest of each of so many windows: tern_adaptive_max_pool1d.
TERN_API tern_module *tern_nn_adaptive_max_pool1d_with(
    const tern_nn_adaptive_pool_options *options);
/// The largest of each of so many windows: tern_adaptive_max_pool2d.
TERN_API tern_module *tern_nn_adaptive_max_pool2d_with(
    const tern_nn_adaptive_pool_options *options);
#define tern_nn_adaptive_max_pool1d(...)                                                           \
    TERN_WITH_(tern_nn_adaptive_max_pool1d, tern_nn_adaptive_pool, TERN_NN_ADAPTIVE_POOL,          \
               __VA_ARGS__)
#define tern_nn_adaptive_max_pool2d(...)                                                           \
    TERN_WITH_(tern_nn_adaptive_max_pool2d, tern_nn_adaptive_pool, TERN_NN_ADAPTIVE_POOL,          \
               __VA_ARGS__)

/// `tern_nn_local_response_norm(5)`.
typedef struct tern_nn_local_response_norm_options {
    double alpha; ///< of the mean of squares
    double beta;  ///< the exponent
    double k;     ///< added to it
    char reserved_;
    int64_t size; ///< channels
} tern_nn_local_response_norm_options;

#define TERN_NN_LOCAL_RESPONSE_NORM_DEFAULTS_ .alpha = 1e-4, .beta = 0.75, .k = 1
#define TERN_NN_LOCAL_RESPONSE_NORM_FIELDS_   1, 0, (size), (int64)
TERN_API tern_nn_local_response_norm_options tern_nn_local_response_norm_defaults(void);
/// Divides by the squares of neighbouring channels: tern_local_response_norm.
TERN_API tern_module *tern_nn_local_response_norm_with(
    const tern_nn_local_response_norm_options *options);
#define tern_nn_local_response_norm(...)                                                           \
    TERN_WITH_(tern_nn_local_response_norm, tern_nn_local_response_norm,                           \
               TERN_NN_LOCAL_RESPONSE_NORM, __VA_ARGS__)

TERN_END_DECLS

#endif
