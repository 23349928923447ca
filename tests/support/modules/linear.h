// SPDX-License-Identifier: Apache-2.0
// The modules of nn/linear.h: rows of tests/support/public_modules.h.
#ifndef TERN_TESTS_SUPPORT_MODULES_LINEAR_H
#define TERN_TESTS_SUPPORT_MODULES_LINEAR_H

// clang-format off
#define MODULES_LINEAR(MODULE)                                                                     \
    MODULE(linear, linear, tern_nn_linear(3, 4))                                                   \
    MODULE(linear_without_bias, linear, tern_nn_linear(3, 4, .bias = false))
// clang-format on

#endif
