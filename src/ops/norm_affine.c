// SPDX-License-Identifier: Apache-2.0
#include "ops/norm_affine.h"

tern_status tern_affine_check_dtype(const char *op, const tern_tensor *x, const char *name,
                                    const tern_tensor *t)
{
    const bool half = x->dtype == TERN_FLOAT16 || x->dtype == TERN_BFLOAT16;
    TERN_CHECK(t->dtype == x->dtype || (half && t->dtype == TERN_FLOAT32), TERN_ERR_DTYPE,
               "%s: x is %s and %s is %s: it must be %s%s (tern_to_dtype, or "
               "tern_module_to_dtype)",
               op, tern_dtype_name(x->dtype), name, tern_dtype_name(t->dtype),
               tern_dtype_name(x->dtype), half ? " or float32" : "");
    return TERN_OK;
}

tern_status tern_affine_begin(tern_op_call *call)
{
    const char *op = call->op->name;
    call->count = AFFINE_INPUTS;
    TERN_TRY(tern_op_begin_present(call, 1, TERN_OP_ONLY_FLOATING));
    for (int i = 0; i < AFFINE_INPUTS; i++) {
        if (!call->in[i])
            continue;
        TERN_CHECK(tern_device_equal(tern_dev(call->in[i]), call->device), TERN_ERR_DEVICE,
                   "%s: %s is on %s and x on %s: move one with tern_to, or its module with "
                   "tern_module_to",
                   op, call->op->inputs[i], tern_device_string(tern_dev(call->in[i])),
                   tern_device_string(call->device));
        TERN_TRY(tern_affine_check_dtype(op, call->in[AFFINE_X], call->op->inputs[i], call->in[i]));
    }
    return TERN_OK;
}

tern_status tern_affine_check_shape(const tern_op_call *call, tern_shape shape, const char *because)
{
    for (int i = AFFINE_WEIGHT; i < AFFINE_INPUTS; i++) {
        const tern_tensor *t = call->in[i];
        TERN_CHECK(!t || tern_shape_equal(tern_shape_get(t), shape), TERN_ERR_SHAPE,
                   "%s: x %s and %s %s do not fit: %s", call->op->name,
                   tern_shape_string(tern_shape_get(call->in[AFFINE_X])), call->op->inputs[i],
                   tern_shape_string(tern_shape_get(t)), because);
    }
    return TERN_OK;
}

tern_status tern_affine_grads_make(tern_node *node, tern_shape shape, tern_tensor **dx,
                                   tern_affine_grads *grads)
{
    const tern_strided **views[] = {&grads->views.dx, &grads->views.dweight, &grads->views.dbias};
    *grads = (tern_affine_grads){0};
    for (int i = 0; i < AFFINE_INPUTS; i++) {
        if (!tern_node_needs(node, i))
            continue;
        dx[i] = tern_node_grad_new(node, i);
        if (!dx[i])
            return tern_failed();
        grads->view[i] = i == AFFINE_X ? tern_view_shaped(dx[i], shape) : tern_view_flat(dx[i]);
        *views[i] = &grads->view[i];
    }
    return TERN_OK;
}
