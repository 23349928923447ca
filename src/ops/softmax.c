// SPDX-License-Identifier: Apache-2.0
// softmax and its logarithm along a dimension.
#include "ops/launch.h"

// (outer, n, inner) around a dimension.
static tern_shape around(const tern_tensor *x, int dim)
{
    tern_shape shape = {3, {1, 1, 1}};
    for (int i = 0; i < x->rank; i++)
        shape.dim[i < dim ? 0 : i == dim ? 1 : 2] *= x->size[i];
    return shape;
}

static tern_status backward(bool log, tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *y = tern_node_saved(node, 0), *dense = tern_make_contiguous(dy[0]);
    dx[0] = tern_node_grad_new(node, 0);
    if (!dense || !dx[0])
        return tern_failed();
    if (y->numel == 0)
        return TERN_OK;
    tern_shape shape = around(y, (int)tern_node_attrs(node)->i[0]);
    tern_strided dxv = tern_view_shaped(dx[0], shape), dyv = tern_view_shaped(dense, shape);
    tern_strided yv = tern_view_shaped(y, shape);
    tern_device device = tern_dev(y);
    tern_exec exec = tern_exec_of(device);
    return tern_kernels_of(device)->softmax_grad(&exec, log, &dxv, &dyv, &yv);
}

// dx = y (dy - sum dy y)
static tern_status softmax_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    return backward(false, node, dy, dx);
}

// dx = dy - exp(y) sum dy
static tern_status log_softmax_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    return backward(true, node, dy, dx);
}

static tern_tensor *run(const tern_op *op, bool log, tern_tensor *x, int dim)
{
    const char *name = op->name;
    tern_op_call call = {.op = op, .count = 1, .in = {x}};
    if (tern_op_begin(&call, TERN_OP_ONLY_FLOATING) || tern_check_dim(name, call.in[0]->rank, &dim))
        return NULL;
    tern_tensor *dense = tern_make_contiguous(call.in[0]);
    tern_tensor *y = tern_tensor_new(name, call.dtype, call.device, call.shape);
    if (!dense || !y)
        return NULL;
    if (y->numel > 0) {
        tern_shape shape = around(y, dim);
        tern_strided yv = tern_view_shaped(y, shape), xv = tern_view_shaped(dense, shape);
        tern_exec exec = tern_exec_of(call.device);
        if (tern_kernels_of(call.device)->softmax(&exec, log, &yv, &xv))
            return NULL;
    }
    call.attrs.i[0] = dim;
    return tern_op_end(&call, y, &y, 1);
}

tern_tensor *tern_softmax(tern_tensor *x, int dim)
{
    static const tern_op softmax = {"softmax", {"x"}, softmax_backward};
    return run(&softmax, false, x, dim);
}

tern_tensor *tern_log_softmax(tern_tensor *x, int dim)
{
    static const tern_op log_softmax = {"log_softmax", {"x"}, log_softmax_backward};
    return run(&log_softmax, true, x, dim);
}
