// SPDX-License-Identifier: Apache-2.0
// Copies: contiguous ones, on another device, of another dtype.
#include "ops/alias.h"
#include "tensor/liveness.h"

tern_status tern_identity_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    (void)node;
    dx[0] = dy[0];
    return TERN_OK;
}

static const tern_op clone_op = {"clone", {"t"}, tern_identity_backward};
static const tern_op contiguous_op = {"contiguous", {"t"}, tern_identity_backward};

static tern_tensor *cloned(const tern_op *op, tern_tensor *t)
{
    tern_op_call call = {.op = op, .count = 1, .in = {t}};
    tern_tensor *y = tern_tensor_new(op->name, t->dtype, tern_dev(t), tern_shape_get(t));
    if (!y || tern_launch_copy(y, t))
        return NULL;
    return tern_op_end(&call, y, NULL, 0);
}

tern_tensor *tern_clone(tern_tensor *t)
{
    return tern_check_tensor("clone", "t", t) ? NULL : cloned(&clone_op, t);
}

tern_tensor *tern_contiguous(tern_tensor *t)
{
    if (tern_check_tensor("contiguous", "t", t))
        return NULL;
    return t->contiguous ? t : cloned(&contiguous_op, t);
}

// ---- devices -----------------------------------------------------------------------------------

// The bytes of contiguous `from` into contiguous `to`, which has as many.
static tern_status carry(const tern_tensor *to, const tern_tensor *from, bool wait)
{
    int64_t size = (int64_t)tern_dtype_size(from->dtype);
    return tern_storage_copy(to->storage, to->offset * size, from->storage, from->offset * size,
                             from->numel * size, wait);
}

// A copy to the host need not wait only where its memory is page-locked.
static tern_tensor *destination(tern_tensor *t, tern_device device, bool wait)
{
    if (!wait && tern_dev(t).type == TERN_CUDA && tern_device_equal(device, tern_cpu(0)))
        return tern_tensor_new_pinned("to", t->dtype, tern_shape_get(t));
    return tern_tensor_new("to", t->dtype, device, tern_shape_get(t));
}

static tern_tensor *moved(tern_tensor *t, tern_device device, bool wait)
{
    tern_tensor *packed = tern_make_contiguous(t);
    tern_tensor *y = packed ? destination(t, device, wait) : NULL;
    return y && !carry(y, packed, wait) ? y : NULL;
}

tern_tensor *tern_moved(tern_tensor *t, tern_device device)
{
    return moved(t, device, true);
}

static tern_status to_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const int64_t *home = tern_node_attrs(node)->i;
    dx[0] = tern_to(dy[0], (tern_device){(tern_device_type)home[0], (int)home[1]});
    return dx[0] ? TERN_OK : tern_error_code();
}

static const tern_op to_op = {"to", {"t"}, to_backward};

static tern_tensor *to(const char *op, tern_tensor *t, tern_device device, bool wait)
{
    if (tern_check_tensor(op, "t", t) || tern_device_resolve(op, &device))
        return NULL;
    tern_device home = tern_dev(t);
    if (tern_device_equal(home, device))
        return t;
    tern_op_call call = {.op = &to_op, .count = 1, .in = {t}, .attrs.i = {home.type, home.index}};
    return tern_op_end(&call, moved(t, device, wait), NULL, 0);
}

tern_tensor *tern_to(tern_tensor *t, tern_device device)
{
    return to("to", t, device, true);
}

tern_tensor *tern_to_non_blocking(tern_tensor *t, tern_device device)
{
    return to("to_non_blocking", t, device, false);
}

// ---- page-locked memory -------------------------------------------------------------------------

tern_tensor *tern_pin_memory(tern_tensor *t)
{
    if (tern_check_tensor("pin_memory", "t", t))
        return NULL;
    TERN_CHECK_PTR(tern_dev(t).type == TERN_CPU, TERN_ERR_DEVICE,
                   "pin_memory: t is on %s; only the memory of the host can be page-locked",
                   tern_device_string(tern_dev(t)));
    if (t->storage->pinned)
        return t;
    TERN_CHECK_PTR(tern_cuda_is_available(), TERN_ERR_DEVICE,
                   "pin_memory: there is no CUDA device: %s", tern_cuda_reason());
    tern_tensor *y = tern_tensor_new_pinned("pin_memory", t->dtype, tern_shape_get(t));
    if (!y || tern_launch_copy(y, t))
        return NULL;
    static const tern_op pin_memory = {.name = "pin_memory", .inputs = {"t"}};
    tern_op_call call = {.op = &pin_memory, .count = 1, .in = {t}};
    return tern_op_end(&call, y, NULL, 0);
}

// ---- dtypes ------------------------------------------------------------------------------------

static tern_status to_dtype_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    dx[0] = tern_to_dtype(dy[0], tern_node_input_dtype(node, 0));
    return dx[0] ? TERN_OK : tern_error_code();
}

static const tern_op to_dtype_op = {"to_dtype", {"t"}, to_dtype_backward};

tern_tensor *tern_to_dtype(tern_tensor *t, tern_dtype dtype)
{
    if (tern_check_tensor("to_dtype", "t", t) || tern_check_dtype("to_dtype", dtype))
        return NULL;
    if (t->dtype == dtype)
        return t;
    tern_op_call call = {.op = &to_dtype_op, .count = 1, .in = {t}};
    tern_tensor *y = tern_tensor_new("to_dtype", dtype, tern_dev(t), tern_shape_get(t));
    if (!y || tern_launch_copy(y, t))
        return NULL;
    return tern_op_end(&call, y, NULL, 0);
}
