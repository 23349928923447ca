// SPDX-License-Identifier: Apache-2.0
// Leaves and the gradients they own.
#ifndef TERN_SRC_AUTOGRAD_LEAF_H
#define TERN_SRC_AUTOGRAD_LEAF_H

#include "tensor/node.h"

// Accumulates dx into the leaf's gradient; an absent gradient becomes a copy of dx. Does nothing
// when dx is the gradient's own tensor, which a kernel wrote to (tern_node_grad_into).
tern_status tern_leaf_deliver(tern_tensor *leaf, tern_tensor *dx);

#endif
