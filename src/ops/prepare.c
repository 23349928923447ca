// SPDX-License-Identifier: Apache-2.0
// The one place where the operands of an operation meet.
#include "ops/prepare.h"
#include <string.h>
#include <tern/ops.h>
#include "device/dtype.h"
#include "ops/promote.h"
#include "tensor/liveness.h"
#include "tensor/shape.h"

static bool may_mix(const tern_tensor *t)
{
    return t->rank == 0 && tern_dev(t).type == TERN_CPU;
}

// The device of the first operand that does not merely mix in.
static tern_device common_device(const tern_op_call *c)
{
    for (int i = 0; i < c->count; i++)
        if (!may_mix(c->in[i]))
            return tern_dev(c->in[i]);
    return tern_dev(c->in[0]);
}

static tern_status match_devices(tern_op_call *c)
{
    c->device = common_device(c);
    int home = 0;
    while (!tern_same_device(tern_dev(c->in[home]), c->device))
        home++;
    for (int i = 0; i < c->count; i++) {
        if (tern_same_device(tern_dev(c->in[i]), c->device))
            continue;
        TERN_CHECK(may_mix(c->in[i]), TERN_ERR_DEVICE,
                   "%s: %s is on %s and %s on %s: move one with tern_to, or its module with "
                   "tern_module_to",
                   c->op->name, c->op->inputs[home], tern_device_string(c->device),
                   c->op->inputs[i], tern_device_string(tern_dev(c->in[i])));
        c->in[i] = tern_to(c->in[i], c->device);
        if (!c->in[i])
            return tern_error_code();
    }
    return TERN_OK;
}

static tern_status broadcast_shapes(tern_op_call *c)
{
    c->shape = tern_shape_get(c->in[0]);
    for (int i = 1; i < c->count; i++)
        TERN_TRY(tern_broadcast_shapes(c->op->name,
                                       i == 1 ? c->op->inputs[0] : "the operands before", c->shape,
                                       c->op->inputs[i], tern_shape_get(c->in[i]), &c->shape));
    return TERN_OK;
}

// PyTorch's rule for several operands: those with dimensions and the 0-dim ones are promoted among
// themselves; the 0-dim result counts only where it is of a higher kind.
static tern_dtype promoted(const tern_op_call *c)
{
    tern_dtype array = TERN_DTYPE_UNSPECIFIED, scalar = TERN_DTYPE_UNSPECIFIED;
    for (int i = 0; i < c->count; i++) {
        tern_dtype *group = c->in[i]->rank ? &array : &scalar;
        *group = *group ? tern_promote_dtypes(*group, c->in[i]->dtype) : c->in[i]->dtype;
    }
    return tern_promote_standing(array, scalar);
}

static tern_status check_dtypes(const tern_op_call *c, unsigned flags)
{
    for (int i = 0; i < c->count; i++) {
        tern_dtype dtype = c->in[i]->dtype;
        TERN_CHECK(!(flags & TERN_OP_ONLY_FLOATING) || tern_is_floating(dtype), TERN_ERR_DTYPE,
                   "%s: %s is %s, but must have a floating dtype", c->op->name, c->op->inputs[i],
                   tern_dtype_name(dtype));
        TERN_CHECK(!(flags & TERN_OP_SAME_DTYPE) || dtype == c->in[0]->dtype, TERN_ERR_DTYPE,
                   "%s: %s is %s and %s is %s: convert one with tern_to_dtype", c->op->name,
                   c->op->inputs[0], tern_dtype_name(c->in[0]->dtype), c->op->inputs[i],
                   tern_dtype_name(dtype));
    }
    return TERN_OK;
}

static tern_status match_dtypes(tern_op_call *c, unsigned flags)
{
    c->dtype = flags & TERN_OP_PROMOTE ? promoted(c) : c->in[0]->dtype;
    if ((flags & TERN_OP_TO_FLOATING) && !tern_is_floating(c->dtype))
        c->dtype = tern_default_dtype();
    if (!(flags & (TERN_OP_PROMOTE | TERN_OP_TO_FLOATING)))
        return TERN_OK;
    for (int i = 0; i < c->count; i++) {
        if (c->in[i]->dtype == c->dtype)
            continue;
        c->in[i] = tern_to_dtype(c->in[i], c->dtype);
        if (!c->in[i])
            return tern_error_code();
    }
    return TERN_OK;
}

tern_status tern_op_begin(tern_op_call *c, unsigned flags)
{
    for (int i = 0; i < c->count; i++)
        TERN_TRY(tern_check_tensor(c->op->name, c->op->inputs[i], c->in[i]));
    if (flags & TERN_OP_BROADCAST)
        TERN_TRY(broadcast_shapes(c));
    else
        c->shape = tern_shape_get(c->in[0]);
    TERN_TRY(check_dtypes(c, flags));
    TERN_TRY(match_devices(c));
    return match_dtypes(c, flags);
}

tern_status tern_op_begin_present(tern_op_call *c, int required, unsigned flags)
{
    tern_op op = {.name = c->op->name};
    tern_op_call present = {.op = &op};
    int from[TERN_OP_INPUTS];
    for (int i = 0; i < c->count; i++) {
        if (!c->in[i] && i >= required) {
            if (c->op->inputs[i] && tern_error_pending())
                return tern_error_code(); // one that was left out may be one that failed
            continue;
        }
        from[present.count] = i;
        op.inputs[present.count] = c->op->inputs[i];
        present.in[present.count++] = c->in[i];
    }
    TERN_TRY(tern_op_begin(&present, flags));
    for (int i = 0; i < present.count; i++)
        c->in[from[i]] = present.in[i];
    c->dtype = present.dtype;
    c->device = present.device;
    c->shape = present.shape;
    return TERN_OK;
}
