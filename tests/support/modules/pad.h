// SPDX-License-Identifier: Apache-2.0
// The modules of nn/pad.h: rows of tests/support/public_modules.h.
#ifndef TERN_TESTS_SUPPORT_MODULES_PAD_H
#define TERN_TESTS_SUPPORT_MODULES_PAD_H

// clang-format off
#define MODULES_PAD(MODULE)                                                                        \
    MODULE(zero_pad1d, zero_pad1d, tern_nn_zero_pad1d(2))                                          \
    MODULE(zero_pad1d_sides, zero_pad1d, tern_nn_zero_pad1d(.left = 3, .right = -1))               \
    MODULE(zero_pad2d, zero_pad2d, tern_nn_zero_pad2d(1))                                          \
    MODULE(zero_pad2d_sides, zero_pad2d,                                                           \
           tern_nn_zero_pad2d(.left = 1, .right = 0, .top = 3, .bottom = -2))                      \
    MODULE(zero_pad3d, zero_pad3d, tern_nn_zero_pad3d(1))                                          \
    MODULE(zero_pad3d_sides, zero_pad3d,                                                           \
           tern_nn_zero_pad3d(.left = 1, .right = 0, .top = 0, .bottom = 2, .front = -1,           \
                .back = 1))                                                                        \
    MODULE(constant_pad1d, constant_pad1d, tern_nn_constant_pad1d(2, 3.5))                         \
    MODULE(constant_pad1d_sides, constant_pad1d,                                                   \
           tern_nn_constant_pad1d(.left = 0, .right = 2, .value = -1.0))                           \
    MODULE(constant_pad2d, constant_pad2d, tern_nn_constant_pad2d(1, 3.5))                         \
    MODULE(constant_pad2d_sides, constant_pad2d,                                                   \
           tern_nn_constant_pad2d(.left = 1, .right = 0, .top = -1, .bottom = 2, .value = -1.0))   \
    MODULE(constant_pad3d, constant_pad3d, tern_nn_constant_pad3d(1, 0.5))                         \
    MODULE(constant_pad3d_sides, constant_pad3d,                                                   \
           tern_nn_constant_pad3d(.left = 1, .right = 0, .top = 0, .bottom = 2, .front = -1,       \
                .back = 1, .value = -1.0))                                                         \
    MODULE(reflection_pad1d, reflection_pad1d, tern_nn_reflection_pad1d(2))                        \
    MODULE(reflection_pad1d_sides, reflection_pad1d,                                               \
           tern_nn_reflection_pad1d(.left = 4, .right = 1))                                        \
    MODULE(reflection_pad2d, reflection_pad2d, tern_nn_reflection_pad2d(1))                        \
    MODULE(reflection_pad2d_sides, reflection_pad2d,                                               \
           tern_nn_reflection_pad2d(.left = 2, .right = 0, .top = 1, .bottom = 3))                 \
    MODULE(reflection_pad3d, reflection_pad3d, tern_nn_reflection_pad3d(1))                        \
    MODULE(reflection_pad3d_sides, reflection_pad3d,                                               \
           tern_nn_reflection_pad3d(.left = 1, .right = 0, .top = 0, .bottom = 2, .front = 2,      \
                .back = 1))                                                                        \
    MODULE(replication_pad1d, replication_pad1d, tern_nn_replication_pad1d(2))                     \
    MODULE(replication_pad1d_sides, replication_pad1d,                                             \
           tern_nn_replication_pad1d(.left = 7, .right = 1))                                       \
    MODULE(replication_pad2d, replication_pad2d, tern_nn_replication_pad2d(1))                     \
    MODULE(replication_pad2d_sides, replication_pad2d,                                             \
           tern_nn_replication_pad2d(.left = 4, .right = 0, .top = 1, .bottom = 5))                \
    MODULE(replication_pad3d, replication_pad3d, tern_nn_replication_pad3d(1))                     \
    MODULE(replication_pad3d_sides, replication_pad3d,                                             \
           tern_nn_replication_pad3d(.left = 1, .right = 0, .top = 0, .bottom = 4, .front = 2,     \
                .back = 1))                                                                        \
    MODULE(circular_pad1d, circular_pad1d, tern_nn_circular_pad1d(2))                              \
    MODULE(circular_pad1d_sides, circular_pad1d, tern_nn_circular_pad1d(.left = 5, .right = 1))    \
    MODULE(circular_pad2d, circular_pad2d, tern_nn_circular_pad2d(1))                              \
    MODULE(circular_pad2d_sides, circular_pad2d,                                                   \
           tern_nn_circular_pad2d(.left = 3, .right = 0, .top = 1, .bottom = 4))                   \
    MODULE(circular_pad3d, circular_pad3d, tern_nn_circular_pad3d(1))                              \
    MODULE(circular_pad3d_sides, circular_pad3d,                                                   \
           tern_nn_circular_pad3d(.left = 1, .right = 0, .top = 0, .bottom = 3, .front = 2,        \
                .back = 1))
// clang-format on

#endif
