// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pooling: the largest or the mean of windows; gradients flow through.
///
///     tern_tensor *y = tern_max_pool2d(x, 3, .stride = 2, .padding = 1);
///
/// x is (N, C, W), (N, C, H, W) or (N, C, D, H, W), or the same without N; floating. Along a
/// dimension of size i a window of `kernel` elements begins every `stride` elements, with `padding`
/// of them before and after x, so that there are (i + 2 padding - dilation (kernel - 1) - 1) /
/// stride + 1 windows, rounded down; with .ceil_mode up, as long as the last begins before the
/// padding behind x. Else TERN_ERR_SHAPE. Each returns a temporary of the innermost scope, or NULL
/// with a pending error. Threads: any, each tensor used by one at a time.
#ifndef TERN_OPS_POOL_H
#define TERN_OPS_POOL_H

#include <tern/sizes.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// The stride of a pooling whose windows lie side by side: the kernel.
#define TERN_SAME_AS_KERNEL INT64_MIN
/// A size of an adaptive pooling that is that of x.
#define TERN_KEEP_SIZE INT64_MIN

// ---- the largest

/// `tern_max_pool2d(x, 3, .stride = 2)`, `tern_max_pool2d(x, .kernel_size = {3, 2})`.
typedef struct tern_max_pool_options {
    tern_sizes stride;      ///< from window to window
    tern_sizes padding;     ///< at most half the kernel
    tern_sizes dilation;    ///< between the elements of a window
    bool ceil_mode;         ///< a last window that x does not fill counts
    tern_tensor **indices;  ///< NULL, or where they are put
    tern_sizes kernel_size; ///< instead of `kernel`
    char reserved_;
    tern_tensor *x; ///< floating
    int64_t kernel; ///< elements of a window along each dimension
} tern_max_pool_options;
#define TERN_MAX_POOL_DEFAULTS_                                                                    \
    .stride = TERN_EACH_(TERN_SAME_AS_KERNEL), .padding = TERN_EACH_(0),                           \
    .dilation = TERN_EACH_(1), .ceil_mode = false, .indices = NULL, .kernel_size = TERN_EACH_(0)
#define TERN_MAX_POOL_FIELDS_ 1, 1, (x, kernel), (tensor)
TERN_API tern_max_pool_options tern_max_pool_defaults(void);
/// The largest of each window; the first of equal ones, and a NaN where there is one. `*indices`:
/// int64, where it is along the last dimension of x, without the padding. Padding is never the
/// largest. The gradient goes there. At least one element of x must be in each window.
TERN_API tern_tensor *tern_max_pool1d_with(const tern_max_pool_options *options);
/// As tern_max_pool1d over the last two dimensions; indices count through all of them, row-major.
TERN_API tern_tensor *tern_max_pool2d_with(const tern_max_pool_options *options);
/// As tern_max_pool1d over the last three dimensions; indices count through all of them, row-major.
TERN_API tern_tensor *tern_max_pool3d_with(const tern_max_pool_options *options);
#define tern_max_pool1d(...) TERN_WITH_(tern_max_pool1d, tern_max_pool, TERN_MAX_POOL, __VA_ARGS__)
#define tern_max_pool2d(...) TERN_WITH_(tern_max_pool2d, tern_max_pool, TERN_MAX_POOL, __VA_ARGS__)
#define tern_max_pool3d(...) TERN_WITH_(tern_max_pool3d, tern_max_pool, TERN_MAX_POOL, __VA_ARGS__)

// ---- the mean

/// `tern_avg_pool2d(x, 3, .stride = 2)`, `tern_avg_pool2d(x, .kernel_size = {3, 2})`.
typedef struct tern_avg_pool_options {
    tern_sizes stride;        ///< from window to window
    tern_sizes padding;       ///< at most half the kernel
    bool ceil_mode;           ///< a last window that x does not fill counts
    bool count_include_pad;   ///< the mean is also over the padding
    int64_t divisor_override; ///< what sums are divided by; 0: the elements; not of one dimension
    tern_sizes kernel_size;   ///< instead of `kernel`
    char reserved_;
    tern_tensor *x; ///< floating
    int64_t kernel; ///< elements of a window along each dimension
} tern_avg_pool_options;
#define TERN_AVG_POOL_DEFAULTS_                                                                    \
    .stride = TERN_EACH_(TERN_SAME_AS_KERNEL), .padding = TERN_EACH_(0), .ceil_mode = false,       \
    .count_include_pad = true, .divisor_override = 0, .kernel_size = TERN_EACH_(0)
#define TERN_AVG_POOL_FIELDS_ 1, 1, (x, kernel), (tensor)
TERN_API tern_avg_pool_options tern_avg_pool_defaults(void);
/// The mean of each window: over its elements and the padding within `padding` of x, or without
/// .count_include_pad over its elements of x alone.
TERN_API tern_tensor *tern_avg_pool1d_with(const tern_avg_pool_options *options);
/// As tern_avg_pool1d over the last two dimensions.
TERN_API tern_tensor *tern_avg_pool2d_with(const tern_avg_pool_options *options);
/// As tern_avg_pool1d over the last three dimensions.
TERN_API tern_tensor *tern_avg_pool3d_with(const tern_avg_pool_options *options);
#define tern_avg_pool1d(...) TERN_WITH_(tern_avg_pool1d, tern_avg_pool, TERN_AVG_POOL, __VA_ARGS__)
#define tern_avg_pool2d(...) TERN_WITH_(tern_avg_pool2d, tern_avg_pool, TERN_AVG_POOL, __VA_ARGS__)
#define tern_avg_pool3d(...) TERN_WITH_(tern_avg_pool3d, tern_avg_pool, TERN_AVG_POOL, __VA_ARGS__)

// ---- windows for a number of outputs

/// `tern_adaptive_avg_pool2d(x, 1)`, `tern_adaptive_avg_pool2d(x, .size = {7, TERN_KEEP_SIZE})`.
typedef struct tern_adaptive_pool_options {
    tern_tensor **indices; ///< of the largest: NULL, or where they are put
    tern_sizes size;       ///< instead of `out`
    char reserved_;
    tern_tensor *x; ///< floating
    int64_t out;    ///< outputs along each dimension, 0 or more, or TERN_KEEP_SIZE
} tern_adaptive_pool_options;
#define TERN_ADAPTIVE_POOL_DEFAULTS_                                                               \
    .indices = NULL, .size = TERN_EACH_(TERN_SAME_AS_FIRST), .out = TERN_SAME_AS_FIRST
#define TERN_ADAPTIVE_POOL_FIELDS_ 1, 1, (x, out), (tensor)
TERN_API tern_adaptive_pool_options tern_adaptive_pool_defaults(void);
/// The means of `out` windows: of i elements window o has those from floor(o i / out) up to,
/// without it, ceil((o + 1) i / out).
TERN_API tern_tensor *tern_adaptive_avg_pool1d_with(const tern_adaptive_pool_options *options);
/// As tern_adaptive_avg_pool1d over the last two dimensions.
TERN_API tern_tensor *tern_adaptive_avg_pool2d_with(const tern_adaptive_pool_options *options);
#define tern_adaptive_avg_pool1d(...)                                                              \
    TERN_WITH_(tern_adaptive_avg_pool1d, tern_adaptive_pool, TERN_ADAPTIVE_POOL, __VA_ARGS__)
#define tern_adaptive_avg_pool2d(...)                                                              \
    TERN_WITH_(tern_adaptive_avg_pool2d, tern_adaptive_pool, TERN_ADAPTIVE_POOL, __VA_ARGS__)
/// The largest of the windows of tern_adaptive_avg_pool1d; indices as in tern_max_pool1d.
TERN_API tern_tensor *tern_adaptive_max_pool1d_with(const tern_adaptive_pool_options *options);
/// As tern_adaptive_max_pool1d over the last two dimensions; indices as in tern_max_pool2d.
TERN_API tern_tensor *tern_adaptive_max_pool2d_with(const tern_adaptive_pool_options *options);
#define tern_adaptive_max_pool1d(...)                                                              \
    TERN_WITH_(tern_adaptive_max_pool1d, tern_adaptive_pool, TERN_ADAPTIVE_POOL, __VA_ARGS__)
#define tern_adaptive_max_pool2d(...)                                                              \
    TERN_WITH_(tern_adaptive_max_pool2d, tern_adaptive_pool, TERN_ADAPTIVE_POOL, __VA_ARGS__)

// ---- neighbouring channels ----------------------------------------------------------------------

/// x / (k + alpha / size * s)^beta, s being the sum of the squares of `size` channels, from
/// size / 2 before on, those outside x being 0 (Krizhevsky et al. 2012). x (N, C, ..) with three
/// dimensions or more, floating.
TERN_API TERN_NODISCARD tern_tensor *tern_local_response_norm(tern_tensor *x, int64_t size,
                                                              double alpha, double beta, double k);

TERN_END_DECLS

#endif
