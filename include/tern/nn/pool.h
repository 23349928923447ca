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
#include <tern/pair.h>

TERN_BEGIN_DECLS

/// `tern_nn_max_pool1d(3, .stride = 2)`.
typedef struct tern_nn_max_pool1d_options {
    int64_t stride;      ///< the kernel
    int64_t padding;     ///< 0; at most half the kernel
    int64_t dilation;    ///< 1
    bool ceil_mode;      ///< a last window that x does not fill counts
    bool return_indices; ///< a second output: int64 indices
    char reserved_;
    int64_t kernel; ///< elements of a window
} tern_nn_max_pool1d_options;

#define TERN_NN_MAX_POOL1D_DEFAULTS_                                                               \
    .stride = TERN_SAME_AS_KERNEL, .padding = 0, .dilation = 1, .ceil_mode = false,                \
    .return_indices = false
#define TERN_NN_MAX_POOL1D_FIELDS_ 1, 0, (kernel), (int64)
TERN_API tern_nn_max_pool1d_options tern_nn_max_pool1d_defaults(void);
/// The largest of each window: tern_max_pool1d.
TERN_API tern_module *tern_nn_max_pool1d_with(const tern_nn_max_pool1d_options *options);
#define tern_nn_max_pool1d(...)                                                                    \
    TERN_WITH_(tern_nn_max_pool1d, tern_nn_max_pool1d, TERN_NN_MAX_POOL1D, __VA_ARGS__)

/// `tern_nn_max_pool2d(2)`, `tern_nn_max_pool2d(.kernel_size = {3, 2})`.
typedef struct tern_nn_max_pool2d_options {
    tern_pair stride;      ///< the kernel
    tern_pair padding;     ///< 0; at most half the kernel
    tern_pair dilation;    ///< 1
    bool ceil_mode;        ///< a last window that x does not fill counts
    bool return_indices;   ///< a second output: int64 indices
    tern_pair kernel_size; ///< instead of `kernel`
    char reserved_;
    int64_t kernel; ///< elements of a window along each dimension
} tern_nn_max_pool2d_options;

#define TERN_NN_MAX_POOL2D_DEFAULTS_                                                               \
    .stride = {TERN_SAME_AS_KERNEL, TERN_SAME_AS_FIRST}, .padding = {0, TERN_SAME_AS_FIRST},       \
    .dilation = {1, TERN_SAME_AS_FIRST}, .ceil_mode = false, .return_indices = false,              \
    .kernel_size = {0, TERN_SAME_AS_FIRST}, .kernel = 0
#define TERN_NN_MAX_POOL2D_FIELDS_ 0, 1, (kernel), ()
TERN_API tern_nn_max_pool2d_options tern_nn_max_pool2d_defaults(void);
/// The largest of each window: tern_max_pool2d.
TERN_API tern_module *tern_nn_max_pool2d_with(const tern_nn_max_pool2d_options *options);
#define tern_nn_max_pool2d(...)                                                                    \
    TERN_WITH_(tern_nn_max_pool2d, tern_nn_max_pool2d, TERN_NN_MAX_POOL2D, __VA_ARGS__)

/// `tern_nn_max_pool3d(2)`.
typedef struct tern_nn_max_pool3d_options {
    tern_triple stride;      ///< the kernel
    tern_triple padding;     ///< 0; at most half the kernel
    tern_triple dilation;    ///< 1
    bool ceil_mode;          ///< a last window that x does not fill counts
    bool return_indices;     ///< a second output: int64 indices
    tern_triple kernel_size; ///< instead of `kernel`
    char reserved_;
    int64_t kernel; ///< elements of a window along each dimension
} tern_nn_max_pool3d_options;

#define TERN_NN_MAX_POOL3D_DEFAULTS_                                                               \
    .stride = {TERN_SAME_AS_KERNEL, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST},                       \
    .padding = {0, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST},                                        \
    .dilation = {1, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST}, .ceil_mode = false,                   \
    .return_indices = false, .kernel_size = {0, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST},           \
    .kernel = 0
#define TERN_NN_MAX_POOL3D_FIELDS_ 0, 1, (kernel), ()
TERN_API tern_nn_max_pool3d_options tern_nn_max_pool3d_defaults(void);
/// The largest of each window: tern_max_pool3d.
TERN_API tern_module *tern_nn_max_pool3d_with(const tern_nn_max_pool3d_options *options);
#define tern_nn_max_pool3d(...)                                                                    \
    TERN_WITH_(tern_nn_max_pool3d, tern_nn_max_pool3d, TERN_NN_MAX_POOL3D, __VA_ARGS__)

/// `tern_nn_avg_pool1d(3, .stride = 2)`.
typedef struct tern_nn_avg_pool1d_options {
    int64_t stride;         ///< the kernel
    int64_t padding;        ///< 0; at most half the kernel
    bool ceil_mode;         ///< a last window that x does not fill counts
    bool count_include_pad; ///< true
    char reserved_;
    int64_t kernel; ///< elements of a window
} tern_nn_avg_pool1d_options;

#define TERN_NN_AVG_POOL1D_DEFAULTS_                                                               \
    .stride = TERN_SAME_AS_KERNEL, .padding = 0, .ceil_mode = false, .count_include_pad = true
#define TERN_NN_AVG_POOL1D_FIELDS_ 1, 0, (kernel), (int64)
TERN_API tern_nn_avg_pool1d_options tern_nn_avg_pool1d_defaults(void);
/// The mean of each window: tern_avg_pool1d.
TERN_API tern_module *tern_nn_avg_pool1d_with(const tern_nn_avg_pool1d_options *options);
#define tern_nn_avg_pool1d(...)                                                                    \
    TERN_WITH_(tern_nn_avg_pool1d, tern_nn_avg_pool1d, TERN_NN_AVG_POOL1D, __VA_ARGS__)

/// `tern_nn_avg_pool2d(2)`, `tern_nn_avg_pool2d(.kernel_size = {3, 2})`.
typedef struct tern_nn_avg_pool2d_options {
    tern_pair stride;         ///< the kernel
    tern_pair padding;        ///< 0; at most half the kernel
    bool ceil_mode;           ///< a last window that x does not fill counts
    bool count_include_pad;   ///< true
    int64_t divisor_override; ///< what sums are divided by; 0: the elements
    tern_pair kernel_size;    ///< instead of `kernel`
    char reserved_;
    int64_t kernel; ///< elements of a window along each dimension
} tern_nn_avg_pool2d_options;

#define TERN_NN_AVG_POOL2D_DEFAULTS_                                                               \
    .stride = {TERN_SAME_AS_KERNEL, TERN_SAME_AS_FIRST}, .padding = {0, TERN_SAME_AS_FIRST},       \
    .ceil_mode = false, .count_include_pad = true, .divisor_override = 0,                          \
    .kernel_size = {0, TERN_SAME_AS_FIRST}, .kernel = 0
#define TERN_NN_AVG_POOL2D_FIELDS_ 0, 1, (kernel), ()
TERN_API tern_nn_avg_pool2d_options tern_nn_avg_pool2d_defaults(void);
/// The mean of each window: tern_avg_pool2d.
TERN_API tern_module *tern_nn_avg_pool2d_with(const tern_nn_avg_pool2d_options *options);
#define tern_nn_avg_pool2d(...)                                                                    \
    TERN_WITH_(tern_nn_avg_pool2d, tern_nn_avg_pool2d, TERN_NN_AVG_POOL2D, __VA_ARGS__)

/// `tern_nn_avg_pool3d(2)`.
typedef struct tern_nn_avg_pool3d_options {
    tern_triple stride;       ///< the kernel
    tern_triple padding;      ///< 0; at most half the kernel
    bool ceil_mode;           ///< a last window that x does not fill counts
    bool count_include_pad;   ///< true
    int64_t divisor_override; ///< what sums are divided by; 0: the elements
    tern_triple kernel_size;  ///< instead of `kernel`
    char reserved_;
    int64_t kernel; ///< elements of a window along each dimension
} tern_nn_avg_pool3d_options;

#define TERN_NN_AVG_POOL3D_DEFAULTS_                                                               \
    .stride = {TERN_SAME_AS_KERNEL, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST},                       \
    .padding = {0, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST}, .ceil_mode = false,                    \
    .count_include_pad = true, .divisor_override = 0,                                              \
    .kernel_size = {0, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST}, .kernel = 0
#define TERN_NN_AVG_POOL3D_FIELDS_ 0, 1, (kernel), ()
TERN_API tern_nn_avg_pool3d_options tern_nn_avg_pool3d_defaults(void);
/// The mean of each window: tern_avg_pool3d.
TERN_API tern_module *tern_nn_avg_pool3d_with(const tern_nn_avg_pool3d_options *options);
#define tern_nn_avg_pool3d(...)                                                                    \
    TERN_WITH_(tern_nn_avg_pool3d, tern_nn_avg_pool3d, TERN_NN_AVG_POOL3D, __VA_ARGS__)

/// `tern_nn_adaptive_avg_pool1d(8)`.
typedef struct tern_nn_adaptive_avg_pool1d_options {
    char reserved_;
    int64_t out; ///< outputs along the dimension, or TERN_KEEP_SIZE
} tern_nn_adaptive_avg_pool1d_options;

#define TERN_NN_ADAPTIVE_AVG_POOL1D_DEFAULTS_ .reserved_ = 0
#define TERN_NN_ADAPTIVE_AVG_POOL1D_FIELDS_   1, 0, (out), (int64)
TERN_API tern_nn_adaptive_avg_pool1d_options tern_nn_adaptive_avg_pool1d_defaults(void);
/// The mean of each of so many windows: tern_adaptive_avg_pool1d.
TERN_API tern_module *tern_nn_adaptive_avg_pool1d_with(
    const tern_nn_adaptive_avg_pool1d_options *options);
#define tern_nn_adaptive_avg_pool1d(...)                                                           \
    TERN_WITH_(tern_nn_adaptive_avg_pool1d, tern_nn_adaptive_avg_pool1d,                           \
               TERN_NN_ADAPTIVE_AVG_POOL1D, __VA_ARGS__)

/// `tern_nn_adaptive_avg_pool2d(1)`, or `tern_nn_adaptive_avg_pool2d(.size = {7, TERN_KEEP_SIZE})`.
typedef struct tern_nn_adaptive_avg_pool2d_options {
    tern_pair size; ///< instead of `out`
    char reserved_;
    int64_t out; ///< outputs along each dimension, or TERN_KEEP_SIZE
} tern_nn_adaptive_avg_pool2d_options;

#define TERN_NN_ADAPTIVE_AVG_POOL2D_DEFAULTS_                                                      \
    .size = {TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST}, .out = TERN_SAME_AS_FIRST
#define TERN_NN_ADAPTIVE_AVG_POOL2D_FIELDS_ 0, 1, (out), ()
TERN_API tern_nn_adaptive_avg_pool2d_options tern_nn_adaptive_avg_pool2d_defaults(void);
/// The mean of each of so many windows: tern_adaptive_avg_pool2d.
TERN_API tern_module *tern_nn_adaptive_avg_pool2d_with(
    const tern_nn_adaptive_avg_pool2d_options *options);
#define tern_nn_adaptive_avg_pool2d(...)                                                           \
    TERN_WITH_(tern_nn_adaptive_avg_pool2d, tern_nn_adaptive_avg_pool2d,                           \
               TERN_NN_ADAPTIVE_AVG_POOL2D, __VA_ARGS__)

/// `tern_nn_adaptive_max_pool1d(8)`.
typedef struct tern_nn_adaptive_max_pool1d_options {
    bool return_indices; ///< a second output: int64 indices
    char reserved_;
    int64_t out; ///< outputs along the dimension, or TERN_KEEP_SIZE
} tern_nn_adaptive_max_pool1d_options;

#define TERN_NN_ADAPTIVE_MAX_POOL1D_DEFAULTS_ .return_indices = false
#define TERN_NN_ADAPTIVE_MAX_POOL1D_FIELDS_   1, 0, (out), (int64)
TERN_API tern_nn_adaptive_max_pool1d_options tern_nn_adaptive_max_pool1d_defaults(void);
/// The largest of each of so many windows: tern_adaptive_max_pool1d.
TERN_API tern_module *tern_nn_adaptive_max_pool1d_with(
    const tern_nn_adaptive_max_pool1d_options *options);
#define tern_nn_adaptive_max_pool1d(...)                                                           \
    TERN_WITH_(tern_nn_adaptive_max_pool1d, tern_nn_adaptive_max_pool1d,                           \
               TERN_NN_ADAPTIVE_MAX_POOL1D, __VA_ARGS__)

/// `tern_nn_adaptive_max_pool2d(1)`, or `tern_nn_adaptive_max_pool2d(.size = {7, TERN_KEEP_SIZE})`.
typedef struct tern_nn_adaptive_max_pool2d_options {
    bool return_indices; ///< a second output: int64 indices
    tern_pair size;      ///< instead of `out`
    char reserved_;
    int64_t out; ///< outputs along each dimension, or TERN_KEEP_SIZE
} tern_nn_adaptive_max_pool2d_options;

#define TERN_NN_ADAPTIVE_MAX_POOL2D_DEFAULTS_                                                      \
    .return_indices = false, .size = {TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST},                     \
    .out = TERN_SAME_AS_FIRST
#define TERN_NN_ADAPTIVE_MAX_POOL2D_FIELDS_ 0, 1, (out), ()
TERN_API tern_nn_adaptive_max_pool2d_options tern_nn_adaptive_max_pool2d_defaults(void);
/// The largest of each of so many windows: tern_adaptive_max_pool2d.
TERN_API tern_module *tern_nn_adaptive_max_pool2d_with(
    const tern_nn_adaptive_max_pool2d_options *options);
#define tern_nn_adaptive_max_pool2d(...)                                                           \
    TERN_WITH_(tern_nn_adaptive_max_pool2d, tern_nn_adaptive_max_pool2d,                           \
               TERN_NN_ADAPTIVE_MAX_POOL2D, __VA_ARGS__)

/// `tern_nn_local_response_norm(5)`.
typedef struct tern_nn_local_response_norm_options {
    double alpha; ///< 1e-4
    double beta;  ///< 0.75
    double k;     ///< 1
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
