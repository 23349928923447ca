// SPDX-License-Identifier: Apache-2.0
/// @file
/// Elements in order along a dimension.
///
///     tern_tensor *places, *sorted = tern_sort(scores, -1, true, &places); // best first
///     tern_tensor *five = tern_topk(logits, 5, -1, true, &classes);        // (N, 5)
///
/// A NaN is above every number, -0 equals 0, and equal elements keep their order, whether the order
/// ascends or descends: results are the same on every device. Every dtype is taken; a 0-dim tensor
/// is one element. Values have x's dtype and indices are int64; both are new temporaries of the
/// innermost scope. The gradient of a value goes to the element that it is. Failures return NULL
/// with a pending error; nothing waits for a device. Threads: any, each tensor used by one at a
/// time.
#ifndef TERN_OPS_SORT_H
#define TERN_OPS_SORT_H

#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// The elements along one dimension in ascending order, or from the largest down if `descending`.
/// `*indices`, shaped as the result, says where each was; NULL to leave them out.
TERN_API TERN_NODISCARD tern_tensor *tern_sort(tern_tensor *x, int dim, bool descending,
                                               tern_tensor **indices);
/// The indices of tern_sort; not differentiable.
TERN_API TERN_NODISCARD tern_tensor *tern_argsort(tern_tensor *x, int dim, bool descending);
/// The k largest elements along one dimension, the largest first, or the k smallest, the smallest
/// first; of equal ones those of the lowest index, in that order. `*indices` as in tern_sort. A k
/// below 0 or above the elements there are is TERN_ERR_ARG; 0 gives a dimension of size 0.
TERN_API TERN_NODISCARD tern_tensor *tern_topk(tern_tensor *x, int64_t k, int dim, bool largest,
                                               tern_tensor **indices);

TERN_END_DECLS

#endif
