// SPDX-License-Identifier: Apache-2.0
// Tensors as kernels see them, and the launches of elementwise kernels.
#include "tensor/view.h"
#include "base/error.h"

tern_strided tern_view_expand(tern_strided view, tern_shape shape)
{
    tern_strided wide = {.data = view.data, .dtype = view.dtype, .rank = shape.rank};
    int added = shape.rank - view.rank;
    for (int i = 0; i < shape.rank; i++) {
        bool repeats = i < added || (view.size[i - added] == 1 && shape.dim[i] != 1);
        wide.size[i] = shape.dim[i];
        wide.stride[i] = repeats ? 0 : view.stride[i - added];
    }
    return wide;
}

tern_status tern_launch_copy(tern_tensor *y, const tern_tensor *x)
{
    tern_exec exec = tern_exec_of(tern_dev(y));
    tern_strided vy = tern_view_of(y);
    tern_strided vx = tern_view_expand(tern_view_of(x), tern_shape_get(y));
    tern_views_coalesce((tern_strided *const[]){&vy, &vx}, 2);
    return tern_kernels_of(exec.device)->copy(&exec, &vy, &vx);
}

tern_status(tern_launch_unary)(tern_unary_op op, tern_scalar p0, tern_scalar p1, tern_tensor *y,
                               const tern_tensor *x)
{
    tern_exec exec = tern_exec_of(tern_dev(y));
    tern_strided vy = tern_view_of(y);
    tern_strided vx = tern_view_expand(tern_view_of(x), tern_shape_get(y));
    tern_views_coalesce((tern_strided *const[]){&vy, &vx}, 2);
    return tern_kernels_of(exec.device)->unary(&exec, op, (const tern_scalar[]){p0, p1}, &vy, &vx);
}

tern_status tern_launch_binary(tern_binary_op op, double alpha, tern_tensor *y,
                               const tern_tensor *a, const tern_tensor *b)
{
    tern_exec exec = tern_exec_of(tern_dev(y));
    tern_shape shape = tern_shape_get(y);
    tern_strided vy = tern_view_of(y);
    tern_strided va = tern_view_expand(tern_view_of(a), shape);
    tern_strided vb = tern_view_expand(tern_view_of(b), shape);
    tern_views_coalesce((tern_strided *const[]){&vy, &va, &vb}, 3);
    return tern_kernels_of(exec.device)->binary(&exec, op, alpha, &vy, &va, &vb);
}

tern_status tern_launch_binary_grad(tern_binary_op op, tern_tensor *const dx[2],
                                    const tern_tensor *dy, const tern_tensor *a,
                                    const tern_tensor *b)
{
    tern_exec exec = tern_exec_of(tern_dev(dy));
    tern_strided vda = tern_view_of(dx[0]), vdb = tern_view_of(dx[1]), vdy = tern_view_of(dy);
    tern_strided va = tern_view_of(a), vb = tern_view_of(b);
    tern_views_coalesce((tern_strided *const[]){&vda, &vdb, &vdy, &va, &vb}, 5);
    return tern_kernels_of(exec.device)
        ->binary_grad(&exec, op, (const tern_strided *const[]){&vda, &vdb}, &vdy, &va, &vb);
}

tern_tensor *tern_make_contiguous(tern_tensor *t)
{
    if (t->contiguous)
        return t;
    tern_tensor *y = tern_tensor_new(t->op, t->dtype, tern_dev(t), tern_shape_get(t));
    return y && !tern_launch_copy(y, t) ? y : NULL;
}

tern_tensor *tern_copied(const tern_tensor *t)
{
    tern_tensor *y = tern_tensor_new("clone", t->dtype, tern_dev(t), tern_shape_get(t));
    return y && !tern_launch_copy(y, t) ? y : NULL;
}
