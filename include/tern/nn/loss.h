// SPDX-License-Identifier: Apache-2.0
/// @file
/// Losses: modules of an input and a target, for tern_loss.
///
///     tern_module *criterion = tern_nn_cross_entropy_loss(.label_smoothing = 0.1);
///     tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
///
/// Constructors make modules that the caller frees or hands to a container, NULL on failure, on any
/// thread: nn.h.
#ifndef TERN_NN_LOSS_H
#define TERN_NN_LOSS_H

#include <tern/module.h>
#include <tern/reduction.h>

TERN_BEGIN_DECLS

/// `tern_nn_cross_entropy_loss(.label_smoothing = 0.1)`.
typedef struct tern_nn_cross_entropy_loss_options {
    tern_tensor *weight;      ///< (C): one per class, cloned into the buffer "weight"; NULL: all 1
    int64_t ignore_index;     ///< labels of this value do not count
    double label_smoothing;   ///< 0 to 1
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_cross_entropy_loss_options;

#define TERN_NN_CROSS_ENTROPY_LOSS_DEFAULTS_                                                       \
    .weight = NULL, .ignore_index = -100, .label_smoothing = 0, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_CROSS_ENTROPY_LOSS_FIELDS_ 0, 0, (), ()
TERN_API tern_nn_cross_entropy_loss_options tern_nn_cross_entropy_loss_defaults(void);
/// tern_cross_entropy as a module: raw logits (N, C, ..) and int64 labels (N, ..), or
/// probabilities.
TERN_API tern_module *tern_nn_cross_entropy_loss_with(
    const tern_nn_cross_entropy_loss_options *options);
#define tern_nn_cross_entropy_loss(...)                                                            \
    TERN_WITH_(tern_nn_cross_entropy_loss, tern_nn_cross_entropy_loss, TERN_NN_CROSS_ENTROPY_LOSS, \
               __VA_ARGS__)

/// `tern_nn_mse_loss(.reduction = TERN_REDUCTION_SUM)`.
typedef struct tern_nn_loss_options {
    tern_reduction reduction; ///< what becomes of the losses of the elements
    char reserved_;
} tern_nn_loss_options;

#define TERN_NN_LOSS_DEFAULTS_ .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_LOSS_FIELDS_   0, 0, (), ()
TERN_API tern_nn_loss_options tern_nn_loss_defaults(void);
/// (input - target)^2, of equal shapes.
TERN_API tern_module *tern_nn_mse_loss_with(const tern_nn_loss_options *options);
/// |input - target|, of equal shapes.
TERN_API tern_module *tern_nn_l1_loss_with(const tern_nn_loss_options *options);
#define tern_nn_mse_loss(...) TERN_WITH_(tern_nn_mse_loss, tern_nn_loss, TERN_NN_LOSS, __VA_ARGS__)
#define tern_nn_l1_loss(...)  TERN_WITH_(tern_nn_l1_loss, tern_nn_loss, TERN_NN_LOSS, __VA_ARGS__)

TERN_END_DECLS

#endif
