// SPDX-License-Identifier: Apache-2.0
// The squared error: mean or sum of (input - target)^2, or each of them.
#include "ops/launch.h"

static tern_status mse_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *input = tern_node_saved(node, 0), *target = tern_node_saved(node, 1);
    tern_reduction reduction = (tern_reduction)tern_node_data_of(node)->i[0];
    tern_tensor *dense = tern_make_contiguous(dy[0]);
    if (!dense)
        return tern_failed();
    tern_device device = tern_dev(input);
    tern_strided xv = tern_view_flat(input), tv = tern_view_flat(target),
                 dyv = tern_view_flat(dense);
    for (int i = 0; i < 2; i++) {
        if (!tern_node_needs(node, i))
            continue;
        dx[i] = tern_empty_like(input);
        if (!dx[i])
            return tern_failed();
        tern_strided dxv = tern_view_flat(dx[i]);
        tern_exec exec = tern_exec_of(device);
        if (input->numel > 0)
            TERN_TRY(tern_kernels_of(device)->mse_grad(&exec, reduction, i ? -1 : 1, &dxv, &dyv,
                                                       &xv, &tv));
    }
    return TERN_OK;
}

static tern_status check(const tern_operands *in, tern_reduction reduction)
{
    tern_shape input = tern_shape_get(in->at[0]), target = tern_shape_get(in->at[1]);
    TERN_CHECK(reduction >= TERN_REDUCTION_UNSPECIFIED && reduction <= TERN_REDUCTION_NONE,
               TERN_ERR_ARG, "mse_loss: there is no reduction %d", (int)reduction);
    TERN_CHECK(
        tern_shape_equal(input, target), TERN_ERR_SHAPE,
        "mse_loss: input %s and target %s must have one shape (tern_reshape gives one that of "
        "the other)",
        tern_shape_string(input), tern_shape_string(target));
    return TERN_OK;
}

tern_tensor *tern_mse_loss(tern_tensor *input, tern_tensor *target, tern_reduction reduction)
{
    static const tern_node_class mse_loss = {"mse_loss", mse_backward};
    tern_operands in = {
        .op = "mse_loss", .count = 2, .name = {"input", "target"}, .at = {input, target}};
    if (tern_op_prepare(&in, TERN_PREPARE_SAME_DTYPE | TERN_PREPARE_ONLY_FLOATING) ||
        check(&in, reduction))
        return NULL;
    if (reduction == TERN_REDUCTION_UNSPECIFIED)
        reduction = TERN_REDUCTION_MEAN;
    tern_shape shape = reduction == TERN_REDUCTION_NONE ? in.shape : (tern_shape){0};
    tern_tensor *saved[] = {tern_make_contiguous(in.at[0]), tern_make_contiguous(in.at[1])};
    tern_tensor *loss = tern_tensor_new("mse_loss", in.dtype, in.device, shape);
    if (!saved[0] || !saved[1] || !loss)
        return NULL;
    tern_strided lv = tern_view_flat(loss), xv = tern_view_flat(saved[0]);
    tern_strided tv = tern_view_flat(saved[1]);
    tern_exec exec = tern_exec_of(in.device);
    if (tern_kernels_of(in.device)->mse(&exec, reduction, &lv, &xv, &tv))
        return NULL;
    tern_node_data data = {.i = {reduction}};
    return tern_record_op(&mse_loss, loss, in.at, 2, saved, 2, &data);
}
