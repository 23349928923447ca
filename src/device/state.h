// SPDX-License-Identifier: Apache-2.0
// What the host knows of each device.
#ifndef TERN_SRC_DEVICE_STATE_H
#define TERN_SRC_DEVICE_STATE_H

#include <pthread.h>
#include "device/backend.h"

typedef struct tern_device_state {
    _Atomic bool open;
    _Atomic bool fault_raised; // the fault's error was handed to the caller
    uint64_t drawn;            // calls of dropout since the base last moved
} tern_device_state;

// Guards all states, but asking whether a device is open or a fault was raised.
extern pthread_mutex_t tern_device_lock;

extern tern_device_state tern_device_states[TERN_DEVICE_TYPES][TERN_MAX_DEVICES];

static inline tern_device_state *tern_device_state_of(tern_device device)
{
    return &tern_device_states[device.type][device.index];
}

static inline const tern_device_table *tern_device_table_of(tern_device device)
{
    return tern_backend_of(device.type)->device;
}

#endif
