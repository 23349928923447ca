// SPDX-License-Identifier: Apache-2.0
// Tensor headers: allocated in blocks, stamped when their tensor dies, reused through a free list
// that is first in, first out, so that a dead tensor can be named for a while.
#ifndef TERN_SRC_TENSOR_HEADER_H
#define TERN_SRC_TENSOR_HEADER_H

#include "base/one_thread.h"
#include "tensor/tensor.h"

// An alive header with one reference (the caller's), no storage, in no scope. NULL raises.
tern_tensor *tern_header_new(const char *op);

// An alias as tern_tensor_alias makes it, but held by the caller and in no scope.
tern_tensor *tern_header_alias(const char *op, const tern_tensor *base, tern_shape shape,
                               const int64_t *stride, int64_t offset);

// A tensor with sizes, strides, dtype and label of `from` over a storage that is laid out as its
// own, which it holds; no history, a leaf. Held by the caller and in no scope. NULL raises.
tern_tensor *tern_header_over(const char *op, const tern_tensor *from, tern_storage *storage);

// When the last reference is gone.
void tern_tensor_die(tern_tensor *t);

// Internal holds; unlike tern_retain and tern_release they are not the user's. All take NULL.
static inline tern_tensor *tern_tensor_retain(tern_tensor *t)
{
    if (t)
        tern_refs_retain(&t->refs);
    return t;
}

static inline void tern_tensor_release(tern_tensor *t)
{
    if (t && tern_refs_release(&t->refs))
        tern_tensor_die(t);
}

// tern_tensor_release by an owner that the user knows; `stamp` says what the tensor died of, if it
// does (TERN_STAMP_...).
static inline void tern_tensor_release_as(tern_tensor *t, uint32_t stamp)
{
    if (t)
        atomic_store_explicit(&t->last_stamp, stamp, memory_order_relaxed);
    tern_tensor_release(t);
}

// Sets sizes, row-major strides, numel and contiguity.
void tern_header_shape(tern_tensor *t, tern_shape shape);

// Storage for the elements of `t`, whose sizes and dtype are set, on `device`; pinned: of the host,
// page-locked. NULL raises, for `op`.
tern_storage *tern_header_storage(const char *op, const tern_tensor *t, tern_device device,
                                  bool pinned);

// Frees the blocks, unless a tensor is alive.
void tern_header_shutdown(void);

#endif
