// SPDX-License-Identifier: Apache-2.0
// The modules of nn/norm.h: rows of tests/support/public_modules.h.
#ifndef TERN_TESTS_SUPPORT_MODULES_NORM_H
#define TERN_TESTS_SUPPORT_MODULES_NORM_H

// clang-format off
#define MODULES_NORM(MODULE)                                                                       \
    MODULE(batch_norm1d, batch_norm1d, tern_nn_batch_norm1d(3))                                    \
    MODULE(batch_norm1d_of_lengths, batch_norm1d, tern_nn_batch_norm1d(3, .bias = false))          \
    MODULE(batch_norm1d_mean_of_all, batch_norm1d, tern_nn_batch_norm1d(3, .momentum = NAN))       \
    MODULE(batch_norm2d, batch_norm2d, tern_nn_batch_norm2d(3))                                    \
    MODULE(batch_norm2d_options, batch_norm2d, tern_nn_batch_norm2d(2, .eps = 0.01,                \
           .momentum = 0.4, .affine = false, .track_running_stats = false))                        \
    MODULE(batch_norm2d_wide, batch_norm2d, tern_nn_batch_norm2d(2, .momentum = 0.4))              \
    MODULE(batch_norm2d_still, batch_norm2d, tern_nn_batch_norm2d(3, .momentum = 0,                \
           .affine = false))                                                                       \
    MODULE(batch_norm2d_empty, batch_norm2d, tern_nn_batch_norm2d(3))                              \
    MODULE(batch_norm3d, batch_norm3d, tern_nn_batch_norm3d(2))                                    \
    MODULE(batch_norm3d_options, batch_norm3d, tern_nn_batch_norm3d(2, .eps = 1e-3,                \
           .momentum = 0.7, .bias = false))                                                        \
    MODULE(instance_norm1d, instance_norm1d, tern_nn_instance_norm1d(3))                           \
    MODULE(instance_norm1d_unbatched, instance_norm1d, tern_nn_instance_norm1d(3,                  \
           .affine = true))                                                                        \
    MODULE(instance_norm1d_tracked, instance_norm1d, tern_nn_instance_norm1d(3, .momentum = NAN,   \
           .affine = true, .track_running_stats = true))                                           \
    MODULE(instance_norm2d, instance_norm2d, tern_nn_instance_norm2d(2, .affine = true,            \
           .bias = false))                                                                         \
    MODULE(instance_norm2d_tracked, instance_norm2d, tern_nn_instance_norm2d(2, .eps = 0.01,       \
           .momentum = 0.3, .affine = true, .track_running_stats = true))                          \
    MODULE(instance_norm2d_unbatched, instance_norm2d, tern_nn_instance_norm2d(2,                  \
           .track_running_stats = true))                                                           \
    MODULE(instance_norm3d, instance_norm3d, tern_nn_instance_norm3d(2))                           \
    MODULE(instance_norm3d_options, instance_norm3d, tern_nn_instance_norm3d(2, .eps = 0.1,        \
           .momentum = 0.6, .affine = true, .track_running_stats = true))                          \
    MODULE(group_norm, group_norm, tern_nn_group_norm(2, 6))                                       \
    MODULE(group_norm_of_rows, group_norm, tern_nn_group_norm(2, 6, .eps = 0.01))                  \
    MODULE(group_norm_each_channel, group_norm, tern_nn_group_norm(3, 3, .bias = false))           \
    MODULE(group_norm_all_channels, group_norm, tern_nn_group_norm(1, 3, .affine = false))         \
    MODULE(group_norm_empty, group_norm, tern_nn_group_norm(1, 3))                                 \
    MODULE(layer_norm, layer_norm, tern_nn_layer_norm(tern_dims(5)))                               \
    MODULE(layer_norm_of_images, layer_norm, tern_nn_layer_norm(tern_dims(3, 5), .eps = 0.1,       \
           .bias = false))                                                                         \
    MODULE(layer_norm_plain, layer_norm, tern_nn_layer_norm(tern_dims(33),                         \
           .elementwise_affine = false))                                                           \
    MODULE(layer_norm_whole, layer_norm, tern_nn_layer_norm(tern_dims(2, 3)))                      \
    MODULE(layer_norm_empty, layer_norm, tern_nn_layer_norm(tern_dims(4)))                         \
    MODULE(rms_norm, rms_norm, tern_nn_rms_norm(tern_dims(5)))                                     \
    MODULE(rms_norm_of_images, rms_norm, tern_nn_rms_norm(tern_dims(3, 5), .eps = 0.1))            \
    MODULE(rms_norm_plain, rms_norm, tern_nn_rms_norm(tern_dims(17),                               \
           .elementwise_affine = false))
// clang-format on

#endif
