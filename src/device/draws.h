// SPDX-License-Identifier: Apache-2.0
// Random numbers of dropout: Philox with an offset in device memory, the base, and a count of the
// calls since, which the host keeps.
#ifndef TERN_SRC_DEVICE_DRAWS_H
#define TERN_SRC_DEVICE_DRAWS_H

#include "device/backend.h"

// The number of the next draw on the device since its base last moved; what a dropout kernel takes
// as `offset`.
uint64_t tern_draw_next(tern_device device);
// The numbers that the calling thread gets from now on are those of a shard of a batch, 0 to 2^24:
// no two shards share one, whatever devices they are on. Returns the shard before; 0 is what plain
// calls draw from.
unsigned tern_draw_shard(unsigned shard);
// Moves the base on by the draws made since, which changes no draw; tern_optim_step calls it.
tern_status tern_draw_advance(tern_device device);
// Starts the draws of every device anew; tern_manual_seed calls it. Where that fails, those of the
// device are as they were, and the error is pending.
void tern_draw_seed(uint64_t seed);
void tern_draw_seed_type(tern_device_type type, uint64_t seed);
// The state to go on from, draws since the base last moved included; and going back to one, which
// changes nothing where it fails.
tern_status tern_draw_save(tern_device device, tern_draw_state *saved); // waits
tern_status tern_draw_load(tern_device device, tern_draw_state state);
// What a device that opens begins with. Under the lock of the devices' states.
tern_draw_state tern_draw_first(tern_device device);

#endif
