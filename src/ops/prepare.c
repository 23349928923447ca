// SPDX-License-Identifier: Apache-2.0
// The one place where the operands of an operation meet.
#include <string.h>
#include <tern/ops.h>
#include "ops/prepare.h"
#include "ops/promote.h"
#include "tensor/shape.h"

static bool may_mix(const tern_tensor *t)
{
    return t->rank == 0 && tern_dev(t).type == TERN_CPU;
}

// The device of the first operand that does not merely mix in.
static tern_device common_device(const tern_operands *o)
{
    for (int i = 0; i < o->count; i++)
        if (!may_mix(o->at[i]))
            return tern_dev(o->at[i]);
    return tern_dev(o->at[0]);
}

static tern_status meet_devices(tern_operands *o)
{
    o->device = common_device(o);
    int home = 0;
    while (!tern_device_equal(tern_dev(o->at[home]), o->device))
        home++;
    for (int i = 0; i < o->count; i++) {
        if (tern_device_equal(tern_dev(o->at[i]), o->device))
            continue;
        TERN_CHECK(may_mix(o->at[i]), TERN_ERR_DEVICE,
                   "%s: %s is on %s and %s on %s: move one with tern_to, or its module with "
                   "tern_module_to",
                   o->op, o->name[home], tern_device_string(o->device), o->name[i],
                   tern_device_string(tern_dev(o->at[i])));
        o->at[i] = tern_to(o->at[i], o->device);
        if (!o->at[i])
            return tern_error_code();
    }
    return TERN_OK;
}

static tern_status meet_shapes(tern_operands *o)
{
    o->shape = tern_shape_get(o->at[0]);
    for (int i = 1; i < o->count; i++)
        TERN_TRY(tern_broadcast_shapes(o->op, i == 1 ? o->name[0] : "the operands before", o->shape,
                                       o->name[i], tern_shape_get(o->at[i]), &o->shape));
    return TERN_OK;
}

// PyTorch's rule for several operands: those with dimensions and the 0-dim ones are promoted among
// themselves; the 0-dim result counts only where it is of a higher kind.
static tern_dtype promoted(const tern_operands *o)
{
    tern_dtype array = TERN_DTYPE_UNSPECIFIED, scalar = TERN_DTYPE_UNSPECIFIED;
    for (int i = 0; i < o->count; i++) {
        tern_dtype *group = o->at[i]->rank ? &array : &scalar;
        *group = *group ? tern_promote_dtypes(*group, o->at[i]->dtype) : o->at[i]->dtype;
    }
    return tern_promote_standing(array, scalar);
}

static tern_status check_dtypes(const tern_operands *o, unsigned flags)
{
    for (int i = 0; i < o->count; i++) {
        tern_dtype dtype = o->at[i]->dtype;
        TERN_CHECK(!(flags & TERN_PREPARE_ONLY_FLOATING) || tern_dtype_is_floating(dtype),
                   TERN_ERR_DTYPE, "%s: %s is %s, but must have a floating dtype", o->op,
                   o->name[i], tern_dtype_name(dtype));
        TERN_CHECK(!(flags & TERN_PREPARE_SAME_DTYPE) || dtype == o->at[0]->dtype, TERN_ERR_DTYPE,
                   "%s: %s is %s and %s is %s: convert one with tern_to_dtype", o->op, o->name[0],
                   tern_dtype_name(o->at[0]->dtype), o->name[i], tern_dtype_name(dtype));
    }
    return TERN_OK;
}

static tern_status meet_dtypes(tern_operands *o, unsigned flags)
{
    o->dtype = flags & TERN_PREPARE_PROMOTE ? promoted(o) : o->at[0]->dtype;
    if ((flags & TERN_PREPARE_TO_FLOATING) && !tern_dtype_is_floating(o->dtype))
        o->dtype = tern_default_dtype();
    if (!(flags & (TERN_PREPARE_PROMOTE | TERN_PREPARE_TO_FLOATING)))
        return TERN_OK;
    for (int i = 0; i < o->count; i++) {
        if (o->at[i]->dtype == o->dtype)
            continue;
        o->at[i] = tern_to_dtype(o->at[i], o->dtype);
        if (!o->at[i])
            return tern_error_code();
    }
    return TERN_OK;
}

tern_status tern_op_prepare(tern_operands *o, unsigned flags)
{
    for (int i = 0; i < o->count; i++)
        TERN_TRY(tern_check_tensor(o->op, o->name[i], o->at[i]));
    if (flags & TERN_PREPARE_BROADCAST)
        TERN_TRY(meet_shapes(o));
    else
        o->shape = tern_shape_get(o->at[0]);
    TERN_TRY(check_dtypes(o, flags));
    TERN_TRY(meet_devices(o));
    return meet_dtypes(o, flags);
}
