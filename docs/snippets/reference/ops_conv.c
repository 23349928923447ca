// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/ops/conv.h, for the site.
#include "examples.h"

static void show_conv2d(void)
{
    tern_tensor *x = tern_rand(tern_dims(1, 3, 8, 8));
    // [tern_conv2d]
    tern_tensor *weight = tern_randn(tern_dims(4, 3, 3, 3));
    tern_tensor *y = tern_conv2d(x, weight, NULL, .padding = 1, .activation = TERN_ACT_RELU);
    // [/tern_conv2d]
    expect_shape(y, 1, 4, 8, 8);
}

static void show_conv1d(void)
{
    tern_tensor *x = tern_rand(tern_dims(1, 3, 8));
    // [tern_conv1d]
    tern_tensor *weight = tern_randn(tern_dims(4, 3, 5));
    tern_tensor *y = tern_conv1d(x, weight, NULL, .padding = TERN_SAME_PADDING); // (1, 4, 8)
    // [/tern_conv1d]
    expect_shape(y, 1, 4, 8);
}

static void show_conv3d(void)
{
    tern_tensor *x = tern_rand(tern_dims(1, 3, 4, 8, 8));
    // [tern_conv3d]
    tern_tensor *weight = tern_randn(tern_dims(4, 3, 1, 2, 2));
    tern_tensor *y = tern_conv3d(x, weight, NULL, .stride = {1, 2, 2}); // (1, 4, 4, 4, 4)
    // [/tern_conv3d]
    expect_shape(y, 1, 4, 4, 4, 4);
}

static void show_conv_transpose2d(void)
{
    tern_tensor *x = tern_rand(tern_dims(1, 4, 4, 4));
    // [tern_conv_transpose2d]
    tern_tensor *weight = tern_randn(tern_dims(4, 3, 2, 2));
    tern_tensor *y = tern_conv_transpose2d(x, weight, NULL, .stride = 2); // (1, 3, 8, 8)
    // [/tern_conv_transpose2d]
    expect_shape(y, 1, 3, 8, 8);
}

static void show_conv_transpose1d(void)
{
    tern_tensor *x = tern_rand(tern_dims(1, 4, 4));
    // [tern_conv_transpose1d]
    tern_tensor *weight = tern_randn(tern_dims(4, 3, 2));
    tern_tensor *y = tern_conv_transpose1d(x, weight, NULL, .stride = 2); // (1, 3, 8)
    // [/tern_conv_transpose1d]
    expect_shape(y, 1, 3, 8);
}

static void show_conv_transpose3d(void)
{
    tern_tensor *x = tern_rand(tern_dims(1, 4, 2, 2, 2));
    // [tern_conv_transpose3d]
    tern_tensor *weight = tern_randn(tern_dims(4, 3, 2, 2, 2));
    tern_tensor *y = tern_conv_transpose3d(x, weight, NULL, .stride = 2); // (1, 3, 4, 4, 4)
    // [/tern_conv_transpose3d]
    expect_shape(y, 1, 3, 4, 4, 4);
}

int ops_conv_examples(void)
{
    show_conv2d();
    show_conv1d();
    show_conv3d();
    show_conv_transpose2d();
    show_conv_transpose1d();
    show_conv_transpose3d();
    return failures;
}
