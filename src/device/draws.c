// SPDX-License-Identifier: Apache-2.0
#include "device/draws.h"

#include "base/error.h"
#include "base/fork.h"
#include "device/capture.h"
#include "device/state.h"

// Of devices that are not open yet. Under the lock of the devices' states.
static uint64_t seeds[TERN_DEVICE_TYPES];

// Under the lock.
static tern_status load(tern_device device, tern_draw_state state)
{
    TERN_TRY(tern_device_table_of(device)->draws_write(device.index, state));
    tern_device_state_of(device)->drawn = 0;
    return TERN_OK;
}

tern_draw_state tern_draw_first(tern_device device)
{
    return (tern_draw_state){.seed = seeds[device.type]};
}

// In the upper bits of the numbers, which count far below them.
#define SHARD_SHIFT 40
static _Thread_local unsigned thread_shard;

unsigned tern_draw_shard(unsigned shard)
{
    const unsigned before = thread_shard;
    thread_shard = shard;
    return before;
}

uint64_t tern_draw_next(tern_device device)
{
    uint64_t *captured = tern_capture_draws(device);
    if (captured)
        return (*captured)++;
    tern_lock(&tern_device_lock);
    uint64_t number = tern_device_state_of(device)->drawn++;
    tern_unlock(&tern_device_lock);
    return number + ((uint64_t)thread_shard << SHARD_SHIFT);
}

tern_status tern_draw_advance(tern_device device)
{
    uint64_t *captured = tern_capture_draws(device);
    tern_status status = TERN_OK;
    tern_lock(&tern_device_lock);
    uint64_t *drawn = captured ? captured : &tern_device_state_of(device)->drawn;
    if (*drawn)
        status = tern_device_table_of(device)->draws_advance(device.index, *drawn);
    if (!status)
        *drawn = 0;
    tern_unlock(&tern_device_lock);
    return status;
}

void tern_draw_seed_type(tern_device_type type, uint64_t seed)
{
    tern_lock(&tern_device_lock);
    seeds[type] = seed;
    for (int i = 0; i < TERN_MAX_DEVICES; i++)
        if (tern_device_state_of((tern_device){type, i})->open)
            (void)load((tern_device){type, i}, (tern_draw_state){.seed = seed});
    tern_unlock(&tern_device_lock);
}

void tern_draw_seed(uint64_t seed)
{
    tern_draw_seed_type(TERN_CPU, seed);
    tern_draw_seed_type(TERN_CUDA, seed);
}

tern_status tern_draw_load(tern_device device, tern_draw_state saved)
{
    tern_lock(&tern_device_lock);
    tern_status status = load(device, saved);
    tern_unlock(&tern_device_lock);
    return status;
}

tern_status tern_draw_save(tern_device device, tern_draw_state *saved)
{
    tern_lock(&tern_device_lock);
    tern_status status = tern_device_table_of(device)->draws_read(device.index, saved);
    saved->base += tern_device_state_of(device)->drawn;
    tern_unlock(&tern_device_lock);
    return status;
}
