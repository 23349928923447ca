// SPDX-License-Identifier: Apache-2.0
// add_ and mul_: changes in place by another tensor.
#include "ops/alias.h"

// A call of t and other: after its checks, other is on t's device and of dtype `common_dtype`.
typedef struct inplace_call {
    tern_op_call op;
    tern_tensor *t, *other;
    tern_dtype common_dtype; // in which the result is computed
} inplace_call;

// bool, integer, floating: a result may be cast to t's dtype unless that is of a lower kind.
static int kind_of(tern_dtype dtype)
{
    return tern_dtype_is_floating(dtype) ? 2 : dtype != TERN_BOOL;
}

static tern_status convert_other(inplace_call *call)
{
    const char *name = call->op.op->name;
    call->common_dtype = tern_promote(call->t, call->other);
    TERN_CHECK(kind_of(call->common_dtype) <= kind_of(call->t->dtype), TERN_ERR_DTYPE,
               "%s: the result would be %s, which t of %s cannot hold", name,
               tern_dtype_name(call->common_dtype), tern_dtype_name(call->t->dtype));
    TERN_TRY(tern_op_begin(&call->op, TERN_OP_PLAIN));
    TERN_CHECK(call->op.in[0] == call->t, TERN_ERR_DEVICE, "%s: t is on %s and other on %s", name,
               tern_device_string(tern_dev(call->t)), tern_device_string(tern_dev(call->other)));
    call->other = call->op.in[1] = tern_to_dtype(call->op.in[1], call->common_dtype);
    return call->other ? TERN_OK : tern_error_code();
}

static tern_status begin(inplace_call *call, const tern_op *op, tern_tensor *t, tern_tensor *other)
{
    *call = (inplace_call){.op = {.op = op, .count = 2, .in = {t, other}}, .t = t, .other = other};
    TERN_TRY(tern_check_target(call->op.op->name, call->t, "other", call->other));
    return convert_other(call);
}

static tern_status launch(const inplace_call *call, tern_binary_op op, double alpha)
{
    const tern_tensor *other =
        tern_overlaps(call->t, call->other) ? tern_copied(call->other) : call->other;
    if (!other)
        return tern_error_code();
    if (call->common_dtype == call->t->dtype)
        return tern_launch_binary(op, alpha, call->t, call->t, other);
    tern_device device = tern_dev(call->t);
    tern_tensor *promoted =
        tern_tensor_new(call->op.op->name, call->common_dtype, device, tern_shape_get(call->t));
    if (!promoted)
        return tern_error_code();
    TERN_TRY(tern_launch_copy(promoted, call->t));
    TERN_TRY(tern_launch_binary(op, alpha, promoted, promoted, other));
    return tern_launch_copy(call->t, promoted);
}

// Brings a gradient of the result to the shape and dtype of an input.
static tern_status reduce_to(tern_node *node, int input, tern_tensor *gradient, tern_tensor **dx)
{
    tern_tensor *sum = gradient ? tern_sum_to(gradient, tern_node_input_shape(node, input)) : NULL;
    *dx = sum ? tern_to_dtype(sum, tern_node_input_dtype(node, input)) : NULL;
    return *dx ? TERN_OK : tern_error_code();
}

// ---- add_ --------------------------------------------------------------------------------------

static tern_status add_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    double alpha = tern_node_attrs(node)->d[0];
    dx[0] = dy[0];
    if (!tern_node_needs(node, 1))
        return TERN_OK;
    TERN_TRY(reduce_to(node, 1, dy[0], &dx[1]));
    dx[1] = alpha == 1 ? dx[1] : tern_mul_scalar(dx[1], alpha);
    return dx[1] ? TERN_OK : tern_error_code();
}

tern_tensor *(tern_add_)(tern_tensor *t, tern_tensor *other, double alpha)
{
    static const tern_op add = {"add_", {"t", "other"}, add_backward};
    inplace_call call;
    tern_node *node = NULL;
    if (begin(&call, &add, t, other) ||
        tern_check_integral("add_", "alpha", alpha, call.common_dtype))
        return NULL;
    call.op.attrs.d[0] = alpha;
    if (tern_op_begin_inplace(&call.op, &node))
        return NULL;
    return tern_op_end_inplace(&call.op, t, node, launch(&call, TERN_BINARY_ADD, alpha));
}

// ---- mul_ --------------------------------------------------------------------------------------

enum { SAVED_OTHER, SAVED_BEFORE };

static tern_status mul_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    if (tern_node_needs(node, 0))
        TERN_TRY(reduce_to(node, 0, tern_mul(dy[0], tern_node_saved(node, SAVED_OTHER)), &dx[0]));
    if (tern_node_needs(node, 1))
        TERN_TRY(reduce_to(node, 1, tern_mul(dy[0], tern_node_saved(node, SAVED_BEFORE)), &dx[1]));
    return TERN_OK;
}

// The old values of t are needed by other's gradient, those of other by t's. What shares t's memory
// is about to change and is kept as a copy.
static tern_status save_factors(tern_node *node, const inplace_call *call)
{
    if (tern_node_needs(node, 1)) {
        tern_tensor *before = tern_copied(call->t);
        if (!before)
            return tern_error_code();
        tern_node_save(node, SAVED_BEFORE, before);
    }
    if (!tern_node_needs(node, 0))
        return TERN_OK;
    bool shared = call->other->storage == call->t->storage;
    tern_tensor *other = shared ? tern_copied(call->other) : call->other;
    if (!other)
        return tern_error_code();
    tern_node_save(node, SAVED_OTHER, other);
    return TERN_OK;
}

tern_tensor *tern_mul_(tern_tensor *t, tern_tensor *other)
{
    static const tern_op mul = {"mul_", {"t", "other"}, mul_backward};
    inplace_call call;
    tern_node *node = NULL;
    if (begin(&call, &mul, t, other) || tern_op_begin_inplace(&call.op, &node))
        return NULL;
    tern_status status = node ? save_factors(node, &call) : TERN_OK;
    if (!status)
        status = launch(&call, TERN_BINARY_MUL, 1);
    return tern_op_end_inplace(&call.op, t, node, status);
}
