// SPDX-License-Identifier: Apache-2.0
/// @file
/// Resizing images; what is computed is in ops/resize.h.
///
///     tern_module *up = tern_nn_upsample(.scale = 2, .mode = TERN_BILINEAR);
///
/// Constructors make modules that the caller frees or hands to a container, NULL on failure, on any
/// thread: nn.h.
#ifndef TERN_NN_RESIZE_H
#define TERN_NN_RESIZE_H

#include <tern/module.h>
#include <tern/ops/resize.h>

TERN_BEGIN_DECLS

/// `tern_nn_upsample(.size = tern_dims(64, 64))`, `tern_nn_upsample(.scale = {2, 1.5})`.
typedef struct tern_nn_upsample_options {
    tern_shape size;            ///< of the last dimensions; or a scale
    tern_scales scale;          ///< outputs per input
    tern_interpolate_mode mode; ///< how outputs are made
    bool align_corners;         ///< the corners of x stay where they are
    bool recompute_scale;       ///< the scale is out / in again
    char reserved_;
} tern_nn_upsample_options;

#define TERN_NN_UPSAMPLE_DEFAULTS_                                                                 \
    .size = {0}, .scale = {0}, .mode = TERN_NEAREST, .align_corners = false,                       \
    .recompute_scale = false
#define TERN_NN_UPSAMPLE_FIELDS_ 0, 0, (), ()
TERN_API tern_nn_upsample_options tern_nn_upsample_defaults(void);
/// tern_interpolate of its input.
TERN_API tern_module *tern_nn_upsample_with(const tern_nn_upsample_options *options);
#define tern_nn_upsample(...)                                                                      \
    TERN_WITH_(tern_nn_upsample, tern_nn_upsample, TERN_NN_UPSAMPLE, __VA_ARGS__)

TERN_END_DECLS

#endif
