// SPDX-License-Identifier: Apache-2.0
// Normalisation of rows, with a weight and a bias of elements or channels.
#ifndef TERN_SRC_OPS_ROW_NORM_H
#define TERN_SRC_OPS_ROW_NORM_H

#include "ops/norm_affine.h"

// Sizes as in kernels.h; the caller sets those, eps and rms, the rest is made.
typedef struct tern_row_norm {
    int64_t rows, n, groups, inner;
    double eps;
    bool rms;
    tern_tensor *x, *weight, *bias; // contiguous; the last two may be NULL
    tern_tensor *mean, *rstd;       // (rows); mean: NULL for rms
    tern_tensor *y;
} tern_row_norm;

// y, recorded, of a call that tern_affine_begin began; NULL on failure.
tern_tensor *tern_row_norm_run(tern_op_call *call, tern_row_norm *norm);
tern_op_backward tern_row_norm_backward;

// 0 or more, and finite.
tern_status tern_norm_check_eps(const char *op, double eps);
// At least one size, none negative.
tern_status tern_norm_check_shape(const char *op, tern_shape shape);

#endif
