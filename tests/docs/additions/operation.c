// SPDX-License-Identifier: Apache-2.0
// f(3/4) = (sqrt(25/16) - 1) / 2 + 3/4 = 7/8, and its slope there 3/4 / (2 * 5/4) + 1 = 13/10.
#include "check.h"

int main(void)
{
    const double at[] = {0.75};
    tern_tensor *x = tern_from_data(tern_dims(1), at, .dtype = TERN_FLOAT64, .requires_grad = true);
    tern_tensor *y = tern_bent(x);
    if (tern_backward(tern_sum(y, TERN_ALL_AXES, false)))
        return tern_error_print(stderr);
    return differs("value", tern_item(y), 0.875) + differs("slope", tern_item(tern_grad(x)), 1.3);
}
