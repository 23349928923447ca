// SPDX-License-Identifier: Apache-2.0
// Changes in place, as far as histories are concerned.
#ifndef TERN_SRC_AUTOGRAD_INPLACE_H
#define TERN_SRC_AUTOGRAD_INPLACE_H

#include "tensor/node.h"

// May `t` be changed in place now? Refuses a leaf that requires a gradient while recording is on,
// expanded tensors (two elements in one place), and views of tensors with history.
tern_status tern_check_inplace(const char *op, const tern_tensor *t);
// After an in-place change of `t` that a node was begun for: t takes over the
// history of `node` (NULL: none) and its version moves on.
void tern_inplace_done(tern_tensor *t, tern_node *node);

#endif
