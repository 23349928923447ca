// SPDX-License-Identifier: Apache-2.0
// Leaves and the gradients they own.
#ifndef TERN_SRC_AUTOGRAD_LEAF_H
#define TERN_SRC_AUTOGRAD_LEAF_H

#include "tensor/node.h"

// Accumulates dx into the leaf's gradient; an absent gradient becomes a copy of dx. Does nothing
// when dx is the gradient's own tensor, which a kernel wrote to (tern_leaf_grad_target).
tern_status tern_leaf_deliver(tern_tensor *leaf, tern_tensor *dx);

// The gradient's tensor, made when there is none, for a kernel that writes to it or, where
// *accumulate is set, adds to it. From now on the gradient counts as present.
tern_tensor *tern_leaf_grad_target(tern_tensor *leaf, bool *accumulate);

#endif
