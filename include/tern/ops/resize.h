// SPDX-License-Identifier: Apache-2.0
/// @file
/// Padding and resizing; gradients flow through.
///
///     tern_tensor *y = tern_pad(x, tern_pads(1, 1, 2, 2), TERN_PAD_REFLECT, 0);
///
/// Each returns a temporary of the innermost scope, or NULL with a pending error. Threads: any,
/// each tensor used by one at a time.
#ifndef TERN_OPS_RESIZE_H
#define TERN_OPS_RESIZE_H

#include <tern/tensor.h>

TERN_BEGIN_DECLS

// ---- padding ------------------------------------------------------------------------------------

/// What padding consists of.
typedef enum tern_pad_mode {
    TERN_PAD_UNSPECIFIED = 0, ///< constant
    TERN_PAD_CONSTANT,        ///< a value
    TERN_PAD_REFLECT,         ///< the elements mirrored, the border itself once: c b | a b c
    TERN_PAD_REPLICATE,       ///< the border: a a | a b c
    TERN_PAD_CIRCULAR,        ///< the other end: b c | a b c
    TERN_PAD_ZEROS = TERN_PAD_CONSTANT ///< a value of 0, of layers
} tern_pad_mode;

/// Numbers of a tern_pad_list, at most: two for each dimension.
#define TERN_MAX_PADS 16

/// How many elements go before and after, dimension by dimension from the last one on. Made by
/// tern_pads.
typedef struct tern_pad_list {
    int count;                  ///< of numbers: two for each dimension
    int64_t pad[TERN_MAX_PADS]; ///< before and after the last dimension, the one before it, ..
} tern_pad_list;

/// Numbers from an array. More than TERN_MAX_PADS are kept as a count, which every user
/// refuses.
TERN_API tern_pad_list tern_pad_list_make(int count, const int64_t *pads) TERN_READS_(2, 1);

#ifndef __cplusplus
/// Padding: `tern_pads(left, right, top, bottom)`.
#define tern_pads(...) TERN_LIST_(tern_pad_list_make, __VA_ARGS__)
#endif

/// x with elements added before and after its last dimensions: `value` for TERN_PAD_CONSTANT, of
/// any dtype, where negative numbers cut elements off. The other modes take floating dtypes, no
/// negative numbers and no value (0), and 1 to 3 dimensions behind a channel dimension and perhaps
/// a batch: (C, W) or (N, C, W) for two numbers. There TERN_PAD_REFLECT pads less than the size,
/// TERN_PAD_CIRCULAR at most the size. Else TERN_ERR_SHAPE.
TERN_API TERN_NODISCARD tern_tensor *tern_pad(tern_tensor *x, tern_pad_list pads,
                                              tern_pad_mode mode, tern_scalar value);

// ---- resizing -----------------------------------------------------------------------------------

/// How outputs are made of inputs. Output o lies at (o + 0.5) / scale - 0.5 among them.
typedef enum tern_interpolate_mode {
    TERN_INTERPOLATE_UNSPECIFIED = 0, ///< TERN_NEAREST
    TERN_NEAREST,                     ///< input floor(o / scale)
    TERN_NEAREST_EXACT,               ///< the nearest input
    TERN_LINEAR,                      ///< between two inputs, of (N, C, W)
    TERN_BILINEAR,                    ///< likewise, of (N, C, H, W)
    TERN_TRILINEAR,                   ///< likewise, of (N, C, D, H, W)
    TERN_BICUBIC,                     ///< cubic convolution over 4 x 4 inputs, of (N, C, H, W)
    TERN_AREA                         ///< tern_adaptive_avg_pool2d's means
} tern_interpolate_mode;

/// Outputs per input, outermost dimension first: `.scale = 2` for all, `.scale = {2, 1.5}`.
typedef struct tern_scales {
    double at[3]; ///< above 0; 0: not said
} tern_scales;

/// `tern_interpolate(x, .size = tern_dims(64, 64), .mode = TERN_BILINEAR)`.
typedef struct tern_interpolate_options {
    tern_shape size;            ///< of the last dimensions, or one for all; or a scale
    tern_scales scale;          ///< the result has floor(size * scale) elements along a dimension
    tern_interpolate_mode mode; ///< how outputs are made
    bool align_corners;         ///< linear and cubic: the corners of x stay where they are
    bool recompute_scale;       ///< the scale is out / in again, not the number given
    char reserved_;
    tern_tensor *x; ///< (N, C, W), (N, C, H, W) or (N, C, D, H, W), floating
} tern_interpolate_options;

#define TERN_INTERPOLATE_DEFAULTS_                                                                 \
    .size = {0}, .scale = {0}, .mode = TERN_NEAREST, .align_corners = false,                       \
    .recompute_scale = false
#define TERN_INTERPOLATE_FIELDS_ 1, 0, (x), (tensor)
TERN_API tern_interpolate_options tern_interpolate_defaults(void);
/// x with other sizes of its last 1 to 3 dimensions, given by .size or by .scale, not both.
/// TERN_ERR_ARG for an align_corners of modes that know no corners, TERN_ERR_SHAPE for an x of
/// another rank than the mode takes, and where nothing would be left.
TERN_API tern_tensor *tern_interpolate_with(const tern_interpolate_options *options);
#define tern_interpolate(...)                                                                      \
    TERN_WITH_(tern_interpolate, tern_interpolate, TERN_INTERPOLATE, __VA_ARGS__)

TERN_END_DECLS

#ifndef __cplusplus
#define tern_pad(x, pads, mode, value) tern_pad(x, pads, mode, TERN_SCALAR_(value))
#else
template <typename... Pads> inline tern_pad_list tern_pads(Pads... pads)
{
    const int64_t list[] = {0, static_cast<int64_t>(pads)...};
    return tern_pad_list_make(static_cast<int>(sizeof...(pads)), list + 1);
}
#endif

#endif
