// SPDX-License-Identifier: Apache-2.0
// Recording of operations: nodes are made and filled, and read by backwards.
#ifndef TERN_SRC_AUTOGRAD_RECORD_H
#define TERN_SRC_AUTOGRAD_RECORD_H

#include "tensor/node.h"

// TERN_ERR_STATE when `t`, which is `role` of the operation, was changed through another view since
// it was made: its history no longer describes its values.
tern_status tern_check_history(const char *op, const char *role, const tern_tensor *t);
// Begins a node for so many outputs when recording is on and one of the inputs (NULLs allowed)
// requires a gradient. Sets *node to it, or to NULL when there is nothing to record. Fails with
// TERN_ERR_NOMEM, or as tern_check_history.
tern_status tern_node_begin(tern_node **node, const tern_op *op, tern_tensor *const *inputs,
                            int count, int outputs);
// Keeps a tensor for the backward: an input, or any other value. NULL is kept as NULL.
void tern_node_save(tern_node *node, int slot, tern_tensor *t);
const tern_op_attrs *tern_node_attrs(const tern_node *node);
// Makes `y` output `index` of the node. After the last one, tern_node_end drops the caller's hold.
void tern_node_output(tern_node *node, int index, tern_tensor *y);
void tern_node_end(tern_node *node); // NULL is fine; without outputs it undoes tern_node_begin

// In a backward:
static inline bool tern_node_needs(const tern_node *node, int input)
{
    return node->in[input].node || node->in[input].leaf;
}

static inline tern_tensor *tern_node_saved(const tern_node *node, int slot)
{
    return node->saved[slot];
}

tern_shape tern_node_input_shape(const tern_node *node, int input);
tern_dtype tern_node_input_dtype(const tern_node *node, int input);
// TERN_ERR_STATE when a saved tensor was changed in place since.
tern_status tern_node_check_saved(const tern_node *node);
// Where the gradient of an input may be written at once: the gradient of a leaf (then *accumulate
// says whether to add), or a new tensor. The backward writes it and sets dx[input]. NULL: failed.
tern_tensor *tern_node_grad_into(tern_node *node, int input, bool *accumulate);
// The same for kernels that cannot add: the gradient of a leaf that has none yet, or a new tensor.
tern_tensor *tern_node_grad_new(tern_node *node, int input);

#endif
