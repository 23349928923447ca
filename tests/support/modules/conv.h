// SPDX-License-Identifier: Apache-2.0
// The modules of nn/conv.h: rows of tests/support/public_modules.h.
#ifndef TERN_TESTS_SUPPORT_MODULES_CONV_H
#define TERN_TESTS_SUPPORT_MODULES_CONV_H

// clang-format off
#define MODULES_CONV(MODULE)                                                                       \
    MODULE(conv1d, conv1d, tern_nn_conv1d(2, 3, 3))                                                \
    MODULE(conv1d_all, conv1d, tern_nn_conv1d(4, 2, 2, .stride = 2, .padding = 3, .dilation = 2,   \
        .groups = 2, .bias = false))                                                               \
    MODULE(conv1d_same, conv1d, tern_nn_conv1d(2, 2, 4, .padding = TERN_SAME_PADDING))             \
    MODULE(conv1d_reflect, conv1d, tern_nn_conv1d(2, 2, 3, .padding = 2,                           \
        .padding_mode = TERN_PAD_REFLECT))                                                         \
    MODULE(conv2d, conv2d, tern_nn_conv2d(2, 3, 3))                                                \
    MODULE(conv2d_unbatched, conv2d, tern_nn_conv2d(2, 2, 3, .padding = 1))                        \
    MODULE(conv2d_all, conv2d, tern_nn_conv2d(4, 6, .kernel_size = {3, 2}, .stride = {2, 1},       \
        .padding = {1, 2}, .dilation = {1, 2}, .groups = 2, .bias = false))                        \
    MODULE(conv2d_depthwise, conv2d, tern_nn_conv2d(3, 3, 3, .padding = 1, .groups = 3))           \
    MODULE(conv2d_same, conv2d, tern_nn_conv2d(2, 2, .kernel_size = {4, 3},                        \
        .padding = TERN_SAME_PADDING, .dilation = {1, 2}))                                         \
    MODULE(conv2d_wide_padding, conv2d, tern_nn_conv2d(1, 1, 3, .padding = 5, .stride = 3))        \
    MODULE(conv2d_reflect, conv2d, tern_nn_conv2d(2, 2, 3, .padding = {1, 2},                      \
        .padding_mode = TERN_PAD_REFLECT))                                                         \
    MODULE(conv2d_replicate, conv2d, tern_nn_conv2d(2, 1, 3, .padding = 1, .stride = 2,            \
        .padding_mode = TERN_PAD_REPLICATE))                                                       \
    MODULE(conv2d_circular_same, conv2d, tern_nn_conv2d(2, 1, 2, .padding = TERN_SAME_PADDING,     \
        .padding_mode = TERN_PAD_CIRCULAR))                                                        \
    MODULE(conv2d_empty, conv2d, tern_nn_conv2d(2, 3, 3))                                          \
    MODULE(conv3d, conv3d, tern_nn_conv3d(1, 2, 2))                                                \
    MODULE(conv3d_all, conv3d, tern_nn_conv3d(2, 2, .kernel_size = {1, 2, 3},                      \
        .stride = {1, 2, 1}, .padding = {0, 1, 2}, .dilation = {1, 2, 1}, .groups = 2,             \
        .bias = false))                                                                            \
    MODULE(conv3d_circular, conv3d, tern_nn_conv3d(1, 1, 2, .padding = 1,                          \
        .padding_mode = TERN_PAD_CIRCULAR))                                                        \
    MODULE(conv_transpose1d, conv_transpose1d, tern_nn_conv_transpose1d(2, 3, 3))                  \
    MODULE(conv_transpose1d_all, conv_transpose1d, tern_nn_conv_transpose1d(4, 2, 3, .stride = 3,  \
        .padding = 1, .output_padding = 2, .dilation = 2, .groups = 2, .bias = false))             \
    MODULE(conv_transpose2d, conv_transpose2d, tern_nn_conv_transpose2d(2, 3, 3))                  \
    MODULE(conv_transpose2d_all, conv_transpose2d, tern_nn_conv_transpose2d(4, 2,                  \
        .kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 0}, .output_padding = {1, 1},      \
        .dilation = {1, 2}, .groups = 2, .bias = false))                                           \
    MODULE(conv_transpose2d_unbatched, conv_transpose2d,                                           \
        tern_nn_conv_transpose2d(2, 1, 2, .stride = 2))                                            \
    MODULE(conv_transpose3d, conv_transpose3d, tern_nn_conv_transpose3d(1, 2, 2))                  \
    MODULE(conv_transpose3d_all, conv_transpose3d, tern_nn_conv_transpose3d(2, 2, 2,               \
        .stride = {2, 1, 3}, .padding = {1, 0, 1}, .output_padding = {1, 0, 2}, .groups = 2,       \
        .bias = false))
// clang-format on

#endif
