// SPDX-License-Identifier: Apache-2.0
// 3 * 0.5, in a Sequential and by its printed name.
#include "check.h"

int main(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_scale(0.5));
    tern_tensor *y = tern_forward(net, tern_full(tern_dims(1), 3));
    if (tern_module_print(net, stdout))
        return tern_error_print(stderr);
    const int wrong = differs("value", tern_item(y), 1.5) + (tern_nn_scale(INFINITY) != NULL);
    tern_error_clear();
    tern_module_free(net);
    return wrong;
}
