// SPDX-License-Identifier: Apache-2.0
// The pointwise losses: a function of input and target element by element, then mean or sum of
// them, or each.
#include "ops/launch.h"

typedef struct loss_function {
    tern_op op;
    tern_loss_code code;
} loss_function;

static tern_loss_args args_of(tern_loss_code code, tern_reduction reduction,
                              const tern_tensor *input, const tern_tensor *target)
{
    return (tern_loss_args){.code = code,
                            .reduction = reduction,
                            .x = tern_view_flat(input),
                            .t = tern_view_flat(target)};
}

static tern_status loss_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    tern_tensor *input = tern_node_saved(node, 0), *target = tern_node_saved(node, 1);
    tern_tensor *dense = tern_make_contiguous(dy[0]);
    if (!dense)
        return tern_failed();
    tern_device device = tern_dev(input);
    tern_loss_args args =
        args_of((tern_loss_code)attrs->i[0], (tern_reduction)attrs->i[1], input, target);
    tern_strided dyv = tern_view_flat(dense);
    for (int i = 0; i < 2; i++) {
        if (!tern_node_needs(node, i))
            continue;
        dx[i] = tern_new_like(input);
        if (!dx[i])
            return tern_failed();
        tern_strided dxv = tern_view_flat(dx[i]);
        tern_exec exec = tern_exec_of(device);
        if (input->numel > 0)
            TERN_TRY(tern_kernels_of(device)->loss_grad(&exec, &args, i, &dxv, &dyv));
    }
    return TERN_OK;
}

static tern_status check(const tern_op_call *call, tern_reduction reduction)
{
    tern_shape input = tern_shape_get(call->in[0]), target = tern_shape_get(call->in[1]);
    TERN_CHECK(reduction >= TERN_REDUCTION_UNSPECIFIED && reduction <= TERN_REDUCTION_NONE,
               TERN_ERR_ARG, "%s: there is no reduction %d", call->op->name, (int)reduction);
    TERN_CHECK(tern_shape_equal(input, target), TERN_ERR_SHAPE,
               "%s: input %s and target %s must have one shape (tern_reshape gives one that of "
               "the other)",
               call->op->name, tern_shape_string(input), tern_shape_string(target));
    return TERN_OK;
}

static tern_tensor *run(const loss_function *function, tern_tensor *input, tern_tensor *target,
                        tern_reduction reduction)
{
    tern_op_call call = {.op = &function->op, .count = 2, .in = {input, target}};
    if (tern_op_begin(&call, TERN_OP_SAME_DTYPE | TERN_OP_ONLY_FLOATING) || check(&call, reduction))
        return NULL;
    if (reduction == TERN_REDUCTION_UNSPECIFIED)
        reduction = TERN_REDUCTION_MEAN;
    tern_shape shape = reduction == TERN_REDUCTION_NONE ? call.shape : (tern_shape){0};
    tern_tensor *saved[] = {tern_make_contiguous(call.in[0]), tern_make_contiguous(call.in[1])};
    tern_tensor *loss = tern_tensor_new(function->op.name, call.dtype, call.device, shape);
    if (!saved[0] || !saved[1] || !loss)
        return NULL;
    tern_loss_args args = args_of(function->code, reduction, saved[0], saved[1]);
    tern_strided lv = tern_view_flat(loss);
    tern_exec exec = tern_exec_of(call.device);
    if (tern_kernels_of(call.device)->loss(&exec, &args, &lv))
        return NULL;
    call.attrs.i[0] = function->code;
    call.attrs.i[1] = reduction;
    return tern_op_end(&call, loss, saved, 2);
}

tern_tensor *tern_mse_loss(tern_tensor *input, tern_tensor *target, tern_reduction reduction)
{
    static const loss_function mse_loss = {{"mse_loss", {"input", "target"}, loss_backward},
                                           TERN_LOSS_MSE};
    return run(&mse_loss, input, target, reduction);
}

tern_tensor *tern_l1_loss(tern_tensor *input, tern_tensor *target, tern_reduction reduction)
{
    static const loss_function l1_loss = {{"l1_loss", {"input", "target"}, loss_backward},
                                          TERN_LOSS_L1};
    return run(&l1_loss, input, target, reduction);
}
