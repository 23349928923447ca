// SPDX-License-Identifier: Apache-2.0
/// @file
/// Padding layers; what they compute is in ops/resize.h.
///
///     tern_nn_sequential(tern_nn_reflection_pad2d(1), tern_nn_zero_pad2d(.left = 2, .top = 1))
///
/// Constructors make modules that the caller frees or hands to a container, NULL on failure, on any
/// thread: nn.h.
#ifndef TERN_NN_PAD_H
#define TERN_NN_PAD_H

#include <tern/module.h>
#include <tern/ops/resize.h>

TERN_BEGIN_DECLS

/// A side of which nothing is said: it is padded as `padding` says.
#define TERN_ALL_SIDES INT64_MIN

/// `tern_nn_reflection_pad2d(1, .left = 2)`. A side that a layer has not is refused.
typedef struct tern_nn_pad_options {
    int64_t left;   ///< before the last dimension; `padding` unless said
    int64_t right;  ///< behind it; `padding` unless said
    int64_t top;    ///< of two and three dimensions: before the one in front of it
    int64_t bottom; ///< behind that
    int64_t front;  ///< of three dimensions: before the third from the end
    int64_t back;   ///< behind that
    char reserved_;
    int64_t padding; ///< for all sides; zeros: a negative one cuts
} tern_nn_pad_options;

#define TERN_NN_PAD_DEFAULTS_                                                                      \
    .left = TERN_ALL_SIDES, .right = TERN_ALL_SIDES, .top = TERN_ALL_SIDES,                        \
    .bottom = TERN_ALL_SIDES, .front = TERN_ALL_SIDES, .back = TERN_ALL_SIDES, .padding = 0
#define TERN_NN_PAD_FIELDS_ 0, 1, (padding), ()
TERN_API tern_nn_pad_options tern_nn_pad_defaults(void);
/// Zeros around x along the last dimension: tern_pad with TERN_PAD_ZEROS.
TERN_API tern_module *tern_nn_zero_pad1d_with(const tern_nn_pad_options *options);
/// Zeros around x along the last two dimensions: tern_pad with TERN_PAD_ZEROS.
TERN_API tern_module *tern_nn_zero_pad2d_with(const tern_nn_pad_options *options);
/// Zeros around x along the last three dimensions: tern_pad with TERN_PAD_ZEROS.
TERN_API tern_module *tern_nn_zero_pad3d_with(const tern_nn_pad_options *options);
#define tern_nn_zero_pad1d(...)                                                                    \
    TERN_WITH_(tern_nn_zero_pad1d, tern_nn_pad, TERN_NN_PAD, __VA_ARGS__)
#define tern_nn_zero_pad2d(...)                                                                    \
    TERN_WITH_(tern_nn_zero_pad2d, tern_nn_pad, TERN_NN_PAD, __VA_ARGS__)
#define tern_nn_zero_pad3d(...)                                                                    \
    TERN_WITH_(tern_nn_zero_pad3d, tern_nn_pad, TERN_NN_PAD, __VA_ARGS__)
/// x mirrored at its borders along the last dimension: tern_pad with TERN_PAD_REFLECT.
TERN_API tern_module *tern_nn_reflection_pad1d_with(const tern_nn_pad_options *options);
/// x mirrored at its borders along the last two dimensions: tern_pad with TERN_PAD_REFLECT.
TERN_API tern_module *tern_nn_reflection_pad2d_with(const tern_nn_pad_options *options);
/// x mirrored at its borders along the last three dimensions: tern_pad with TERN_PAD_REFLECT.
TERN_API tern_module *tern_nn_reflection_pad3d_with(const tern_nn_pad_options *options);
#define tern_nn_reflection_pad1d(...)                                                              \
    TERN_WITH_(tern_nn_reflection_pad1d, tern_nn_pad, TERN_NN_PAD, __VA_ARGS__)
#define tern_nn_reflection_pad2d(...)                                                              \
    TERN_WITH_(tern_nn_reflection_pad2d, tern_nn_pad, TERN_NN_PAD, __VA_ARGS__)
#define tern_nn_reflection_pad3d(...)                                                              \
    TERN_WITH_(tern_nn_reflection_pad3d, tern_nn_pad, TERN_NN_PAD, __VA_ARGS__)
/// x with its borders repeated along the last dimension: tern_pad with TERN_PAD_REPLICATE.
TERN_API tern_module *tern_nn_replication_pad1d_with(const tern_nn_pad_options *options);
/// x with its borders repeated along the last two dimensions: tern_pad with TERN_PAD_REPLICATE.
TERN_API tern_module *tern_nn_replication_pad2d_with(const tern_nn_pad_options *options);
/// x with its borders repeated along the last three dimensions: tern_pad with TERN_PAD_REPLICATE.
TERN_API tern_module *tern_nn_replication_pad3d_with(const tern_nn_pad_options *options);
#define tern_nn_replication_pad1d(...)                                                             \
    TERN_WITH_(tern_nn_replication_pad1d, tern_nn_pad, TERN_NN_PAD, __VA_ARGS__)
#define tern_nn_replication_pad2d(...)                                                             \
    TERN_WITH_(tern_nn_replication_pad2d, tern_nn_pad, TERN_NN_PAD, __VA_ARGS__)
#define tern_nn_replication_pad3d(...)                                                             \
    TERN_WITH_(tern_nn_replication_pad3d, tern_nn_pad, TERN_NN_PAD, __VA_ARGS__)
/// x repeated around itself along the last dimension: tern_pad with TERN_PAD_CIRCULAR.
TERN_API tern_module *tern_nn_circular_pad1d_with(const tern_nn_pad_options *options);
/// x repeated around itself along the last two dimensions: tern_pad with TERN_PAD_CIRCULAR.
TERN_API tern_module *tern_nn_circular_pad2d_with(const tern_nn_pad_options *options);
/// x repeated around itself along the last three dimensions: tern_pad with TERN_PAD_CIRCULAR.
TERN_API tern_module *tern_nn_circular_pad3d_with(const tern_nn_pad_options *options);
#define tern_nn_circular_pad1d(...)                                                                \
    TERN_WITH_(tern_nn_circular_pad1d, tern_nn_pad, TERN_NN_PAD, __VA_ARGS__)
#define tern_nn_circular_pad2d(...)                                                                \
    TERN_WITH_(tern_nn_circular_pad2d, tern_nn_pad, TERN_NN_PAD, __VA_ARGS__)
#define tern_nn_circular_pad3d(...)                                                                \
    TERN_WITH_(tern_nn_circular_pad3d, tern_nn_pad, TERN_NN_PAD, __VA_ARGS__)

/// `tern_nn_constant_pad2d(1, 0.5)`.
typedef struct tern_nn_constant_pad_options {
    int64_t left;   ///< before the last dimension; `padding` unless said
    int64_t right;  ///< behind it; `padding` unless said
    int64_t top;    ///< of two and three dimensions: before the one in front of it
    int64_t bottom; ///< behind that
    int64_t front;  ///< of three dimensions: before the third from the end
    int64_t back;   ///< behind that
    char reserved_;
    int64_t padding; ///< for all sides; a negative one cuts
    double value;    ///< what is around x
} tern_nn_constant_pad_options;

#define TERN_NN_CONSTANT_PAD_DEFAULTS_ TERN_NN_PAD_DEFAULTS_, .value = 0
#define TERN_NN_CONSTANT_PAD_FIELDS_   0, 2, (padding, value), ()
TERN_API tern_nn_constant_pad_options tern_nn_constant_pad_defaults(void);
/// A value around x along the last dimension: tern_pad with TERN_PAD_CONSTANT.
TERN_API tern_module *tern_nn_constant_pad1d_with(const tern_nn_constant_pad_options *options);
/// A value around x along the last two dimensions: tern_pad with TERN_PAD_CONSTANT.
TERN_API tern_module *tern_nn_constant_pad2d_with(const tern_nn_constant_pad_options *options);
/// A value around x along the last three dimensions: tern_pad with TERN_PAD_CONSTANT.
TERN_API tern_module *tern_nn_constant_pad3d_with(const tern_nn_constant_pad_options *options);
#define tern_nn_constant_pad1d(...)                                                                \
    TERN_WITH_(tern_nn_constant_pad1d, tern_nn_constant_pad, TERN_NN_CONSTANT_PAD, __VA_ARGS__)
#define tern_nn_constant_pad2d(...)                                                                \
    TERN_WITH_(tern_nn_constant_pad2d, tern_nn_constant_pad, TERN_NN_CONSTANT_PAD, __VA_ARGS__)
#define tern_nn_constant_pad3d(...)                                                                \
    TERN_WITH_(tern_nn_constant_pad3d, tern_nn_constant_pad, TERN_NN_CONSTANT_PAD, __VA_ARGS__)

TERN_END_DECLS

#endif
