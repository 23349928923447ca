// SPDX-License-Identifier: Apache-2.0
// Choosing between two values element by element.
#include "ops/front.h"
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
    for (int i = 0; i < 2; i++) {
        if (!tern_node_needs(node, i))
            continue;
        tern_tensor *part = tern_empty_like(dy[0]);
        if (!zero || !part)
            return tern_failed();
        TERN_TRY(launch(part, condition, i ? zero : dy[0], i ? dy[0] : zero));
        dx[i] = tern_sum_to(part, tern_node_input_shape(node, i));
        if (!dx[i])
            return tern_failed();
    }
    return TERN_OK;
}

tern_tensor *tern_where(tern_tensor *condition, tern_tensor *a, tern_tensor *b)
{
    static const tern_node_class where = {"where", where_backward};
    tern_operands all = {
        .op = "where", .count = 3, .name = {"condition", "a", "b"}, .at = {condition, a, b}};
    if (tern_op_prepare(&all, TERN_PREPARE_BROADCAST))
        return NULL;
    TERN_CHECK_PTR(all.at[0]->dtype == TERN_BOOL, TERN_ERR_DTYPE,
                   "where: condition is %s, not bool (tern_ne_scalar makes one)",
                   tern_tensor_string(all.at[0]));
    tern_operands in = {
        .op = "where", .count = 2, .name = {"a", "b"}, .at = {all.at[1], all.at[2]}};
    if (tern_op_prepare(&in, TERN_PREPARE_BROADCAST | TERN_PREPARE_PROMOTE))
        return NULL;
    tern_tensor *y = tern_tensor_new("where", in.dtype, all.device, all.shape);
    if (!y || launch(y, all.at[0], in.at[0], in.at[1]))
        return NULL;
    return tern_record_op(&where, y, in.at, 2, &all.at[0], 1, NULL);
}

static tern_status masked_fill_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    dx[0] = tern_masked_fill(dy[0], tern_node_saved(node, 0), 0);
    return dx[0] ? TERN_OK : tern_failed();
}

static tern_status check_mask(const tern_operands *in)
{
    const tern_tensor *x = in->at[0], *mask = in->at[1];
    TERN_CHECK(mask->dtype == TERN_BOOL, TERN_ERR_DTYPE,
               "masked_fill: mask is %s, not bool (tern_ne_scalar makes one)",
               tern_tensor_string(mask));
    TERN_CHECK(tern_shape_equal(in->shape, tern_shape_get(x)), TERN_ERR_SHAPE,
               "masked_fill: mask %s does not broadcast to x %s",
               tern_shape_string(tern_shape_get(mask)), tern_shape_string(tern_shape_get(x)));
    return TERN_OK;
}

tern_tensor *(tern_masked_fill)(tern_tensor *x, tern_tensor *mask, tern_scalar value)
{
    static const tern_node_class masked_fill = {"masked_fill", masked_fill_backward};
    tern_operands in = {.op = "masked_fill", .count = 2, .name = {"x", "mask"}, .at = {x, mask}};
    if (tern_op_prepare(&in, TERN_PREPARE_BROADCAST) || check_mask(&in) ||
        tern_check_integral("masked_fill", "value", value, in.at[0]->dtype))
        return NULL;
    tern_tensor *fill = tern_new_full(in.at[0], (tern_shape){0}, value);
    tern_tensor *y = tern_tensor_new("masked_fill", in.at[0]->dtype, in.device, in.shape);
    if (!fill || !y || launch(y, in.at[1], fill, in.at[0]))
        return NULL;
    return tern_record_op(&masked_fill, y, in.at, 1, &in.at[1], 1, NULL);
}
