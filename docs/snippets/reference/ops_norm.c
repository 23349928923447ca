// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/ops/norm.h, for the site.
#include "examples.h"

static void show_batch_norm(void)
{
    // [tern_batch_norm]
    tern_tensor *x = tern_rand(tern_dims(8, 16, 5, 5));
    tern_tensor *y = tern_batch_norm(x, .training = true); // (8, 16, 5, 5)
    // [/tern_batch_norm]
    expect_shape(y, 8, 16, 5, 5);
}

static void show_instance_norm(void)
{
    // [tern_instance_norm]
    tern_tensor *x = tern_rand(tern_dims(8, 16, 5, 5));
    tern_tensor *y = tern_instance_norm(x, .eps = 1e-4); // (8, 16, 5, 5)
    // [/tern_instance_norm]
    expect_shape(y, 8, 16, 5, 5);
}

static void show_group_norm(void)
{
    // [tern_group_norm]
    tern_tensor *x = tern_rand(tern_dims(8, 16, 5, 5));
    tern_tensor *y = tern_group_norm(x, 4); // (8, 16, 5, 5)
    // [/tern_group_norm]
    expect_shape(y, 8, 16, 5, 5);
}

static void show_layer_norm(void)
{
    // [tern_layer_norm]
    tern_tensor *x = tern_rand(tern_dims(8, 32));
    tern_tensor *y = tern_layer_norm(x, tern_dims(32)); // (8, 32)
    // [/tern_layer_norm]
    expect_shape(y, 8, 32);
}

static void show_rms_norm(void)
{
    // [tern_rms_norm]
    tern_tensor *x = tern_rand(tern_dims(8, 32));
    tern_tensor *y = tern_rms_norm(x, tern_dims(32)); // (8, 32)
    // [/tern_rms_norm]
    expect_shape(y, 8, 32);
}

int ops_norm_examples(void)
{
    show_batch_norm();
    show_instance_norm();
    show_group_norm();
    show_layer_norm();
    show_rms_norm();
    return failures;
}
