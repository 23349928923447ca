// SPDX-License-Identifier: Apache-2.0
/// @file
/// Layers that leave out elements or channels at random.
///
/// Constructors make modules that the caller frees or hands to a container, NULL on failure, on any
/// thread: nn.h.
#ifndef TERN_NN_DROPOUT_H
#define TERN_NN_DROPOUT_H

#include <tern/module.h>

TERN_BEGIN_DECLS

/// `tern_nn_dropout(0.2)`.
typedef struct tern_nn_dropout_options {
    char reserved_;
    double p; ///< probability of zeroing an element or a channel, 0 to 1
} tern_nn_dropout_options;

#define TERN_NN_DROPOUT_DEFAULTS_ .p = 0.5
#define TERN_NN_DROPOUT_FIELDS_   0, 1, (p), ()
TERN_API tern_nn_dropout_options tern_nn_dropout_defaults(void);
/// In training each element is zeroed with probability p and the others divided by 1 - p; in
/// evaluation the input itself.
TERN_API tern_module *tern_nn_dropout_with(const tern_nn_dropout_options *options);
/// Likewise each channel of (N, C, L) or (C, L).
TERN_API tern_module *tern_nn_dropout1d_with(const tern_nn_dropout_options *options);
/// Likewise each channel of (N, C, H, W).
TERN_API tern_module *tern_nn_dropout2d_with(const tern_nn_dropout_options *options);
/// Likewise each channel of (N, C, D, H, W) or (C, D, H, W).
TERN_API tern_module *tern_nn_dropout3d_with(const tern_nn_dropout_options *options);
/// In training each element becomes SELU's limit with probability p, and all are scaled and shifted
/// so that mean 0 and variance 1 stay (Klambauer et al. 2017).
TERN_API tern_module *tern_nn_alpha_dropout_with(const tern_nn_dropout_options *options);
#define tern_nn_dropout(...)                                                                       \
    TERN_WITH_(tern_nn_dropout, tern_nn_dropout, TERN_NN_DROPOUT, __VA_ARGS__)
#define tern_nn_dropout1d(...)                                                                     \
    TERN_WITH_(tern_nn_dropout1d, tern_nn_dropout, TERN_NN_DROPOUT, __VA_ARGS__)
#define tern_nn_dropout2d(...)                                                                     \
    TERN_WITH_(tern_nn_dropout2d, tern_nn_dropout, TERN_NN_DROPOUT, __VA_ARGS__)
#define tern_nn_dropout3d(...)                                                                     \
    TERN_WITH_(tern_nn_dropout3d, tern_nn_dropout, TERN_NN_DROPOUT, __VA_ARGS__)
#define tern_nn_alpha_dropout(...)                                                                 \
    TERN_WITH_(tern_nn_alpha_dropout, tern_nn_dropout, TERN_NN_DROPOUT, __VA_ARGS__)

TERN_END_DECLS

#endif
