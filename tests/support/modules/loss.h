// SPDX-License-Identifier: Apache-2.0
// The modules of nn/loss.h: rows of tests/support/public_modules.h.
#ifndef TERN_TESTS_SUPPORT_MODULES_LOSS_H
#define TERN_TESTS_SUPPORT_MODULES_LOSS_H

// clang-format off
#define MODULES_LOSS(MODULE)                                                                       \
    MODULE(cross_entropy_loss, cross_entropy_loss, tern_nn_cross_entropy_loss())                   \
    MODULE(cross_entropy_loss_weighted, cross_entropy_loss, tern_nn_cross_entropy_loss(.weight =   \
           tern_linspace(0.5, 2, 3), .label_smoothing = 0.1))                                      \
    MODULE(mse_loss, mse_loss, tern_nn_mse_loss())                                                 \
    MODULE(mse_loss_sum, mse_loss, tern_nn_mse_loss(.reduction = TERN_REDUCTION_SUM))              \
    MODULE(l1_loss, l1_loss, tern_nn_l1_loss())                                                    \
    MODULE(l1_loss_none, l1_loss, tern_nn_l1_loss(.reduction = TERN_REDUCTION_NONE))
// clang-format on

#endif
