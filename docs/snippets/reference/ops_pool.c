// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/ops/pool.h, for the site.
#include "examples.h"

static void show_max_pool1d(void)
{
    // [tern_max_pool1d]
    tern_tensor *x = tern_rand(tern_dims(1, 3, 8));
    tern_tensor *y = tern_max_pool1d(x, 2); // (1, 3, 4)
    // [/tern_max_pool1d]
    expect_shape(y, 1, 3, 4);
}

static void show_max_pool2d(void)
{
    // [tern_max_pool2d]
    tern_tensor *x = tern_rand(tern_dims(1, 3, 8, 8));
    tern_tensor *y = tern_max_pool2d(x, 3, .stride = 2, .padding = 1); // (1, 3, 4, 4)
    // [/tern_max_pool2d]
    expect_shape(y, 1, 3, 4, 4);
}

static void show_max_pool3d(void)
{
    // [tern_max_pool3d]
    tern_tensor *x = tern_rand(tern_dims(1, 3, 4, 8, 8));
    tern_tensor *y = tern_max_pool3d(x, .kernel_size = {1, 2, 2}); // (1, 3, 4, 4, 4)
    // [/tern_max_pool3d]
    expect_shape(y, 1, 3, 4, 4, 4);
}

static void show_avg_pool1d(void)
{
    // [tern_avg_pool1d]
    tern_tensor *x = tern_rand(tern_dims(1, 3, 8));
    tern_tensor *y = tern_avg_pool1d(x, 2); // (1, 3, 4)
    // [/tern_avg_pool1d]
    expect_shape(y, 1, 3, 4);
}

static void show_avg_pool2d(void)
{
    // [tern_avg_pool2d]
    tern_tensor *x = tern_rand(tern_dims(1, 3, 7, 7));
    tern_tensor *y = tern_avg_pool2d(x, 2, .ceil_mode = true); // (1, 3, 4, 4)
    // [/tern_avg_pool2d]
    expect_shape(y, 1, 3, 4, 4);
}

static void show_avg_pool3d(void)
{
    // [tern_avg_pool3d]
    tern_tensor *x = tern_rand(tern_dims(1, 3, 4, 8, 8));
    tern_tensor *y = tern_avg_pool3d(x, .kernel_size = {1, 2, 2}); // (1, 3, 4, 4, 4)
    // [/tern_avg_pool3d]
    expect_shape(y, 1, 3, 4, 4, 4);
}

static void show_adaptive_avg_pool1d(void)
{
    // [tern_adaptive_avg_pool1d]
    tern_tensor *x = tern_rand(tern_dims(1, 3, 8));
    tern_tensor *y = tern_adaptive_avg_pool1d(x, 5); // (1, 3, 5)
    // [/tern_adaptive_avg_pool1d]
    expect_shape(y, 1, 3, 5);
}

static void show_adaptive_avg_pool2d(void)
{
    // [tern_adaptive_avg_pool2d]
    tern_tensor *x = tern_rand(tern_dims(1, 3, 8, 8));
    tern_tensor *y = tern_adaptive_avg_pool2d(x, 1); // (1, 3, 1, 1)
    // [/tern_adaptive_avg_pool2d]
    expect_shape(y, 1, 3, 1, 1);
}

static void show_adaptive_max_pool1d(void)
{
    tern_tensor *x = tern_rand(tern_dims(1, 3, 8));
    // [tern_adaptive_max_pool1d]
    tern_tensor *indices;
    tern_tensor *y = tern_adaptive_max_pool1d(x, 5, .indices = &indices); // (1, 3, 5)
    // [/tern_adaptive_max_pool1d]
    expect_shape(y, 1, 3, 5);
    expect_shape(indices, 1, 3, 5);
}

static void show_adaptive_max_pool2d(void)
{
    // [tern_adaptive_max_pool2d]
    tern_tensor *x = tern_rand(tern_dims(1, 3, 8, 8));
    tern_tensor *y = tern_adaptive_max_pool2d(x, .size = {5, TERN_KEEP_SIZE}); // (1, 3, 5, 8)
    // [/tern_adaptive_max_pool2d]
    expect_shape(y, 1, 3, 5, 8);
}

int ops_pool_examples(void)
{
    show_max_pool1d();
    show_max_pool2d();
    show_max_pool3d();
    show_avg_pool1d();
    show_avg_pool2d();
    show_avg_pool3d();
    show_adaptive_avg_pool1d();
    show_adaptive_avg_pool2d();
    show_adaptive_max_pool1d();
    show_adaptive_max_pool2d();
    return failures;
}
