// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/resize.h, for the site.
#include "examples.h"

static void show_nn_upsample(void)
{
    // [tern_nn_upsample]
    tern_module *up = tern_nn_upsample(.scale = {2, 2}, .mode = TERN_BILINEAR);
    tern_tensor *y = tern_forward(up, tern_rand(tern_dims(1, 3, 4, 4))); // (1, 3, 8, 8)
    // [/tern_nn_upsample]
    expect_shape(y, 1, 3, 8, 8);
    tern_module_free(up);
}

int nn_resize_examples(void)
{
    show_nn_upsample();
    return failures;
}
