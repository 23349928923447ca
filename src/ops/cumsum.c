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
    dx[0] = tern_empty_like(dy[0]);
    return dx[0] ? launch(dx[0], dy[0], (int)tern_node_data_of(node)->i[0], true) : tern_failed();
}

tern_tensor *tern_cumsum(tern_tensor *x, int dim)
{
    static const tern_node_class cumsum = {"cumsum", cumsum_backward};
    tern_operands in = {.op = "cumsum", .count = 1, .name = {"x"}, .at = {x}};
    if (tern_op_prepare(&in, TERN_PREPARE_PLAIN) || tern_check_dim("cumsum", in.at[0]->rank, &dim))
        return NULL;
    tern_dtype dtype = tern_dtype_is_floating(in.dtype) ? in.dtype : TERN_INT64;
    tern_tensor *terms = tern_to_dtype(in.at[0], dtype);
    tern_tensor *y = tern_tensor_new("cumsum", dtype, in.device, in.shape);
    if (!terms || !y || launch(y, terms, dim, false))
        return NULL;
    tern_node_data data = {.i = {dim}};
    return tern_record_op(&cumsum, y, in.at, 1, NULL, 0, &data);
}
