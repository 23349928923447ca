// SPDX-License-Identifier: Apache-2.0
// What has to happen on the host around a captured graph.
#ifndef TERN_SRC_TENSOR_CAPTURE_H
#define TERN_SRC_TENSOR_CAPTURE_H

#include "tensor/backend.h"

// `run` is called before each replay of the graph, `drop` once when the graph is freed or the
// capture fails.
typedef struct tern_replay_hook {
    tern_status (*run)(void *user);
    void (*drop)(void *user);
    void *user;
} tern_replay_hook;

// True while the calling thread captures on the device.
bool tern_capturing(tern_device device);

// Adds a hook to the capture that the calling thread is in. On failure the hook stays the caller's.
tern_status tern_capture_hook(tern_replay_hook hook);

#endif
