// SPDX-License-Identifier: Apache-2.0
// Changes in place that do not combine old and new values: copies, constants; and with a number.
#include <tern/ops.h>
#include "device/comparison.h"
#include "ops/alias.h"
#include "tensor/liveness.h"

// The byte behind the last element.
static int64_t end_of(const tern_tensor *t)
{
    int64_t last = t->offset;
    for (int i = 0; i < t->rank; i++)
        last += (t->size[i] - 1) * t->stride[i];
    return (last + 1) * (int64_t)tern_dtype_size(t->dtype);
}

bool tern_shares_memory(const tern_tensor *a, const tern_tensor *b)
{
    if (a->storage != b->storage || a->numel == 0 || b->numel == 0)
        return false;
    return a->offset * (int64_t)tern_dtype_size(a->dtype) < end_of(b) &&
           b->offset * (int64_t)tern_dtype_size(b->dtype) < end_of(a);
}

bool tern_overlaps(const tern_tensor *a, const tern_tensor *b)
{
    if (!tern_shares_memory(a, b))
        return false;
    if (a->offset != b->offset || a->rank != b->rank)
        return true;
    for (int i = 0; i < a->rank; i++)
        if (a->size[i] != b->size[i] || a->stride[i] != b->stride[i])
            return true;
    return false;
}

tern_status tern_check_target(const char *op, const tern_tensor *t, const char *name,
                              const tern_tensor *other)
{
    TERN_TRY(tern_check_inplace(op, t));
    TERN_TRY(tern_check_tensor(op, name, other));
    bool fits = other->rank <= t->rank;
    for (int i = 1; fits && i <= other->rank; i++) {
        int64_t size = other->size[other->rank - i];
        fits = size == 1 || size == t->size[t->rank - i];
    }
    TERN_CHECK(fits, TERN_ERR_SHAPE, "%s: %s is %s, which does not broadcast to t %s", op, name,
               tern_tensor_string(other), tern_shape_string(tern_shape_get(t)));
    TERN_CHECK(
        !t->is_view || !other->requires_grad || !tern_grad_enabled(), TERN_ERR_STATE,
        "%s: t is a view, so no gradient could flow to %s; build the tensor with tern_cat or "
        "tern_stack, or clone t first",
        op, name);
    return TERN_OK;
}

// ---- copy_ -------------------------------------------------------------------------------------

static tern_status zero_gradient(const tern_node *node, const tern_tensor *dy, tern_tensor **dx)
{
    if (!tern_node_needs(node, 0))
        return TERN_OK;
    *dx = tern_zeros_like(dy);
    return *dx ? TERN_OK : tern_error_code();
}

static tern_status copy_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    TERN_TRY(zero_gradient(node, dy[0], &dx[0]));
    if (!tern_node_needs(node, 1))
        return TERN_OK;
    const int64_t *home = tern_node_attrs(node)->i;
    tern_tensor *sum = tern_sum_to(dy[0], tern_node_input_shape(node, 1));
    sum = sum ? tern_to_dtype(sum, tern_node_input_dtype(node, 1)) : NULL;
    dx[1] = sum ? tern_to(sum, (tern_device){(tern_device_type)home[0], (int)home[1]}) : NULL;
    return dx[1] ? TERN_OK : tern_error_code();
}

static const tern_op copy_op = {"copy_", {"t", "source"}, copy_backward};

// The source on t's device, in memory of its own where it shares t's.
static tern_tensor *copy_source(const tern_tensor *t, tern_tensor *source)
{
    if (!tern_device_equal(tern_dev(t), tern_dev(source)))
        return tern_moved(source, tern_dev(t));
    return tern_overlaps(t, source) ? tern_copied(source) : source;
}

tern_tensor *tern_copy_(tern_tensor *t, tern_tensor *source)
{
    tern_node *node = NULL;
    if (tern_check_target("copy_", t, "source", source))
        return NULL;
    if (t == source)
        return t;
    tern_tensor *near = copy_source(t, source);
    tern_device home = tern_dev(source);
    tern_op_call call = {
        .op = &copy_op, .count = 2, .in = {t, source}, .attrs.i = {home.type, home.index}};
    if (!near || tern_op_begin_inplace(&call, &node))
        return NULL;
    return tern_op_end_inplace(&call, t, node, tern_launch_copy(t, near));
}

// ---- constants ---------------------------------------------------------------------------------

tern_status tern_overwrite_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    return zero_gradient(node, dy[0], &dx[0]);
}

static tern_tensor *fill(const tern_op *op, tern_tensor *t, tern_scalar value)
{
    tern_op_call call = {.op = op, .count = 1, .in = {t}};
    tern_node *node = NULL;
    if (tern_check_inplace(op->name, t) || tern_check_range(op->name, "value", value, t->dtype) ||
        tern_op_begin_inplace(&call, &node))
        return NULL;
    tern_status status = tern_filled(t, value) ? TERN_OK : tern_error_code();
    return tern_op_end_inplace(&call, t, node, status);
}

tern_tensor *(tern_fill_)(tern_tensor *t, tern_scalar value)
{
    static const tern_op op = {"fill_", {"t"}, tern_overwrite_backward};
    return fill(&op, t, value);
}

tern_tensor *tern_zero_(tern_tensor *t)
{
    static const tern_op op = {"zero_", {"t"}, tern_overwrite_backward};
    return fill(&op, t, tern_scalar_int(0));
}

// ---- with a number -----------------------------------------------------------------------------

static tern_status mul_scalar_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    dx[0] = tern_mul_scalar(dy[0], tern_node_attrs(node)->d[0]);
    return dx[0] ? TERN_OK : tern_error_code();
}

static tern_tensor *with_number(const tern_op *op, tern_unary_op code, tern_tensor *t,
                                tern_scalar value)
{
    const char *name = op->name;
    tern_op_call call = {.op = op, .count = 1, .in = {t}};
    tern_node *node = NULL;
    if (tern_check_inplace(name, t))
        return NULL;
    TERN_CHECK_PTR(t->dtype != TERN_BOOL, TERN_ERR_DTYPE, "%s: t is bool, which holds no numbers",
                   name);
    call.attrs.d[0] = scalar_floating(value, t->dtype);
    if (tern_check_integral(name, "value", value, t->dtype) || tern_op_begin_inplace(&call, &node))
        return NULL;
    return tern_op_end_inplace(&call, t, node, tern_launch_unary(code, value, 0, t, t));
}

tern_tensor *(tern_add_scalar_)(tern_tensor *t, tern_scalar value)
{
    static const tern_op op = {"add_scalar_", {"t"}, tern_identity_backward};
    return with_number(&op, TERN_UNARY_ADD_SCALAR, t, value);
}

tern_tensor *(tern_mul_scalar_)(tern_tensor *t, tern_scalar value)
{
    static const tern_op op = {"mul_scalar_", {"t"}, mul_scalar_backward};
    return with_number(&op, TERN_UNARY_MUL_SCALAR, t, value);
}

tern_status tern_from_host(tern_tensor *t, const void *data, size_t nbytes)
{
    static const tern_op op = {"from_host", {"t"}, tern_overwrite_backward};
    tern_op_call call = {.op = &op, .count = 1, .in = {t}};
    tern_node *node = NULL;
    TERN_TRY(tern_check_inplace("from_host", t));
    TERN_TRY(tern_check_buffer("from_host", t, data, nbytes));
    TERN_TRY(tern_op_begin_inplace(&call, &node));
    tern_status status = tern_upload("from_host", t, data);
    return tern_op_end_inplace(&call, t, node, status) ? TERN_OK : status;
}
