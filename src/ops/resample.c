// SPDX-License-Identifier: Apache-2.0
#include "ops/resample.h"

// `big` is the side that the kernel reads.
static tern_status launch(tern_kernel_resample *kernel, const tern_resample_args *args, int dims,
                          tern_tensor *to, tern_tensor *from)
{
    tern_tensor *dense = tern_make_contiguous(from);
    if (!dense)
        return tern_failed();
    tern_strided result = tern_view_shaped(to, tern_planes_of(tern_shape_get(to), dims));
    tern_strided source = tern_view_shaped(dense, tern_planes_of(tern_shape_get(from), dims));
    tern_exec exec = tern_exec_of(tern_dev(to));
    return kernel(&exec, args, &result, &source);
}

tern_status tern_launch_resample(const tern_resample_args *args, int dims, tern_tensor *y,
                                 tern_tensor *x)
{
    return launch(tern_kernels_of(tern_dev(y))->resample, args, dims, y, x);
}

tern_status tern_launch_resample_grad(const tern_resample_args *args, int dims, tern_tensor *dx,
                                      tern_tensor *dy)
{
    return launch(tern_kernels_of(tern_dev(dx))->resample_grad, args, dims, dx, dy);
}
