// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/norm.h, for the site.
#include "examples.h"

static void show_nn_batch_norm1d(void)
{
    // [tern_nn_batch_norm1d]
    tern_module *norm = tern_nn_batch_norm1d(32, .momentum = 0.05);
    tern_tensor *y = tern_forward(norm, tern_rand(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_batch_norm1d]
    expect_shape(y, 8, 32);
    tern_module_free(norm);
}

static void show_nn_batch_norm2d(void)
{
    // [tern_nn_batch_norm2d]
    tern_module *norm = tern_nn_batch_norm2d(16);
    tern_tensor *y = tern_forward(norm, tern_rand(tern_dims(8, 16, 5, 5))); // (8, 16, 5, 5)
    // [/tern_nn_batch_norm2d]
    expect_shape(y, 8, 16, 5, 5);
    tern_module_free(norm);
}

static void show_nn_batch_norm3d(void)
{
    // [tern_nn_batch_norm3d]
    tern_module *norm = tern_nn_batch_norm3d(16);
    tern_tensor *y = tern_forward(norm, tern_rand(tern_dims(8, 16, 3, 5, 5))); // (8, 16, 3, 5, 5)
    // [/tern_nn_batch_norm3d]
    expect_shape(y, 8, 16, 3, 5, 5);
    tern_module_free(norm);
}

static void show_nn_instance_norm1d(void)
{
    // [tern_nn_instance_norm1d]
    tern_module *norm = tern_nn_instance_norm1d(16, .affine = true);
    tern_tensor *y = tern_forward(norm, tern_rand(tern_dims(8, 16, 50))); // (8, 16, 50)
    // [/tern_nn_instance_norm1d]
    expect_shape(y, 8, 16, 50);
    tern_module_free(norm);
}

static void show_nn_instance_norm2d(void)
{
    // [tern_nn_instance_norm2d]
    tern_module *norm = tern_nn_instance_norm2d(16, .affine = true);
    tern_tensor *y = tern_forward(norm, tern_rand(tern_dims(8, 16, 5, 5))); // (8, 16, 5, 5)
    // [/tern_nn_instance_norm2d]
    expect_shape(y, 8, 16, 5, 5);
    tern_module_free(norm);
}

static void show_nn_instance_norm3d(void)
{
    // [tern_nn_instance_norm3d]
    tern_module *norm = tern_nn_instance_norm3d(16, .affine = true);
    tern_tensor *y = tern_forward(norm, tern_rand(tern_dims(8, 16, 3, 5, 5))); // (8, 16, 3, 5, 5)
    // [/tern_nn_instance_norm3d]
    expect_shape(y, 8, 16, 3, 5, 5);
    tern_module_free(norm);
}

static void show_nn_group_norm(void)
{
    // [tern_nn_group_norm]
    tern_module *norm = tern_nn_group_norm(4, 16);
    tern_tensor *y = tern_forward(norm, tern_rand(tern_dims(8, 16, 5, 5))); // (8, 16, 5, 5)
    // [/tern_nn_group_norm]
    expect_shape(y, 8, 16, 5, 5);
    tern_module_free(norm);
}

static void show_nn_layer_norm(void)
{
    // [tern_nn_layer_norm]
    tern_module *norm = tern_nn_layer_norm(tern_dims(32));
    tern_tensor *y = tern_forward(norm, tern_rand(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_layer_norm]
    expect_shape(y, 8, 32);
    tern_module_free(norm);
}

static void show_nn_rms_norm(void)
{
    // [tern_nn_rms_norm]
    tern_module *norm = tern_nn_rms_norm(tern_dims(32));
    tern_tensor *y = tern_forward(norm, tern_rand(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_rms_norm]
    expect_shape(y, 8, 32);
    tern_module_free(norm);
}

int nn_norm_examples(void)
{
    show_nn_batch_norm1d();
    show_nn_batch_norm2d();
    show_nn_batch_norm3d();
    show_nn_instance_norm1d();
    show_nn_instance_norm2d();
    show_nn_instance_norm3d();
    show_nn_group_norm();
    show_nn_layer_norm();
    show_nn_rms_norm();
    return failures;
}
