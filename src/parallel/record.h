// SPDX-License-Identifier: Apache-2.0
// Parameters' way to another device, recorded: their gradients come back in one copy.
#ifndef TERN_SRC_PARALLEL_RECORD_H
#define TERN_SRC_PARALLEL_RECORD_H

#include "tensor/tensor.h"

// Tensors begin at multiples of so many bytes in what is copied at once.
#define TERN_FLAT_ALIGN 256

static inline int64_t tern_flat_bytes(int64_t nbytes)
{
    return (nbytes + TERN_FLAT_ALIGN - 1) / TERN_FLAT_ALIGN * TERN_FLAT_ALIGN;
}

// Makes replicas[i] results of parameters[i], which are on one other device: one node for all of
// those that require gradients. Nothing where recording is off.
tern_status tern_replicas_record(tern_tensor *const *parameters, tern_tensor *const *replicas,
                                 int64_t count);

#endif
