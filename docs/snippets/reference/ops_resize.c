// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/ops/resize.h, for the site.
#include "examples.h"

static void show_interpolate(void)
{
    // [tern_interpolate]
    tern_tensor *x = tern_rand(tern_dims(1, 3, 4, 4));
    tern_tensor *y = tern_interpolate(x, .scale = {2, 2}, .mode = TERN_BILINEAR); // (1, 3, 8, 8)
    // [/tern_interpolate]
    expect_shape(y, 1, 3, 8, 8);
}

int ops_resize_examples(void)
{
    show_interpolate();
    return failures;
}
