// SPDX-License-Identifier: Apache-2.0
// Leaves and the gradients they own.
#ifndef TERN_SRC_TENSOR_LEAF_H
#define TERN_SRC_TENSOR_LEAF_H

#include "tensor/op.h"

// Adds dx to the leaf's gradient, or overwrites an absent one; when dx is that gradient, it is
// there already.
tern_status tern_leaf_deliver(tern_tensor *leaf, tern_tensor *dx);

// The gradient's tensor, made when there is none, for a kernel that writes (or, *accumulate, adds)
// into it. From now on it counts as present.
tern_tensor *tern_leaf_grad_target(tern_tensor *leaf, bool *accumulate);

// Runs the graph of `loss`, which has one, with the gradient that starts it.
tern_status tern_engine_run(tern_tensor *loss, tern_tensor *gradient, bool retain_graph);

// Frees the graph of `loss` and marks the gradients of its leaves unusable: what a backward does
// that failed for want of memory, also before it could begin. Takes no memory.
void tern_engine_spoil(tern_tensor *loss);

// Frees the calling thread's work lists.
void tern_engine_shutdown(void);

#endif
