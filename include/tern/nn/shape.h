// SPDX-License-Identifier: Apache-2.0
/// @file
/// Layers that change shapes, and the one that changes nothing.
///
/// Constructors make modules that the caller frees or hands to a container, NULL on failure, on any
/// thread: nn.h.
#ifndef TERN_NN_SHAPE_H
#define TERN_NN_SHAPE_H

#include <tern/module.h>

TERN_BEGIN_DECLS

/// `tern_nn_flatten()`, `tern_nn_flatten(0, 1)`.
typedef struct tern_nn_flatten_options {
    char reserved_;
    int start_dim; ///< the first that is joined
    int end_dim;   ///< the last
} tern_nn_flatten_options;

#define TERN_NN_FLATTEN_DEFAULTS_ .start_dim = 1, .end_dim = -1
#define TERN_NN_FLATTEN_FIELDS_   0, 2, (start_dim, end_dim), ()
TERN_API tern_nn_flatten_options tern_nn_flatten_defaults(void);
/// Joins dimensions start_dim ... end_dim, both included, into one: (N, C, H, W) -> (N, C H W)
/// unless said otherwise. A view where the strides allow.
TERN_API tern_module *tern_nn_flatten_with(const tern_nn_flatten_options *options);
#define tern_nn_flatten(...)                                                                       \
    TERN_WITH_(tern_nn_flatten, tern_nn_flatten, TERN_NN_FLATTEN, __VA_ARGS__)

/// Cuts dimension dim into `sizes`, of which one may be -1: `tern_nn_unflatten(1, tern_dims(8, 8))`
/// gives (N, 8, 8) of (N, 64). A view.
TERN_API tern_module *tern_nn_unflatten(int dim, tern_shape sizes);
/// (.., C r^2, H, W) -> (.., C, H r, W r), r = upscale_factor > 0: tern_pixel_shuffle.
TERN_API tern_module *tern_nn_pixel_shuffle(int64_t upscale_factor);
/// (.., C, H r, W r) -> (.., C r^2, H, W), r = downscale_factor > 0: tern_pixel_unshuffle.
TERN_API tern_module *tern_nn_pixel_unshuffle(int64_t downscale_factor);
/// Channels of (N, C, ..), seen as (groups, C / groups), transposed: tern_channel_shuffle.
TERN_API tern_module *tern_nn_channel_shuffle(int64_t groups);

/// Hands its input on as it is.
TERN_API tern_module *tern_nn_identity(void);

TERN_END_DECLS

#endif
