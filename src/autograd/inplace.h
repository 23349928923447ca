// SPDX-License-Identifier: Apache-2.0
// Calls of operations that change a tensor in place: what they may change, their begin and end.
#ifndef TERN_SRC_AUTOGRAD_INPLACE_H
#define TERN_SRC_AUTOGRAD_INPLACE_H

#include "autograd/op.h"

// May `t` be changed in place now? Refuses a leaf that requires a gradient while recording is on,
// expanded tensors (two elements in one place), and views of tensors with history.
tern_status tern_check_inplace(const char *op, const tern_tensor *t);

// A change in place: the node (NULL: nothing to record) that is to describe it is begun before the
// kernel runs, and ended after it with its status. Returns t; NULL when the kernel failed.
tern_status tern_op_begin_inplace(const tern_op_call *call, tern_node **node);
tern_tensor *tern_op_end_inplace(const tern_op_call *call, tern_tensor *t, tern_node *node,
                                 tern_status status);

#endif
