// SPDX-License-Identifier: Apache-2.0
/// @file
/// Joining tensors, and taking them apart; gradients flow through.
///
///     tern_tensor *both = tern_cat((tern_tensor *[]){a, b}, 2, 0);
///
/// Joined tensors are temporaries of the innermost scope, as are the pieces; failures leave an
/// error pending and return NULL or a status. Threads: any, each tensor used by one at a time.
#ifndef TERN_OPS_JOIN_H
#define TERN_OPS_JOIN_H

#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// Joins tensors along a dimension; they agree in all others, in dtype and device. count >= 1.
TERN_API TERN_NODISCARD tern_tensor *tern_cat(tern_tensor *const *tensors, int64_t count, int dim)
    TERN_READS_(1, 2);
/// Joins tensors of one shape along a new dimension.
TERN_API TERN_NODISCARD tern_tensor *tern_stack(tern_tensor *const *tensors, int64_t count, int dim)
    TERN_READS_(1, 2);
/// Views of `size` elements along a dimension (the last may be shorter), at most `capacity`, into
/// `out`; `*count` says how many. More than `capacity` is TERN_ERR_ARG and writes nothing.
TERN_API TERN_NODISCARD tern_status tern_split(tern_tensor *t, int64_t size, int dim,
                                               tern_tensor **out, int64_t capacity, int64_t *count);
/// Like tern_split, into at most `chunks` pieces of ceil(size / chunks).
TERN_API TERN_NODISCARD tern_status tern_chunk(tern_tensor *t, int64_t chunks, int dim,
                                               tern_tensor **out, int64_t capacity, int64_t *count);

TERN_END_DECLS

#endif
