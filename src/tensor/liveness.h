// SPDX-License-Identifier: Apache-2.0
// Tensors that died are found and named.
#ifndef TERN_SRC_TENSOR_LIVENESS_H
#define TERN_SRC_TENSOR_LIVENESS_H

#include "base/process.h"
#include "tensor/tensor.h"

// What is wrong with a tensor, if anything is: raises that.
tern_status tern_tensor_error(const char *op, const char *name, const tern_tensor *t);

// NULL follows the rule of pending errors; a dead tensor is TERN_ERR_STATE and named, and a forked
// child may not use any.
static inline tern_status tern_check_tensor(const char *op, const char *name, const tern_tensor *t)
{
    const bool fine = t && t->stamp == TERN_STAMP_ALIVE && tern_in_use();
    return fine ? TERN_OK : tern_tensor_error(op, name, t);
}

#endif
