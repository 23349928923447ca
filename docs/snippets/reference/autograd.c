// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/autograd.h, for the site.
#include "examples.h"

static void show_backward(void)
{
    tern_tensor *x = tern_full(tern_dims(), 3, .requires_grad = true);
    // [tern_backward]
    if (tern_backward(tern_mul(x, x)))
        tern_error_print(stderr); // else tern_grad(x) is 2 x
    // [/tern_backward]
    expect(tern_item(tern_grad(x)) == 6);
}

int autograd_examples(void)
{
    show_backward();
    return failures;
}
