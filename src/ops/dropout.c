// SPDX-License-Identifier: Apache-2.0
// Dropout: the mask is never stored, only the number of the draw that it came from.
#include <math.h>

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
    args.id = tern_view_data(id);
    return tern_kernels_of(device)->dropout(&exec, &args, &yv, &xv);
}

// The same mask and scale on dy; what was added has no part in it.
static tern_status dropout_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    tern_tensor *dense = tern_make_contiguous(dy[0]);
    dx[0] = tern_node_grad_new(node, 0);
    if (!dense || !dx[0])
        return tern_failed();
    const tern_dropout_args args = {.p = attrs->d[0],
                                    .scale = attrs->d[1],
                                    .shift = -0.0,
                                    .inner = attrs->i[0],
                                    .replay = true};
    return launch(args, tern_node_saved(node, 0), dx[0], dense);
}

static tern_status check(tern_op_call *call, double p)
{
    TERN_TRY(tern_op_begin(call, TERN_OP_ONLY_FLOATING));
    TERN_CHECK(p >= 0 && p <= 1, TERN_ERR_ARG, "%s: p is %g, but is a probability", call->op->name,
               p);
    return TERN_OK;
}

static tern_tensor *run(tern_op_call *call, tern_dropout_args args)
{
    const char *name = call->op->name;
    tern_tensor *dense = tern_make_contiguous(call->in[0]);
    tern_tensor *y = tern_tensor_new(name, call->dtype, call->device, call->shape);
    tern_tensor *id = tern_tensor_new(name, TERN_INT64, call->device, (tern_shape){0});
    if (!dense || !y || !id)
        return NULL;
    args.offset = tern_draw_next(call->device);
    if (launch(args, id, y, dense))
        return NULL;
    call->attrs.d[0] = args.p;
    call->attrs.d[1] = args.scale;
    call->attrs.i[0] = args.inner;
    return tern_op_end(call, y, &id, 1);
}

// Zeroes and scales, one draw for `inner` elements.
static tern_dropout_args zeroing(double p, int64_t inner)
{
    return (tern_dropout_args){
        .p = p, .scale = p < 1 ? 1 / (1 - p) : 0, .shift = -0.0, .inner = inner};
}

tern_tensor *tern_dropout(tern_tensor *x, double p, bool training)
{
    static const tern_op dropout = {"dropout", {"x"}, dropout_backward};
    tern_op_call call = {.op = &dropout, .count = 1, .in = {x}};
    if (check(&call, p))
        return NULL;
    return training ? run(&call, zeroing(p, 1)) : x;
}

// ---- whole channels -----------------------------------------------------------------------------

// Of inputs with `space` dimensions behind the channels.
typedef struct channel_function {
    tern_op op;
    int space;
    bool unbatched; // may also come without N
} channel_function;

static tern_status check_rank(const channel_function *function, const tern_tensor *x)
{
    static const char *const forms[] = {"(N, C, L) or (C, L)", "(N, C, H, W)",
                                        "(N, C, D, H, W) or (C, D, H, W)"};
    const int batched = function->space + 2, other = x->rank - 2;
    if (x->rank == batched || (function->unbatched && x->rank == batched - 1))
        return TERN_OK;
    const char *name = function->op.name, *form = forms[function->space - 1];
    TERN_CHECK(other >= 1 && other <= 3, TERN_ERR_SHAPE,
               "%s: x is %s, but must be %s; tern_dropout drops single elements", name,
               tern_tensor_string(x), form);
    return tern_error_raise(TERN_ERR_SHAPE,
                            "%s: x is %s, but must be %s; tern_dropout%dd is for %s", name,
                            tern_tensor_string(x), form, other, forms[other - 1]);
}

static tern_tensor *drop_channels(const channel_function *function, tern_tensor *x, double p,
                                  bool training)
{
    tern_op_call call = {.op = &function->op, .count = 1, .in = {x}};
    if (check(&call, p) || check_rank(function, call.in[0]))
        return NULL;
    if (!training)
        return x;
    int64_t inner = 1;
    for (int i = 0; i < function->space; i++)
        inner *= x->size[x->rank - 1 - i];
    return run(&call, zeroing(p, inner > 0 ? inner : 1));
}

tern_tensor *tern_dropout1d(tern_tensor *x, double p, bool training)
{
    static const channel_function function = {{"dropout1d", {"x"}, dropout_backward}, 1, true};
    return drop_channels(&function, x, p, training);
}

tern_tensor *tern_dropout2d(tern_tensor *x, double p, bool training)
{
    static const channel_function function = {{"dropout2d", {"x"}, dropout_backward}, 2, false};
    return drop_channels(&function, x, p, training);
}

tern_tensor *tern_dropout3d(tern_tensor *x, double p, bool training)
{
    static const channel_function function = {{"dropout3d", {"x"}, dropout_backward}, 3, true};
    return drop_channels(&function, x, p, training);
}

// ---- for SELU -----------------------------------------------------------------------------------

// Dropped elements become the limit of SELU at -infinity; then all are scaled and shifted, so that
// mean and variance stay.
tern_tensor *tern_alpha_dropout(tern_tensor *x, double p, bool training)
{
    static const tern_op alpha_dropout = {"alpha_dropout", {"x"}, dropout_backward};
    const double limit = -1.7580993408473766;
    tern_op_call call = {.op = &alpha_dropout, .count = 1, .in = {x}};
    if (check(&call, p))
        return NULL;
    if (!training)
        return x;
    if (p == 1)
        return run(&call, zeroing(p, 1));
    const double scale = 1 / sqrt((limit * limit * p + 1) * (1 - p));
    const double shift = -scale * limit * p;
    return run(
        &call,
        (tern_dropout_args){
            .p = p, .scale = scale, .shift = shift, .dropped = scale * limit + shift, .inner = 1});
}
