// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/linear.h, for the site.
#include "examples.h"

static void show_nn_linear(void)
{
    // [tern_nn_linear]
    tern_module *fc = tern_nn_linear(784, 10, .bias = false);
    tern_tensor *y = tern_forward(fc, tern_rand(tern_dims(64, 784))); // (64, 10)
    // [/tern_nn_linear]
    expect_shape(y, 64, 10);
    tern_module_free(fc);
}

int nn_linear_examples(void)
{
    show_nn_linear();
    return failures;
}
