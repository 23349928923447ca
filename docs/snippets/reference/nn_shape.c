// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/shape.h, for the site.
#include "examples.h"

static void show_nn_flatten(void)
{
    // [tern_nn_flatten]
    tern_module *flatten = tern_nn_flatten();
    tern_tensor *y = tern_forward(flatten, tern_rand(tern_dims(8, 3, 4, 4))); // (8, 48)
    // [/tern_nn_flatten]
    expect_shape(y, 8, 48);
    tern_module_free(flatten);
}

static void show_nn_unflatten(void)
{
    // [tern_nn_unflatten]
    tern_module *unflatten = tern_nn_unflatten(1, tern_dims(8, 8));
    tern_tensor *y = tern_forward(unflatten, tern_rand(tern_dims(2, 64))); // (2, 8, 8)
    // [/tern_nn_unflatten]
    expect_shape(y, 2, 8, 8);
    tern_module_free(unflatten);
}

static void show_nn_pixel_shuffle(void)
{
    // [tern_nn_pixel_shuffle]
    tern_module *shuffle = tern_nn_pixel_shuffle(2);
    tern_tensor *y = tern_forward(shuffle, tern_rand(tern_dims(1, 4, 3, 3))); // (1, 1, 6, 6)
    // [/tern_nn_pixel_shuffle]
    expect_shape(y, 1, 1, 6, 6);
    tern_module_free(shuffle);
}

static void show_nn_pixel_unshuffle(void)
{
    // [tern_nn_pixel_unshuffle]
    tern_module *unshuffle = tern_nn_pixel_unshuffle(2);
    tern_tensor *y = tern_forward(unshuffle, tern_rand(tern_dims(1, 1, 6, 6))); // (1, 4, 3, 3)
    // [/tern_nn_pixel_unshuffle]
    expect_shape(y, 1, 4, 3, 3);
    tern_module_free(unshuffle);
}

static void show_nn_channel_shuffle(void)
{
    // [tern_nn_channel_shuffle]
    tern_module *shuffle = tern_nn_channel_shuffle(2);
    tern_tensor *y = tern_forward(shuffle, tern_rand(tern_dims(1, 4, 3, 3))); // (1, 4, 3, 3)
    // [/tern_nn_channel_shuffle]
    expect_shape(y, 1, 4, 3, 3);
    tern_module_free(shuffle);
}

static void show_nn_identity(void)
{
    // [tern_nn_identity]
    tern_module *same = tern_nn_identity();
    tern_tensor *y = tern_forward(same, tern_rand(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_identity]
    expect_shape(y, 8, 32);
    tern_module_free(same);
}

int nn_shape_examples(void)
{
    show_nn_flatten();
    show_nn_unflatten();
    show_nn_pixel_shuffle();
    show_nn_pixel_unshuffle();
    show_nn_channel_shuffle();
    show_nn_identity();
    return failures;
}
