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
typedef tern_interpolate_options tern_nn_upsample_options;

#define TERN_NN_UPSAMPLE_DEFAULTS_ TERN_INTERPOLATE_DEFAULTS_
#define TERN_NN_UPSAMPLE_FIELDS_   0, 0, (), ()
TERN_API tern_nn_upsample_options tern_nn_upsample_defaults(void);
/// tern_interpolate of its input. An x among the options is TERN_ERR_ARG.
TERN_API tern_module *tern_nn_upsample_with(const tern_nn_upsample_options *options);
#define tern_nn_upsample(...)                                                                      \
    TERN_WITH_(tern_nn_upsample, tern_nn_upsample, TERN_NN_UPSAMPLE, __VA_ARGS__)

TERN_END_DECLS

#endif
