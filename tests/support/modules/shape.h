// SPDX-License-Identifier: Apache-2.0
// The modules of nn/shape.h: rows of tests/support/public_modules.h.
#ifndef TERN_TESTS_SUPPORT_MODULES_SHAPE_H
#define TERN_TESTS_SUPPORT_MODULES_SHAPE_H

// clang-format off
#define MODULES_SHAPE(MODULE)                                                                      \
    MODULE(flatten, flatten, tern_nn_flatten())                                                    \
    MODULE(flatten_all, flatten, tern_nn_flatten(0))                                               \
    MODULE(unflatten, unflatten, tern_nn_unflatten(2, tern_dims(2, 2)))                            \
    MODULE(unflatten_open, unflatten, tern_nn_unflatten(-1, tern_dims(2, -1)))                     \
    MODULE(pixel_shuffle, pixel_shuffle, tern_nn_pixel_shuffle(2))                                 \
    MODULE(pixel_shuffle_unbatched, pixel_shuffle, tern_nn_pixel_shuffle(3))                       \
    MODULE(pixel_unshuffle, pixel_unshuffle, tern_nn_pixel_unshuffle(2))                           \
    MODULE(channel_shuffle, channel_shuffle, tern_nn_channel_shuffle(3))                           \
    MODULE(identity, identity, tern_nn_identity())
// clang-format on

#endif
