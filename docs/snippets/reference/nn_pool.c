// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/pool.h, for the site.
#include "examples.h"

static void show_nn_max_pool1d(void)
{
    // [tern_nn_max_pool1d]
    tern_module *pool = tern_nn_max_pool1d(2);
    tern_tensor *y = tern_forward(pool, tern_rand(tern_dims(1, 3, 8))); // (1, 3, 4)
    // [/tern_nn_max_pool1d]
    expect_shape(y, 1, 3, 4);
    tern_module_free(pool);
}

static void show_nn_max_pool2d(void)
{
    // [tern_nn_max_pool2d]
    tern_module *pool = tern_nn_max_pool2d(3, .stride = 2, .padding = 1);
    tern_tensor *y = tern_forward(pool, tern_rand(tern_dims(1, 3, 8, 8))); // (1, 3, 4, 4)
    // [/tern_nn_max_pool2d]
    expect_shape(y, 1, 3, 4, 4);
    tern_module_free(pool);
}

static void show_nn_max_pool3d(void)
{
    // [tern_nn_max_pool3d]
    tern_module *pool = tern_nn_max_pool3d(.kernel_size = {1, 2, 2});
    tern_tensor *y = tern_forward(pool, tern_rand(tern_dims(1, 3, 4, 8, 8))); // (1, 3, 4, 4, 4)
    // [/tern_nn_max_pool3d]
    expect_shape(y, 1, 3, 4, 4, 4);
    tern_module_free(pool);
}

static void show_nn_avg_pool1d(void)
{
    // [tern_nn_avg_pool1d]
    tern_module *pool = tern_nn_avg_pool1d(2);
    tern_tensor *y = tern_forward(pool, tern_rand(tern_dims(1, 3, 8))); // (1, 3, 4)
    // [/tern_nn_avg_pool1d]
    expect_shape(y, 1, 3, 4);
    tern_module_free(pool);
}

static void show_nn_avg_pool2d(void)
{
    // [tern_nn_avg_pool2d]
    tern_module *pool = tern_nn_avg_pool2d(3, .stride = 2, .padding = 1);
    tern_tensor *y = tern_forward(pool, tern_rand(tern_dims(1, 3, 8, 8))); // (1, 3, 4, 4)
    // [/tern_nn_avg_pool2d]
    expect_shape(y, 1, 3, 4, 4);
    tern_module_free(pool);
}

static void show_nn_avg_pool3d(void)
{
    // [tern_nn_avg_pool3d]
    tern_module *pool = tern_nn_avg_pool3d(.kernel_size = {1, 2, 2});
    tern_tensor *y = tern_forward(pool, tern_rand(tern_dims(1, 3, 4, 8, 8))); // (1, 3, 4, 4, 4)
    // [/tern_nn_avg_pool3d]
    expect_shape(y, 1, 3, 4, 4, 4);
    tern_module_free(pool);
}

static void show_nn_adaptive_avg_pool1d(void)
{
    // [tern_nn_adaptive_avg_pool1d]
    tern_module *pool = tern_nn_adaptive_avg_pool1d(5);
    tern_tensor *y = tern_forward(pool, tern_rand(tern_dims(1, 3, 8))); // (1, 3, 5)
    // [/tern_nn_adaptive_avg_pool1d]
    expect_shape(y, 1, 3, 5);
    tern_module_free(pool);
}

static void show_nn_adaptive_avg_pool2d(void)
{
    // [tern_nn_adaptive_avg_pool2d]
    tern_module *pool = tern_nn_adaptive_avg_pool2d(1);
    tern_tensor *y = tern_forward(pool, tern_rand(tern_dims(1, 3, 8, 8))); // (1, 3, 1, 1)
    // [/tern_nn_adaptive_avg_pool2d]
    expect_shape(y, 1, 3, 1, 1);
    tern_module_free(pool);
}

static void show_nn_adaptive_max_pool1d(void)
{
    // [tern_nn_adaptive_max_pool1d]
    tern_module *pool = tern_nn_adaptive_max_pool1d(5);
    tern_tensor *y = tern_forward(pool, tern_rand(tern_dims(1, 3, 8))); // (1, 3, 5)
    // [/tern_nn_adaptive_max_pool1d]
    expect_shape(y, 1, 3, 5);
    tern_module_free(pool);
}

static void show_nn_adaptive_max_pool2d(void)
{
    // [tern_nn_adaptive_max_pool2d]
    tern_module *pool = tern_nn_adaptive_max_pool2d(.size = {5, TERN_KEEP_SIZE});
    tern_tensor *y = tern_forward(pool, tern_rand(tern_dims(1, 3, 8, 8))); // (1, 3, 5, 8)
    // [/tern_nn_adaptive_max_pool2d]
    expect_shape(y, 1, 3, 5, 8);
    tern_module_free(pool);
}

static void show_nn_local_response_norm(void)
{
    // [tern_nn_local_response_norm]
    tern_module *norm = tern_nn_local_response_norm(5);
    tern_tensor *y = tern_forward(norm, tern_rand(tern_dims(1, 8, 4, 4))); // (1, 8, 4, 4)
    // [/tern_nn_local_response_norm]
    expect_shape(y, 1, 8, 4, 4);
    tern_module_free(norm);
}

int nn_pool_examples(void)
{
    show_nn_max_pool1d();
    show_nn_max_pool2d();
    show_nn_max_pool3d();
    show_nn_avg_pool1d();
    show_nn_avg_pool2d();
    show_nn_avg_pool3d();
    show_nn_adaptive_avg_pool1d();
    show_nn_adaptive_avg_pool2d();
    show_nn_adaptive_max_pool1d();
    show_nn_adaptive_max_pool2d();
    show_nn_local_response_norm();
    return failures;
}
