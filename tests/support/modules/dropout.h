// SPDX-License-Identifier: Apache-2.0
// The modules of nn/dropout.h: rows of tests/support/public_modules.h.
#ifndef TERN_TESTS_SUPPORT_MODULES_DROPOUT_H
#define TERN_TESTS_SUPPORT_MODULES_DROPOUT_H

// clang-format off
#define MODULES_DROPOUT(MODULE)                                                                    \
    MODULE(dropout, dropout, tern_nn_dropout())                                                    \
    MODULE(dropout1d, dropout1d, tern_nn_dropout1d())                                              \
    MODULE(dropout1d_none, dropout1d, tern_nn_dropout1d(0))                                        \
    MODULE(dropout2d, dropout2d, tern_nn_dropout2d(0.25))                                          \
    MODULE(dropout3d, dropout3d, tern_nn_dropout3d())                                              \
    MODULE(dropout3d_all, dropout3d, tern_nn_dropout3d(1))                                         \
    MODULE(alpha_dropout, alpha_dropout, tern_nn_alpha_dropout())                                  \
    MODULE(alpha_dropout_all, alpha_dropout, tern_nn_alpha_dropout(1))
// clang-format on

#endif
