// SPDX-License-Identifier: Apache-2.0
// What a step needs besides gradients: devices, their plans, and states.
#include "optim/optim.h"

// There is room for as many as there are entries.
void tern_optim_find_devices(tern_optim *optim)
{
    optim->device_count = 0;
    for (int64_t i = 0; i < optim->entry_count; i++) {
        tern_device device = tern_dev(optim->entries[i].param);
        if (!tern_optim_device_of(optim->devices, optim->device_count, device))
            optim->devices[optim->device_count++].device = device;
    }
}

static tern_status prepare_plans(tern_optim *optim)
{
    for (int64_t i = 0; i < optim->device_count; i++)
        if (!tern_optim_has_plan(optim, &optim->devices[i]))
            TERN_TRY(tern_optim_make_plan(optim, &optim->devices[i]));
    return TERN_OK;
}

static bool all_plans_are_ready(const tern_optim *optim)
{
    for (int64_t i = 0; i < optim->device_count; i++)
        if (!tern_optim_has_plan(optim, &optim->devices[i]))
            return false;
    return true;
}

// In a scope of its own: what is made is held.
tern_status tern_optim_prepare(tern_optim *optim)
{
    if (tern_optim_has_states(optim) && all_plans_are_ready(optim))
        return TERN_OK;
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    tern_status status = prepare_plans(optim);
    if (!status)
        status = tern_optim_make_states(optim);
    tern_scope_close(scope);
    return status;
}
