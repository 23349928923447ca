// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/conv.h, for the site.
#include "examples.h"

static void show_nn_conv2d(void)
{
    // [tern_nn_conv2d]
    tern_module *conv = tern_nn_conv2d(3, 64, 7, .stride = 2, .padding = 3);
    tern_tensor *y = tern_forward(conv, tern_rand(tern_dims(1, 3, 32, 32))); // (1, 64, 16, 16)
    // [/tern_nn_conv2d]
    expect_shape(y, 1, 64, 16, 16);
    tern_module_free(conv);
}

static void show_nn_conv1d(void)
{
    // [tern_nn_conv1d]
    tern_module *conv = tern_nn_conv1d(4, 8, 3, .padding = 1);
    tern_tensor *y = tern_forward(conv, tern_rand(tern_dims(2, 4, 50))); // (2, 8, 50)
    // [/tern_nn_conv1d]
    expect_shape(y, 2, 8, 50);
    tern_module_free(conv);
}

static void show_nn_conv3d(void)
{
    // [tern_nn_conv3d]
    tern_module *conv = tern_nn_conv3d(1, 4, .kernel_size = {1, 3, 3});
    tern_tensor *y = tern_forward(conv, tern_rand(tern_dims(2, 1, 5, 8, 8))); // (2, 4, 5, 6, 6)
    // [/tern_nn_conv3d]
    expect_shape(y, 2, 4, 5, 6, 6);
    tern_module_free(conv);
}

static void show_nn_conv_transpose2d(void)
{
    // [tern_nn_conv_transpose2d]
    tern_module *up = tern_nn_conv_transpose2d(8, 4, 2, .stride = 2);
    tern_tensor *y = tern_forward(up, tern_rand(tern_dims(1, 8, 7, 7))); // (1, 4, 14, 14)
    // [/tern_nn_conv_transpose2d]
    expect_shape(y, 1, 4, 14, 14);
    tern_module_free(up);
}

static void show_nn_conv_transpose1d(void)
{
    // [tern_nn_conv_transpose1d]
    tern_module *up = tern_nn_conv_transpose1d(8, 4, 2, .stride = 2);
    tern_tensor *y = tern_forward(up, tern_rand(tern_dims(1, 8, 7))); // (1, 4, 14)
    // [/tern_nn_conv_transpose1d]
    expect_shape(y, 1, 4, 14);
    tern_module_free(up);
}

static void show_nn_conv_transpose3d(void)
{
    // [tern_nn_conv_transpose3d]
    tern_module *up = tern_nn_conv_transpose3d(8, 4, 2, .stride = 2);
    tern_tensor *y = tern_forward(up, tern_rand(tern_dims(1, 8, 3, 3, 3))); // (1, 4, 6, 6, 6)
    // [/tern_nn_conv_transpose3d]
    expect_shape(y, 1, 4, 6, 6, 6);
    tern_module_free(up);
}

int nn_conv_examples(void)
{
    show_nn_conv2d();
    show_nn_conv1d();
    show_nn_conv3d();
    show_nn_conv_transpose2d();
    show_nn_conv_transpose1d();
    show_nn_conv_transpose3d();
    return failures;
}
