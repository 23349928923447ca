// SPDX-License-Identifier: Apache-2.0
/// @file
/// Elements in other places: pixels into channels and back.
///
///     tern_tensor *y = tern_pixel_shuffle(x, 2); // (N, 4 C, H, W) -> (N, C, 2 H, 2 W)
///
/// Each returns a new temporary of the innermost scope, of x's dtype, or NULL with a pending error:
/// TERN_ERR_ARG for a factor that is not positive, TERN_ERR_SHAPE where sizes cannot be divided.
/// Threads: any, each tensor used by one at a time.
#ifndef TERN_OPS_SHUFFLE_H
#define TERN_OPS_SHUFFLE_H

#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// (.., C r^2, H, W) -> (.., C, H r, W r), r = upscale_factor: channel c r^2 + i r + j of pixel
/// (h, w) becomes pixel (h r + i, w r + j) of channel c (Shi et al. 2016).
TERN_API TERN_NODISCARD tern_tensor *tern_pixel_shuffle(tern_tensor *x, int64_t upscale_factor);
/// (.., C, H r, W r) -> (.., C r^2, H, W), r = downscale_factor: the way back.
TERN_API TERN_NODISCARD tern_tensor *tern_pixel_unshuffle(tern_tensor *x, int64_t downscale_factor);
/// (N, C, ..) -> (N, C, ..): channels seen as (groups, C / groups) are transposed (Zhang et al.
/// 2018).
TERN_API TERN_NODISCARD tern_tensor *tern_channel_shuffle(tern_tensor *x, int64_t groups);

TERN_END_DECLS

#endif
