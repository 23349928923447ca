// SPDX-License-Identifier: Apache-2.0
// The device table's functions for the fault record and the Philox state of dropout.
#ifndef TERN_SRC_CUDA_HOST_STATE_H
#define TERN_SRC_CUDA_HOST_STATE_H

#include "device/backend.h"

bool tern_plugin_fault_seen(int index);
void tern_plugin_fault_publish(int index);
tern_status tern_plugin_fault_read(int index, tern_fault *fault);
void tern_plugin_fault_clear(int index);

tern_status tern_plugin_draws_write(int index, tern_draw_state state);
tern_status tern_plugin_draws_advance(int index, uint64_t count);
tern_status tern_plugin_draws_read(int index, tern_draw_state *state);

#endif
