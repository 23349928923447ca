// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/pad.h, for the site.
#include "examples.h"

static void show_nn_zero_pad1d(void)
{
    // [tern_nn_zero_pad1d]
    tern_module *pad = tern_nn_zero_pad1d(2);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 8))); // (1, 3, 12)
    // [/tern_nn_zero_pad1d]
    expect_shape(y, 1, 3, 12);
    tern_module_free(pad);
}

static void show_nn_zero_pad2d(void)
{
    // [tern_nn_zero_pad2d]
    tern_module *pad = tern_nn_zero_pad2d(1);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 8, 8))); // (1, 3, 10, 10)
    // [/tern_nn_zero_pad2d]
    expect_shape(y, 1, 3, 10, 10);
    tern_module_free(pad);
}

static void show_nn_zero_pad3d(void)
{
    // [tern_nn_zero_pad3d]
    tern_module *pad = tern_nn_zero_pad3d(1, .front = 0);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 4, 8, 8))); // (1, 3, 5, 10, 10)
    // [/tern_nn_zero_pad3d]
    expect_shape(y, 1, 3, 5, 10, 10);
    tern_module_free(pad);
}

static void show_nn_constant_pad1d(void)
{
    // [tern_nn_constant_pad1d]
    tern_module *pad = tern_nn_constant_pad1d(2, 0.5);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 8))); // (1, 3, 12)
    // [/tern_nn_constant_pad1d]
    expect_shape(y, 1, 3, 12);
    tern_module_free(pad);
}

static void show_nn_constant_pad2d(void)
{
    // [tern_nn_constant_pad2d]
    tern_module *pad = tern_nn_constant_pad2d(1, 0.5);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 8, 8))); // (1, 3, 10, 10)
    // [/tern_nn_constant_pad2d]
    expect_shape(y, 1, 3, 10, 10);
    tern_module_free(pad);
}

static void show_nn_constant_pad3d(void)
{
    // [tern_nn_constant_pad3d]
    tern_module *pad = tern_nn_constant_pad3d(1, 0.5, .front = 0);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 4, 8, 8))); // (1, 3, 5, 10, 10)
    // [/tern_nn_constant_pad3d]
    expect_shape(y, 1, 3, 5, 10, 10);
    tern_module_free(pad);
}

static void show_nn_reflection_pad1d(void)
{
    // [tern_nn_reflection_pad1d]
    tern_module *pad = tern_nn_reflection_pad1d(2);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 8))); // (1, 3, 12)
    // [/tern_nn_reflection_pad1d]
    expect_shape(y, 1, 3, 12);
    tern_module_free(pad);
}

static void show_nn_reflection_pad2d(void)
{
    // [tern_nn_reflection_pad2d]
    tern_module *pad = tern_nn_reflection_pad2d(1);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 8, 8))); // (1, 3, 10, 10)
    // [/tern_nn_reflection_pad2d]
    expect_shape(y, 1, 3, 10, 10);
    tern_module_free(pad);
}

static void show_nn_reflection_pad3d(void)
{
    // [tern_nn_reflection_pad3d]
    tern_module *pad = tern_nn_reflection_pad3d(1, .front = 0);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 4, 8, 8))); // (1, 3, 5, 10, 10)
    // [/tern_nn_reflection_pad3d]
    expect_shape(y, 1, 3, 5, 10, 10);
    tern_module_free(pad);
}

static void show_nn_replication_pad1d(void)
{
    // [tern_nn_replication_pad1d]
    tern_module *pad = tern_nn_replication_pad1d(2);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 8))); // (1, 3, 12)
    // [/tern_nn_replication_pad1d]
    expect_shape(y, 1, 3, 12);
    tern_module_free(pad);
}

static void show_nn_replication_pad2d(void)
{
    // [tern_nn_replication_pad2d]
    tern_module *pad = tern_nn_replication_pad2d(1);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 8, 8))); // (1, 3, 10, 10)
    // [/tern_nn_replication_pad2d]
    expect_shape(y, 1, 3, 10, 10);
    tern_module_free(pad);
}

static void show_nn_replication_pad3d(void)
{
    // [tern_nn_replication_pad3d]
    tern_module *pad = tern_nn_replication_pad3d(1, .front = 0);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 4, 8, 8))); // (1, 3, 5, 10, 10)
    // [/tern_nn_replication_pad3d]
    expect_shape(y, 1, 3, 5, 10, 10);
    tern_module_free(pad);
}

static void show_nn_circular_pad1d(void)
{
    // [tern_nn_circular_pad1d]
    tern_module *pad = tern_nn_circular_pad1d(2);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 8))); // (1, 3, 12)
    // [/tern_nn_circular_pad1d]
    expect_shape(y, 1, 3, 12);
    tern_module_free(pad);
}

static void show_nn_circular_pad2d(void)
{
    // [tern_nn_circular_pad2d]
    tern_module *pad = tern_nn_circular_pad2d(1);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 8, 8))); // (1, 3, 10, 10)
    // [/tern_nn_circular_pad2d]
    expect_shape(y, 1, 3, 10, 10);
    tern_module_free(pad);
}

static void show_nn_circular_pad3d(void)
{
    // [tern_nn_circular_pad3d]
    tern_module *pad = tern_nn_circular_pad3d(1, .front = 0);
    tern_tensor *y = tern_forward(pad, tern_rand(tern_dims(1, 3, 4, 8, 8))); // (1, 3, 5, 10, 10)
    // [/tern_nn_circular_pad3d]
    expect_shape(y, 1, 3, 5, 10, 10);
    tern_module_free(pad);
}

int nn_pad_examples(void)
{
    show_nn_zero_pad1d();
    show_nn_zero_pad2d();
    show_nn_zero_pad3d();
    show_nn_constant_pad1d();
    show_nn_constant_pad2d();
    show_nn_constant_pad3d();
    show_nn_reflection_pad1d();
    show_nn_reflection_pad2d();
    show_nn_reflection_pad3d();
    show_nn_replication_pad1d();
    show_nn_replication_pad2d();
    show_nn_replication_pad3d();
    show_nn_circular_pad1d();
    show_nn_circular_pad2d();
    show_nn_circular_pad3d();
    return failures;
}
