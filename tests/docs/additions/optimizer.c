// SPDX-License-Identifier: Apache-2.0
// Two steps of 0.25 down a gradient of any size: 1 - 0.5.
#include "check.h"

int main(void)
{
    tern_tensor *p = tern_full(tern_dims(1), 1, .requires_grad = true);
    tern_optim *opt = tern_optim_sign_sgd(NULL, .lr = 0.25, .params = &p, .param_count = 1);
    for (int step = 0; step < 2; step++) {
        tern_optim_zero_grad(opt);
        if (tern_backward(tern_sum(tern_mul_scalar(p, 1000), TERN_ALL_AXES, false)) ||
            tern_optim_step(opt))
            return tern_error_print(stderr);
    }
    tern_optim_free(opt);
    return differs("parameter", tern_item(p), 0.5);
}
