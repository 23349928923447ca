// SPDX-License-Identifier: Apache-2.0
// Making views, and changing tensors in place.
#ifndef TERN_SRC_OPS_ALIAS_H
#define TERN_SRC_OPS_ALIAS_H

#include "autograd/inplace.h"
#include "ops/op.h"
#include "tensor/factory.h"

// ---- views -------------------------------------------------------------------------------------

// A view of `t` by an operation that knows the way back. `offset` in elements from the storage's
// start; `attrs` may be NULL.
tern_tensor *tern_make_view(const tern_op *op, tern_tensor *t, tern_shape shape,
                            const int64_t *stride, int64_t offset, const tern_op_attrs *attrs);
// The view of a reshape: gradients take the shape of `t` again. For views that keep the elements'
// order.
tern_tensor *tern_make_reshaped(tern_tensor *t, tern_shape shape, const int64_t *stride);
// Elements start, start + step, ... of a dim, `count` of them; checked before.
tern_tensor *tern_make_slice(tern_tensor *t, int dim, int64_t start, int64_t count, int64_t step);

// True when the tensors may have memory in common: their first to their last elements do.
bool tern_shares_memory(const tern_tensor *a, const tern_tensor *b);
// Likewise, and they are not the same elements in the same order.
bool tern_overlaps(const tern_tensor *a, const tern_tensor *b);
// A contiguous copy on another device, of the same dtype; not recorded.
tern_tensor *tern_moved(tern_tensor *t, tern_device device);
// The backward of an operation whose gradient is the output's own.
tern_status tern_identity_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx);

// ---- in place ----------------------------------------------------------------------------------

// Before `t` is changed by `other`: t may be, other broadcasts to it, and no gradient would be
// lost.
tern_status tern_check_target(const char *op, const tern_tensor *t, const char *name,
                              const tern_tensor *other);
// The backward of a change after which nothing of the old values is left: the old history gets a
// gradient of 0.
tern_op_backward tern_overwrite_backward;

#endif
