// SPDX-License-Identifier: Apache-2.0
// What the goals about failing devices share.
#ifndef TERN_TESTS_DEVICE_FAILING_H
#define TERN_TESTS_DEVICE_FAILING_H

#include "device_check.h"
#include "sim.h"

// A step of Adam, done when this returns.
static inline tern_status failing_step(tern_module *net, tern_optim *optim, tern_tensor *x,
                                       tern_tensor *y)
{
    tern_status status = train_step(net, optim, x, y);
    return status ? status : tern_synchronize(here);
}

// 0, or the exit code of a program that has no simulated device. The first tensor opens the plugin.
static inline int choose_failing_device(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    if (nothing)
        return nothing;
    if (kind == TERN_CUDA && tern_zeros(tern_dims(1), .device = here) && sim_begin())
        return 0;
    puts("skipped: failures are injected into the simulated device");
    return 77;
}

#endif
