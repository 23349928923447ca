// SPDX-License-Identifier: Apache-2.0
// The one to three last dimensions of a tensor, and resampling them. Nothing here is recorded.
#ifndef TERN_SRC_OPS_RESAMPLE_H
#define TERN_SRC_OPS_RESAMPLE_H

#include "ops/launch.h"

// x as (R, D, H, W): the `dims` last dimensions of the shape, 1 before them where there are fewer.
static inline tern_shape tern_planes_of(tern_shape shape, int dims)
{
    tern_shape planes = {4, {1, 1, 1, 1}};
    for (int i = 0; i < shape.rank; i++) {
        int from_end = shape.rank - i;
        planes.dim[from_end <= dims ? 4 - from_end : 0] *= shape.dim[i];
    }
    return planes;
}

// A dimension that stays as it is.
static inline tern_resample_dim tern_resample_same(int64_t size)
{
    return (tern_resample_dim){.kind = TERN_RESAMPLE_SAME, .in = size, .out = size};
}

// y (contiguous) from x along the `dims` last dimensions; those that the arguments leave out, with
// `in` 0, stay.
tern_status tern_launch_resample(const tern_resample_args *args, int dims, tern_tensor *y,
                                 tern_tensor *x);
tern_status tern_launch_resample_grad(const tern_resample_args *args, int dims, tern_tensor *dx,
                                      tern_tensor *dy);

#endif
