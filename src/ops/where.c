// SPDX-License-Identifier: Apache-2.0
// Choosing between two values element by element.
#include "ops/alias.h"
#include "ops/launch.h"

// y = condition ? a : b; all broadcast to y's shape.
static tern_status launch(tern_tensor *y, const tern_tensor *condition, const tern_tensor *a,
                          const tern_tensor *b)
{
    if (y->numel == 0)
        return TERN_OK;
    tern_shape shape = tern_shape_get(y);
    tern_strided yv = tern_view_of(y), cv = tern_view_expand(tern_view_of(condition), shape);
    tern_strided av = tern_view_expand(tern_view_of(a), shape);
    tern_strided bv = tern_view_expand(tern_view_of(b), shape);
    tern_views_coalesce((tern_strided *const[]){&yv, &cv, &av, &bv}, 4);
    tern_device device = tern_dev(y);
    tern_exec exec = tern_exec_of(device);
    return tern_kernels_of(device)->where(&exec, &yv, &cv, &av, &bv);
}

static tern_status where_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *condition = tern_node_saved(node, 0);
    tern_tensor *zero = tern_new_zeros(dy[0], (tern_shape){0});
    for (int i = 1; i <= 2; i++) {
        if (!tern_node_needs(node, i))
            continue;
        tern_tensor *part = tern_empty_like(dy[0]);
        if (!zero || !part)
            return tern_failed();
        TERN_TRY(launch(part, condition, i == 1 ? dy[0] : zero, i == 1 ? zero : dy[0]));
        dx[i] = tern_sum_to(part, tern_node_input_shape(node, i));
        if (!dx[i])
            return tern_failed();
    }
    return TERN_OK;
}

tern_tensor *tern_where(tern_tensor *condition, tern_tensor *a, tern_tensor *b)
{
    static const tern_op where = {"where", {"condition", "a", "b"}, where_backward};
    static const tern_op values = {"where", {"a", "b"}, NULL};
    tern_op_call call = {.op = &where, .count = 3, .in = {condition, a, b}};
    if (tern_op_begin(&call, TERN_OP_BROADCAST))
        return NULL;
    TERN_CHECK_PTR(call.in[0]->dtype == TERN_BOOL, TERN_ERR_DTYPE,
                   "where: condition is %s, not bool (tern_ne_scalar makes one)",
                   tern_tensor_string(call.in[0]));
    tern_op_call pair = {.op = &values, .count = 2, .in = {call.in[1], call.in[2]}};
    if (tern_op_begin(&pair, TERN_OP_BROADCAST | TERN_OP_PROMOTE))
        return NULL;
    call.in[1] = pair.in[0];
    call.in[2] = pair.in[1];
    tern_tensor *y = tern_tensor_new("where", pair.dtype, call.device, call.shape);
    if (!y || launch(y, call.in[0], call.in[1], call.in[2]))
        return NULL;
    return tern_op_end(&call, y, call.in, 1);
}

static tern_status masked_fill_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    dx[0] = tern_masked_fill(dy[0], tern_node_saved(node, 0), 0);
    return dx[0] ? TERN_OK : tern_failed();
}

static tern_status check_mask(const tern_op_call *call)
{
    const tern_tensor *x = call->in[0], *mask = call->in[1];
    TERN_CHECK(mask->dtype == TERN_BOOL, TERN_ERR_DTYPE,
               "masked_fill: mask is %s, not bool (tern_ne_scalar makes one)",
               tern_tensor_string(mask));
    TERN_CHECK(tern_shape_equal(call->shape, tern_shape_get(x)), TERN_ERR_SHAPE,
               "masked_fill: mask %s does not broadcast to x %s",
               tern_shape_string(tern_shape_get(mask)), tern_shape_string(tern_shape_get(x)));
    return TERN_OK;
}

tern_tensor *(tern_masked_fill)(tern_tensor *x, tern_tensor *mask, tern_scalar value)
{
    static const tern_op masked_fill = {"masked_fill", {"x", "mask"}, masked_fill_backward};
    tern_op_call call = {.op = &masked_fill, .count = 2, .in = {x, mask}};
    if (tern_op_begin(&call, TERN_OP_BROADCAST) || check_mask(&call) ||
        tern_check_integral("masked_fill", "value", value, call.in[0]->dtype))
        return NULL;
    tern_tensor *fill = tern_new_full(call.in[0], (tern_shape){0}, value);
    tern_tensor *y = tern_tensor_new("masked_fill", call.in[0]->dtype, call.device, call.shape);
    if (!fill || !y || launch(y, call.in[1], fill, call.in[0]))
        return NULL;
    return tern_op_end(&call, y, &call.in[1], 1);
}
