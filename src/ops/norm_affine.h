// SPDX-License-Identifier: Apache-2.0
// What the fronts of normalisations share: x with a weight and a bias that may be left out.
#ifndef TERN_SRC_OPS_NORM_AFFINE_H
#define TERN_SRC_OPS_NORM_AFFINE_H

#include "ops/launch.h"

enum { AFFINE_X, AFFINE_WEIGHT, AFFINE_BIAS, AFFINE_INPUTS };

// tern_op_begin for x, weight and bias, of which the last two may be NULL. They have x's dtype, or
// float32 where x is float16 or bfloat16.
tern_status tern_affine_begin(tern_op_call *call);
// The dtype of another tensor that goes with x.
tern_status tern_affine_check_dtype(const char *op, const tern_tensor *x, const char *name,
                                    const tern_tensor *t);
// weight and bias, where they are there, have that shape; `because` ends the sentence.
tern_status tern_affine_check_shape(const tern_op_call *call, tern_shape shape,
                                    const char *because);
// The shape of a tensor of so many elements in one dimension.
static inline tern_shape tern_affine_row(int64_t count)
{
    return tern_shape_make(1, &count);
}

// The dtype of statistics of x.
static inline tern_dtype tern_affine_exact(tern_dtype dtype)
{
    return dtype == TERN_FLOAT64 ? TERN_FLOAT64 : TERN_FLOAT32;
}

// Gradients of a node whose first inputs are x, weight and bias: tensors where they are needed, and
// the views of them for a kernel. x is viewed in `shape`.
typedef struct tern_affine_grads {
    tern_strided view[AFFINE_INPUTS];
    tern_norm_grads views;
} tern_affine_grads;
tern_status tern_affine_grads_make(tern_node *node, tern_shape shape, tern_tensor **dx,
                                   tern_affine_grads *grads);

#endif
