// SPDX-License-Identifier: Apache-2.0
// From 1 to 1 / 2 in epoch 3.
#include "check.h"

int main(void)
{
    tern_tensor *p = tern_full(tern_dims(1), 1, .requires_grad = true);
    tern_optim *opt = tern_optim_sgd(NULL, .lr = 1, .params = &p, .param_count = 1);
    tern_sched *sched = tern_sched_inverse_sqrt_lr(opt, 1);
    for (int step = 0; step < 3; step++)
        if (tern_optim_step(opt) || tern_sched_step(sched))
            return tern_error_print(stderr);
    const double lr = tern_optim_lr(opt, 0);
    tern_free(sched, opt);
    return differs("rate", lr, 0.5);
}
