// SPDX-License-Identifier: Apache-2.0
// The modules of nn/resize.h: rows of tests/support/public_modules.h.
#ifndef TERN_TESTS_SUPPORT_MODULES_RESIZE_H
#define TERN_TESTS_SUPPORT_MODULES_RESIZE_H

// clang-format off
#define MODULES_RESIZE(MODULE)                                                                     \
    MODULE(upsample, upsample, tern_nn_upsample(.scale = 2))                                       \
    MODULE(upsample_size, upsample, tern_nn_upsample(.size = tern_dims(7, 2)))                     \
    MODULE(upsample_scales, upsample, tern_nn_upsample(.scale = {1.7, 0.7}))                       \
    MODULE(upsample_exact, upsample,                                                               \
           tern_nn_upsample(.size = tern_dims(7), .mode = TERN_NEAREST_EXACT))                     \
    MODULE(upsample_linear, upsample, tern_nn_upsample(.scale = 1.7, .mode = TERN_LINEAR))         \
    MODULE(upsample_linear_corners, upsample,                                                      \
           tern_nn_upsample(.size = tern_dims(8), .mode = TERN_LINEAR, .align_corners = true))     \
    MODULE(upsample_bilinear, upsample, tern_nn_upsample(.scale = 2, .mode = TERN_BILINEAR))       \
    MODULE(upsample_bilinear_down, upsample,                                                       \
           tern_nn_upsample(.size = tern_dims(3, 2), .mode = TERN_BILINEAR))                       \
    MODULE(upsample_bilinear_all, upsample,                                                        \
           tern_nn_upsample(.scale = {1.3, 2.5}, .mode = TERN_BILINEAR, .align_corners = true,     \
                .recompute_scale = true))                                                          \
    MODULE(upsample_bilinear_recomputed, upsample,                                                 \
           tern_nn_upsample(.scale = {1.3, 2.5}, .mode = TERN_BILINEAR, .recompute_scale = true))  \
    MODULE(upsample_bicubic, upsample, tern_nn_upsample(.scale = 1.7, .mode = TERN_BICUBIC))       \
    MODULE(upsample_bicubic_corners, upsample,                                                     \
           tern_nn_upsample(.size = tern_dims(5, 7), .mode = TERN_BICUBIC, .align_corners = true)) \
    MODULE(upsample_trilinear, upsample,                                                           \
           tern_nn_upsample(.scale = {2, 1.5, 2}, .mode = TERN_TRILINEAR))                         \
    MODULE(upsample_trilinear_corners, upsample,                                                   \
           tern_nn_upsample(.size = tern_dims(2, 3, 4), .mode = TERN_TRILINEAR,                    \
                .align_corners = true))                                                            \
    MODULE(upsample_area, upsample, tern_nn_upsample(.size = tern_dims(3, 5), .mode = TERN_AREA))
// clang-format on

#endif
