// SPDX-License-Identifier: Apache-2.0
// New tensors in the image of another: same dtype and device, same or another shape.
#include "tensor/factory.h"
#include "tensor/liveness.h"

static tern_tensor *create_like(const char *op, const tern_tensor *t, const tern_shape *shape)
{
    if (tern_check_tensor(op, "t", t))
        return NULL;
    return tern_create(op, t->dtype, tern_dev(t), false, shape ? *shape : tern_shape_get(t));
}

static tern_tensor *full_like(const char *op, const tern_tensor *t, const tern_shape *shape,
                              tern_scalar value)
{
    if (tern_check_tensor(op, "t", t) || tern_check_range(op, "value", value, t->dtype))
        return NULL;
    return tern_filled(create_like(op, t, shape), value);
}

tern_tensor *tern_empty_like(const tern_tensor *t)
{
    return create_like("empty_like", t, NULL);
}

tern_tensor *tern_zeros_like(const tern_tensor *t)
{
    return full_like("zeros_like", t, NULL, tern_scalar_int(0));
}

tern_tensor *tern_ones_like(const tern_tensor *t)
{
    return full_like("ones_like", t, NULL, tern_scalar_int(1));
}

tern_tensor *(tern_full_like)(const tern_tensor *t, tern_scalar value)
{
    return full_like("full_like", t, NULL, value);
}

tern_tensor *tern_new_empty(const tern_tensor *t, tern_shape shape)
{
    return create_like("new_empty", t, &shape);
}

tern_tensor *tern_new_zeros(const tern_tensor *t, tern_shape shape)
{
    return full_like("new_zeros", t, &shape, tern_scalar_int(0));
}

tern_tensor *tern_new_ones(const tern_tensor *t, tern_shape shape)
{
    return full_like("new_ones", t, &shape, tern_scalar_int(1));
}

tern_tensor *(tern_new_full)(const tern_tensor *t, tern_shape shape, tern_scalar value)
{
    return full_like("new_full", t, &shape, value);
}

tern_tensor *(tern_new_tensor)(const tern_tensor *t, tern_shape shape, const void *data)
{
    return tern_new_tensor_typed(t, shape, 0, 0, data);
}

tern_tensor *tern_new_tensor_typed(const tern_tensor *t, tern_shape shape, char data_type,
                                   size_t nbytes, const void *data)
{
    if (tern_check_tensor("new_tensor", "t", t) ||
        tern_check_data_type("new_tensor", data_type, t->dtype) ||
        tern_check_shape("new_tensor", shape, t->dtype) ||
        tern_check_data_size("new_tensor", nbytes, t->dtype, shape))
        return NULL;
    if (!data && tern_shape_numel(shape) > 0) {
        tern_null_error("new_tensor", "data");
        return NULL;
    }
    tern_tensor *y = create_like("new_tensor", t, &shape);
    return y && !tern_upload("new_tensor", y, data) ? y : NULL;
}
