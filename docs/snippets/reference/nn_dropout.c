// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/dropout.h, for the site.
#include "examples.h"

static void show_nn_dropout(void)
{
    // [tern_nn_dropout]
    tern_module *drop = tern_nn_dropout(0.2);
    tern_tensor *y = tern_forward(drop, tern_rand(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_dropout]
    expect_shape(y, 8, 32);
    tern_module_free(drop);
}

static void show_nn_dropout1d(void)
{
    // [tern_nn_dropout1d]
    tern_module *drop = tern_nn_dropout1d(0.2);
    tern_tensor *y = tern_forward(drop, tern_rand(tern_dims(8, 32, 10))); // (8, 32, 10)
    // [/tern_nn_dropout1d]
    expect_shape(y, 8, 32, 10);
    tern_module_free(drop);
}

static void show_nn_dropout2d(void)
{
    // [tern_nn_dropout2d]
    tern_module *drop = tern_nn_dropout2d(0.2);
    tern_tensor *y = tern_forward(drop, tern_rand(tern_dims(8, 32, 5, 5))); // (8, 32, 5, 5)
    // [/tern_nn_dropout2d]
    expect_shape(y, 8, 32, 5, 5);
    tern_module_free(drop);
}

static void show_nn_dropout3d(void)
{
    // [tern_nn_dropout3d]
    tern_module *drop = tern_nn_dropout3d(0.2);
    tern_tensor *y = tern_forward(drop, tern_rand(tern_dims(8, 32, 5, 5, 5))); // (8, 32, 5, 5, 5)
    // [/tern_nn_dropout3d]
    expect_shape(y, 8, 32, 5, 5, 5);
    tern_module_free(drop);
}

static void show_nn_alpha_dropout(void)
{
    // [tern_nn_alpha_dropout]
    tern_module *drop = tern_nn_alpha_dropout(0.2);
    tern_tensor *y = tern_forward(drop, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_alpha_dropout]
    expect_shape(y, 8, 32);
    tern_module_free(drop);
}

int nn_dropout_examples(void)
{
    show_nn_dropout();
    show_nn_dropout1d();
    show_nn_dropout2d();
    show_nn_dropout3d();
    show_nn_alpha_dropout();
    return failures;
}
