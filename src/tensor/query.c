// SPDX-License-Identifier: Apache-2.0
// What a tensor is, asked from outside: every call looks whether it is alive.
#include "tensor/liveness.h"
#include "tensor/shape.h"

tern_dtype tern_dtype_of(const tern_tensor *t)
{
    return tern_check_tensor("dtype_of", "t", t) ? TERN_DTYPE_UNSPECIFIED : t->dtype;
}

tern_device tern_device_of(const tern_tensor *t)
{
    return tern_check_tensor("device_of", "t", t) ? (tern_device){TERN_DEVICE_UNSPECIFIED, 0}
                                                  : tern_dev(t);
}

tern_shape tern_shape_of(const tern_tensor *t)
{
    return tern_check_tensor("shape_of", "t", t) ? (tern_shape){0} : tern_shape_get(t);
}

int tern_rank(const tern_tensor *t)
{
    return tern_check_tensor("rank", "t", t) ? 0 : t->rank;
}

// Unlike other calls these two have no use for a dim of a tensor without dimensions.
static tern_status check_dim_of(const char *op, const tern_tensor *t, int *dim)
{
    TERN_TRY(tern_check_tensor(op, "t", t));
    TERN_CHECK(t->rank > 0, TERN_ERR_ARG, "%s: t has no dimensions, so none is %d", op, *dim);
    return tern_check_dim(op, t->rank, dim);
}

int64_t tern_size(const tern_tensor *t, int dim)
{
    tern_status status = check_dim_of("size", t, &dim);
    if (status)
        return status == TERN_ERR_ARG ? -1 : 0;
    return t->size[dim];
}

int64_t tern_stride(const tern_tensor *t, int dim)
{
    return check_dim_of("stride", t, &dim) ? 0 : t->stride[dim];
}

int64_t tern_numel(const tern_tensor *t)
{
    return tern_check_tensor("numel", "t", t) ? 0 : t->numel;
}

bool tern_is_contiguous(const tern_tensor *t)
{
    return !tern_check_tensor("is_contiguous", "t", t) && t->contiguous;
}

const char *tern_name(const tern_tensor *t)
{
    if (tern_check_tensor("name", "t", t))
        return "";
    return t->label[0] ? t->label : t->op;
}

bool tern_is_pinned(const tern_tensor *t)
{
    return !tern_check_tensor("is_pinned", "t", t) && t->storage->pinned;
}
