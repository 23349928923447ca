// SPDX-License-Identifier: Apache-2.0
// The engine that runs a backward.
#ifndef TERN_SRC_AUTOGRAD_ENGINE_H
#define TERN_SRC_AUTOGRAD_ENGINE_H

#include "tensor/node.h"

// Runs the graph of `loss`, which has one, with the gradient that starts it.
tern_status tern_engine_run(tern_tensor *loss, tern_tensor *gradient, bool retain_graph);

// Frees the graph of `loss` and marks the gradients of its leaves unusable: what a backward does
// that failed for want of memory, also before it could begin. Takes no memory.
void tern_engine_invalidate(tern_tensor *loss);

// Frees the calling thread's work lists.
void tern_engine_shutdown(void);

#endif
