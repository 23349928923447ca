// SPDX-License-Identifier: Apache-2.0
#include "device/state.h"

pthread_mutex_t tern_device_lock = PTHREAD_MUTEX_INITIALIZER;
static tern_device_state states[TERN_DEVICE_TYPES][TERN_MAX_DEVICES];

tern_device_state *tern_device_state_of(tern_device device)
{
    return &states[device.type][device.index];
}

const tern_device_table *tern_device_table_of(tern_device device)
{
    return tern_backend_of(device.type)->device;
}
