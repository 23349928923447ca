// SPDX-License-Identifier: Apache-2.0
// Running sum along a dimension.
#include "ops/launch.h"

static tern_status launch(tern_tensor *y, const tern_tensor *x, int dim, bool reverse)
{
    if (y->numel == 0)
        return TERN_OK;
    tern_strided yv = tern_view_with_dim(y), xv = tern_view_with_dim(x);
    tern_device device = tern_dev(y);
    tern_exec exec = tern_exec_of(device);
    return tern_kernels_of(device)->cumsum(&exec, &yv, &xv, dim, reverse);
}

// An element is part of every later sum: dx is the running sum of dy from the end.
static tern_status cumsum_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    dx[0] = tern_node_grad_new(node, 0);
    return dx[0] ? launch(dx[0], dy[0], (int)tern_node_attrs(node)->i[0], true) : tern_failed();
}

tern_tensor *tern_cumsum(tern_tensor *x, int dim)
{
    static const tern_op cumsum = {"cumsum", {"x"}, cumsum_backward};
    tern_op_call call = {.op = &cumsum, .count = 1, .in = {x}};
    if (tern_op_begin(&call, TERN_OP_PLAIN) || tern_check_dim("cumsum", call.in[0]->rank, &dim))
        return NULL;
    tern_dtype dtype = tern_dtype_is_floating(call.dtype) ? call.dtype : TERN_INT64;
    tern_tensor *terms = tern_to_dtype(call.in[0], dtype);
    tern_tensor *y = tern_tensor_new("cumsum", dtype, call.device, call.shape);
    if (!terms || !y || launch(y, terms, dim, false))
        return NULL;
    call.attrs.i[0] = dim;
    return tern_op_end(&call, y, NULL, 0);
}
