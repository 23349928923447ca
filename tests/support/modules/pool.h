// SPDX-License-Identifier: Apache-2.0
// The modules of nn/pool.h: rows of tests/support/public_modules.h.
#ifndef TERN_TESTS_SUPPORT_MODULES_POOL_H
#define TERN_TESTS_SUPPORT_MODULES_POOL_H

// clang-format off
#define MODULES_POOL(MODULE)                                                                       \
    MODULE(max_pool1d, max_pool1d, tern_nn_max_pool1d(2))                                          \
    MODULE(max_pool1d_stride, max_pool1d, tern_nn_max_pool1d(3, .stride = 1))                      \
    MODULE(max_pool1d_all, max_pool1d,                                                             \
           tern_nn_max_pool1d(3, .stride = 2, .padding = 1, .dilation = 2, .ceil_mode = true))     \
    MODULE(max_pool2d, max_pool2d, tern_nn_max_pool2d(2))                                          \
    MODULE(max_pool2d_odd, max_pool2d, tern_nn_max_pool2d(2))                                      \
    MODULE(max_pool2d_resnet, max_pool2d, tern_nn_max_pool2d(3, .stride = 2, .padding = 1))        \
    MODULE(max_pool2d_all, max_pool2d,                                                             \
           tern_nn_max_pool2d(.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 0},          \
                .dilation = {1, 2}, .ceil_mode = true))                                            \
    MODULE(max_pool2d_empty, max_pool2d, tern_nn_max_pool2d(2))                                    \
    MODULE(max_pool3d, max_pool3d, tern_nn_max_pool3d(2))                                          \
    MODULE(max_pool3d_stride, max_pool3d, tern_nn_max_pool3d(2, .stride = 1))                      \
    MODULE(max_pool3d_all, max_pool3d,                                                             \
           tern_nn_max_pool3d(.kernel_size = {2, 3, 2}, .stride = {1, 2, 1}, .padding = {1, 1,     \
                0}, .dilation = {2, 1, 1}, .ceil_mode = true))                                     \
    MODULE(avg_pool1d, avg_pool1d, tern_nn_avg_pool1d(2))                                          \
    MODULE(avg_pool1d_ceil, avg_pool1d,                                                            \
           tern_nn_avg_pool1d(3, .stride = 2, .padding = 1, .ceil_mode = true))                    \
    MODULE(avg_pool1d_all, avg_pool1d,                                                             \
           tern_nn_avg_pool1d(3, .stride = 2, .padding = 1, .ceil_mode = true,                     \
                .count_include_pad = false))                                                       \
    MODULE(avg_pool2d, avg_pool2d, tern_nn_avg_pool2d(2))                                          \
    MODULE(avg_pool2d_padding, avg_pool2d,                                                         \
           tern_nn_avg_pool2d(3, .stride = 2, .padding = 1, .ceil_mode = true))                    \
    MODULE(avg_pool2d_inside, avg_pool2d,                                                          \
           tern_nn_avg_pool2d(3, .stride = 2, .padding = 1, .ceil_mode = true,                     \
                .count_include_pad = false))                                                       \
    MODULE(avg_pool2d_all, avg_pool2d,                                                             \
           tern_nn_avg_pool2d(.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 0},          \
                .ceil_mode = true, .count_include_pad = false, .divisor_override = 5))             \
    MODULE(avg_pool2d_empty, avg_pool2d, tern_nn_avg_pool2d(2))                                    \
    MODULE(avg_pool3d, avg_pool3d, tern_nn_avg_pool3d(2))                                          \
    MODULE(avg_pool3d_padding, avg_pool3d,                                                         \
           tern_nn_avg_pool3d(2, .stride = 2, .padding = 1, .ceil_mode = true))                    \
    MODULE(avg_pool3d_all, avg_pool3d,                                                             \
           tern_nn_avg_pool3d(.kernel_size = {2, 3, 2}, .stride = {1, 2, 1}, .padding = {1, 1,     \
                0}, .ceil_mode = true, .count_include_pad = false, .divisor_override = 3))         \
    MODULE(adaptive_avg_pool1d, adaptive_avg_pool1d, tern_nn_adaptive_avg_pool1d(4))               \
    MODULE(adaptive_avg_pool1d_up, adaptive_avg_pool1d, tern_nn_adaptive_avg_pool1d(11))           \
    MODULE(adaptive_avg_pool1d_one, adaptive_avg_pool1d, tern_nn_adaptive_avg_pool1d(1))           \
    MODULE(adaptive_avg_pool2d, adaptive_avg_pool2d, tern_nn_adaptive_avg_pool2d(1))               \
    MODULE(adaptive_avg_pool2d_sizes, adaptive_avg_pool2d,                                         \
           tern_nn_adaptive_avg_pool2d(.size = {3, 7}))                                            \
    MODULE(adaptive_avg_pool2d_keep, adaptive_avg_pool2d,                                          \
           tern_nn_adaptive_avg_pool2d(.size = {TERN_KEEP_SIZE, 2}))                               \
    MODULE(adaptive_max_pool1d, adaptive_max_pool1d, tern_nn_adaptive_max_pool1d(4))               \
    MODULE(adaptive_max_pool1d_up, adaptive_max_pool1d, tern_nn_adaptive_max_pool1d(11))           \
    MODULE(adaptive_max_pool2d, adaptive_max_pool2d, tern_nn_adaptive_max_pool2d(2))               \
    MODULE(adaptive_max_pool2d_sizes, adaptive_max_pool2d,                                         \
           tern_nn_adaptive_max_pool2d(.size = {3, 7}))                                            \
    MODULE(adaptive_max_pool2d_keep, adaptive_max_pool2d,                                          \
           tern_nn_adaptive_max_pool2d(.size = {TERN_KEEP_SIZE, 2}))                               \
    MODULE(local_response_norm, local_response_norm, tern_nn_local_response_norm(3))               \
    MODULE(local_response_norm_even, local_response_norm,                                          \
           tern_nn_local_response_norm(2, .alpha = 0.5))                                           \
    MODULE(local_response_norm_all, local_response_norm,                                           \
           tern_nn_local_response_norm(4, .alpha = 0.5, .beta = 0.5, .k = 2))
// clang-format on

#endif
