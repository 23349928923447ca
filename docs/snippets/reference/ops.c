// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/ops.h, for the site.
#include "examples.h"

static void show_normalize(void)
{
    // [tern_normalize]
    tern_tensor *x = tern_rand(tern_dims(8, 32));
    tern_tensor *y = tern_normalize(x, .dim = -1); // (8, 32)
    // [/tern_normalize]
    expect_shape(y, 8, 32);
    expect(near(tern_item(tern_norm(tern_select(y, 0, 0), 2, TERN_ALL_AXES, false)), 1));
}

int ops_examples(void)
{
    show_normalize();
    return failures;
}
