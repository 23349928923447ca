// SPDX-License-Identifier: Apache-2.0
// Leaves and the gradients they own.
#ifndef TERN_SRC_AUTOGRAD_LEAF_H
#define TERN_SRC_AUTOGRAD_LEAF_H

#include "tensor/node.h"

// Adds dx to the leaf's gradient, or overwrites an absent one; when dx is that gradient, it is
// there already.
tern_status tern_leaf_deliver(tern_tensor *leaf, tern_tensor *dx);

// The gradient's tensor, made when there is none, for a kernel that writes (or, *accumulate, adds)
// into it. From now on it counts as present.
tern_tensor *tern_leaf_grad_target(tern_tensor *leaf, bool *accumulate);

#endif
