// SPDX-License-Identifier: Apache-2.0
// What the goals about failing devices share.
#ifndef TERN_TESTS_DEVICES_FAILING_H
#define TERN_TESTS_DEVICES_FAILING_H

#include "devices/device_check.h"

// A step of Adam, done when this returns.
static inline tern_status failing_step(tern_module *net, tern_optim *optim, tern_tensor *x,
                                       tern_tensor *y)
{
    tern_scope scope = tern_scope_open();
    tern_optim_zero_grad(optim);
    tern_status status = tern_backward(tern_cross_entropy(tern_forward(net, x), y));
    if (!status)
        status = tern_optim_step(optim);
    if (!status)
        status = tern_synchronize(here);
    tern_scope_close(scope);
    return status;
}

#endif
