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

static void show_cross_entropy(void)
{
    tern_tensor *logits = tern_zeros(tern_dims(2, 10));
    // [tern_cross_entropy]
    tern_tensor *labels = tern_from_data(tern_dims(2), ((int64_t[]){3, 7}));
    tern_tensor *loss = tern_cross_entropy(logits, labels, .label_smoothing = 0.1);
    // [/tern_cross_entropy]
    expect(near(tern_item(loss), 2.302585)); // log 10
}

int ops_examples(void)
{
    show_normalize();
    show_cross_entropy();
    return failures;
}
