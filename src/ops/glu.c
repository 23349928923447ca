// SPDX-License-Identifier: Apache-2.0
// Gated linear units: the first half along a dimension times the sigmoid of the second (Dauphin et
// al. 2017).
#include "ops/launch.h"

// One of the halves, not recorded.
static tern_tensor *half_of(tern_tensor *x, int dim, int which)
{
    tern_shape shape = tern_shape_get(x);
    shape.dim[dim] /= 2;
    const int64_t offset = x->offset + which * shape.dim[dim] * x->stride[dim];
    return tern_tensor_alias("glu", x, shape, x->stride, offset);
}

static tern_status glu_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *x = tern_node_saved(node, 0);
    const int dim = (int)tern_node_attrs(node)->i[0];
    dx[0] = tern_node_grad_new(node, 0);
    if (!dx[0])
        return tern_failed();
    tern_tensor *a = half_of(x, dim, 0), *b = half_of(x, dim, 1);
    tern_tensor *da = half_of(dx[0], dim, 0), *db = half_of(dx[0], dim, 1);
    if (!a || !b || !da || !db)
        return tern_failed();
    return tern_launch_binary_grad(TERN_BINARY_GLU, (tern_tensor *const[]){da, db}, dy[0], a, b);
}

static tern_tensor *glu(tern_tensor *x, int dim)
{
    static const tern_op op = {"glu", {"x"}, glu_backward};
    tern_op_call call = {.op = &op, .count = 1, .in = {x}};
    if (tern_op_begin(&call, TERN_OP_ONLY_FLOATING))
        return NULL;
    TERN_CHECK_PTR(x->rank > 0, TERN_ERR_SHAPE, "glu: x is %s, and has no dimension to halve",
                   tern_tensor_string(x));
    if (tern_check_dim("glu", x->rank, &dim))
        return NULL;
    TERN_CHECK_PTR(x->size[dim] % 2 == 0, TERN_ERR_SHAPE,
                   "glu: dim %d of x %s has %lld elements, but must have an even number to be "
                   "halved",
                   dim, tern_tensor_string(x), (long long)x->size[dim]);
    call.shape.dim[dim] /= 2;
    call.attrs.i[0] = dim;
    tern_tensor *a = half_of(call.in[0], dim, 0), *b = half_of(call.in[0], dim, 1);
    tern_tensor *y = tern_tensor_new("glu", call.dtype, call.device, call.shape);
    if (!a || !b || !y || tern_launch_binary(TERN_BINARY_GLU, 1, y, a, b))
        return NULL;
    return tern_op_end(&call, y, call.in, 1);
}

TERN_WITH_OPTIONS_OF(glu, glu, o->dim)
