// SPDX-License-Identifier: Apache-2.0
// Dimensions and shapes of operands.
#ifndef TERN_SRC_TENSOR_SHAPE_H
#define TERN_SRC_TENSOR_SHAPE_H

#include "tensor/tensor.h"

// Makes a dim of 0 ... rank - 1 out of one that may be negative. rank 0 counts as 1.
tern_status tern_check_dim(const char *op, int rank, int *dim);

tern_status tern_broadcast_shapes(const char *op, const char *a_name, tern_shape a,
                                  const char *b_name, tern_shape b, tern_shape *out);

#endif
