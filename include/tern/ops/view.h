// SPDX-License-Identifier: Apache-2.0
/// @file
/// Views: they share memory with `t`, and gradients flow through.
///
///     tern_tensor *row = tern_select(x, 0, 3), *columns = tern_slice(x, 1, 0, -1, 2);
///
/// Each returns a temporary of the innermost scope, or NULL with a pending error. Threads: any,
/// each tensor used by one at a time.
#ifndef TERN_OPS_VIEW_H
#define TERN_OPS_VIEW_H

#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// The same elements in another shape; one size may be -1. A view where the strides allow, else a
/// contiguous copy.
TERN_API TERN_NODISCARD tern_tensor *tern_reshape(tern_tensor *t, tern_shape shape);
/// Like tern_reshape, but TERN_ERR_SHAPE where only a copy would do.
TERN_API TERN_NODISCARD tern_tensor *tern_view(tern_tensor *t, tern_shape shape);
/// Joins dimensions first ... last, both included, into one.
TERN_API TERN_NODISCARD tern_tensor *tern_flatten(tern_tensor *t, int first, int last);
/// Cuts dimension dim into the sizes of `shape`, of which one may be -1 and whose product must be
/// its size (TERN_ERR_SHAPE); always a view.
TERN_API TERN_NODISCARD tern_tensor *tern_unflatten(tern_tensor *t, int dim, tern_shape shape);
/// Dimensions a and b change places.
TERN_API TERN_NODISCARD tern_tensor *tern_transpose(tern_tensor *t, int a, int b);
/// Dimension i of the result is dimension axes[i] of t.
TERN_API TERN_NODISCARD tern_tensor *tern_permute(tern_tensor *t, tern_axis_list axes);
/// Elements start ... start + length - 1 of one dimension.
TERN_API TERN_NODISCARD tern_tensor *tern_narrow(tern_tensor *t, int dim, int64_t start,
                                                 int64_t length);
/// Elements start, start + step, ... before end; negative start and end count from the end and are
/// cut to the size as in Python; step > 0. INT64_MAX as end means "to the end".
TERN_API TERN_NODISCARD tern_tensor *tern_slice(tern_tensor *t, int dim, int64_t start, int64_t end,
                                                int64_t step);
/// One index of a dimension, which goes away.
TERN_API TERN_NODISCARD tern_tensor *tern_select(tern_tensor *t, int dim, int64_t index);
/// Repeats dimensions of size 1 (and new leading ones) without copying; -1 keeps a size.
TERN_API TERN_NODISCARD tern_tensor *tern_expand(tern_tensor *t, tern_shape shape);
/// Removes dimension `dim` when its size is 1, else changes nothing.
TERN_API TERN_NODISCARD tern_tensor *tern_squeeze(tern_tensor *t, int dim);
/// Inserts a dimension of size 1 before dimension `dim` (of the result).
TERN_API TERN_NODISCARD tern_tensor *tern_unsqueeze(tern_tensor *t, int dim);
/// The same memory without history: gradients do not flow through.
TERN_API TERN_NODISCARD tern_tensor *tern_detach(tern_tensor *t);

TERN_END_DECLS

#endif
