// SPDX-License-Identifier: Apache-2.0
// Dropout: the mask is never stored, only the number of the draw that it came from.
#include "device/draws.h"
#include "ops/launch.h"

static tern_status launch(tern_dropout_args args, tern_tensor *id, tern_tensor *y,
                          const tern_tensor *x)
{
    if (y->numel == 0)
        return TERN_OK;
    tern_strided yv = tern_view_flat(y), xv = tern_view_flat(x);
    tern_device device = tern_dev(y);
    tern_exec exec = tern_exec_of(device);
    args.id = tern_view_of(id).data;
    return tern_kernels_of(device)->dropout(&exec, &args, &yv, &xv);
}

// The same mask and scale on dy.
static tern_status dropout_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *dense = tern_make_contiguous(dy[0]);
    dx[0] = tern_empty_like(dy[0]);
    if (!dense || !dx[0])
        return tern_failed();
    const tern_dropout_args args = {.p = tern_node_attrs(node)->d[0], .replay = true};
    return launch(args, tern_node_saved(node, 0), dx[0], dense);
}

tern_tensor *tern_dropout(tern_tensor *x, double p, bool training)
{
    static const tern_op dropout = {"dropout", {"x"}, dropout_backward};
    tern_op_call call = {.op = &dropout, .count = 1, .in = {x}, .attrs.d = {p}};
    if (tern_op_begin(&call, TERN_OP_ONLY_FLOATING))
        return NULL;
    TERN_CHECK_PTR(p >= 0 && p <= 1, TERN_ERR_ARG, "dropout: p is %g, but is a probability", p);
    if (!training)
        return x;
    tern_tensor *dense = tern_make_contiguous(call.in[0]);
    tern_tensor *y = tern_tensor_new("dropout", call.dtype, call.device, call.shape);
    tern_tensor *id = tern_tensor_new("dropout", TERN_INT64, call.device, (tern_shape){0});
    if (!dense || !y || !id)
        return NULL;
    const tern_dropout_args args = {.p = p, .offset = tern_draw_next(call.device)};
    if (launch(args, id, y, dense))
        return NULL;
    return tern_op_end(&call, y, &id, 1);
}
