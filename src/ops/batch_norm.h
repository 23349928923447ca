// SPDX-License-Identifier: Apache-2.0
// Normalisation of channels, for batch norm, and for instance norm by running statistics.
#ifndef TERN_SRC_OPS_BATCH_NORM_H
#define TERN_SRC_OPS_BATCH_NORM_H

#include "ops/row_norm.h"

// The caller sets the numbers and the running statistics, the rest is made.
typedef struct tern_batch_norm {
    bool batch, relu; // as in kernels.h
    double momentum, eps;
    tern_tensor *running_mean, *running_var, *batches; // NULL: there are none
    tern_shape shape;                                  // (N, C, S)
    tern_tensor *x, *weight, *bias;                    // contiguous; the last two may be NULL
    tern_tensor *mean, *rstd;                          // (C)
    tern_tensor *y;
} tern_batch_norm;

// y, recorded, of a call that tern_affine_begin began; NULL on failure, and then the running
// statistics are as they were.
tern_tensor *tern_batch_norm_run(tern_op_call *call, tern_batch_norm *norm);
tern_op_backward tern_batch_norm_backward;

// Both running statistics or none; `needed`: none is an error. They can be changed in place.
tern_status tern_batch_norm_check_running(const tern_op_call *call, tern_tensor *mean,
                                          tern_tensor *var, bool needed);

#endif
