// SPDX-License-Identifier: Apache-2.0
// Devices are opened when they are first used, and closed at shutdown.
#include "base/fork.h"
#include "device/draws.h"
#include "device/state.h"

static tern_status open_first(tern_device device)
{
    tern_device_state *state = tern_device_state_of(device);
    const tern_device_table *table = tern_device_table_of(device);
    tern_status status = TERN_OK;
    tern_lock(&tern_device_lock);
    if (!state->open) {
        status = table->open(device.index, tern_draw_first(device));
        state->drawn = 0;
        state->open = !status;
    }
    tern_unlock(&tern_device_lock);
    return status;
}

bool tern_device_is_open(tern_device device)
{
    return atomic_load_explicit(&tern_device_state_of(device)->open, memory_order_acquire);
}

tern_status tern_device_open(tern_device device)
{
    return tern_device_is_open(device) ? TERN_OK : open_first(device);
}

void tern_device_close(tern_device device)
{
    if (!tern_device_is_open(device))
        return;
    tern_device_state *state = tern_device_state_of(device);
    const tern_device_table *table = tern_device_table_of(device);
    tern_lock(&tern_device_lock);
    if (table->close && table->close(device.index)) {
        state->open = false;
        state->fault_raised = false;
    }
    tern_unlock(&tern_device_lock);
}

tern_exec tern_exec_of(tern_device device)
{
    return tern_device_table_of(device)->exec(device.index);
}
