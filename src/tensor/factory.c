// SPDX-License-Identifier: Apache-2.0
// Checks of what a tensor is made of, and the way from host memory into one.
#include "tensor/factory.h"
#include <math.h>
#include "tensor/view.h"

tern_status tern_check_dtype(const char *op, tern_dtype dtype)
{
    TERN_CHECK(tern_dtype_size(dtype) > 0, TERN_ERR_DTYPE, "%s: %d is no dtype", op, (int)dtype);
    return TERN_OK;
}

tern_status tern_check_shape(const char *op, tern_shape shape, tern_dtype dtype)
{
    TERN_CHECK(shape.rank >= 0 && shape.rank <= TERN_MAX_RANK, TERN_ERR_SHAPE,
               "%s: %d dimensions are more than %d", op, shape.rank, TERN_MAX_RANK);
    for (int i = 0; i < shape.rank; i++)
        TERN_CHECK(shape.dim[i] >= 0, TERN_ERR_SHAPE, "%s: shape %s has a negative size", op,
                   tern_shape_string(shape));
    int64_t numel = tern_shape_numel(shape);
    TERN_CHECK(numel >= 0 && numel <= INT64_MAX / 16, TERN_ERR_SHAPE,
               "%s: shape %s has too many elements of %s", op, tern_shape_string(shape),
               tern_dtype_name(dtype));
    return TERN_OK;
}

// The values below `*above` and above `*below` are those of an integer dtype after the cast.
static bool integer_range(tern_dtype dtype, double *below, double *above)
{
    switch (dtype) {
    case TERN_UINT8:
        *below = -1;
        *above = 256;
        return true;
    case TERN_INT32:
        *below = -0x1p31 - 1;
        *above = 0x1p31;
        return true;
    case TERN_INT64:
        *below = -0x1.0000000000001p63;
        *above = 0x1p63;
        return true;
    case TERN_DTYPE_UNSPECIFIED:
    case TERN_FLOAT32:
    case TERN_FLOAT64:
    case TERN_FLOAT16:
    case TERN_BFLOAT16:
    case TERN_BOOL:
        break;
    }
    return false;
}

static tern_status check_integer(const char *op, const char *name, int64_t value, tern_dtype dtype)
{
    double below, above;
    TERN_CHECK(dtype == TERN_INT64 || !integer_range(dtype, &below, &above) ||
                   ((double)value > below && (double)value < above),
               TERN_ERR_ARG, "%s: %s %lld is out of the range of %s", op, name, (long long)value,
               tern_dtype_name(dtype));
    return TERN_OK;
}

tern_status(tern_check_range)(const char *op, const char *name, tern_scalar value, tern_dtype dtype)
{
    if (value.is_integer)
        return check_integer(op, name, value.integer, dtype);
    double below, above;
    TERN_CHECK(!integer_range(dtype, &below, &above) ||
                   (value.floating > below && value.floating < above),
               TERN_ERR_ARG, "%s: %s %g is out of the range of %s", op, name, value.floating,
               tern_dtype_name(dtype));
    return TERN_OK;
}

tern_status(tern_check_integral)(const char *op, const char *name, tern_scalar value,
                                 tern_dtype dtype)
{
    if (tern_dtype_is_floating(dtype))
        return TERN_OK;
    TERN_CHECK(value.is_integer || !isfinite(value.floating) ||
                   value.floating == trunc(value.floating),
               TERN_ERR_DTYPE, "%s: %s %g has a fraction and the dtype is %s", op, name,
               value.floating, tern_dtype_name(dtype));
    return tern_check_range(op, name, value, dtype);
}

tern_tensor *tern_create(const char *op, tern_dtype dtype, tern_device device, bool requires_grad,
                         tern_shape shape)
{
    if (tern_check_dtype(op, dtype) || tern_check_shape(op, shape, dtype) ||
        tern_device_resolve(op, &device))
        return NULL;
    TERN_CHECK_PTR(!requires_grad || tern_dtype_is_floating(dtype), TERN_ERR_DTYPE,
                   "%s: a tensor of %s cannot require a gradient; floating dtypes can", op,
                   tern_dtype_name(dtype));
    tern_tensor *t = tern_tensor_new(op, dtype, device, shape);
    if (t)
        t->requires_grad = requires_grad;
    return t;
}

static tern_status check_bools(const char *op, const unsigned char *data, int64_t numel)
{
    for (int64_t i = 0; i < numel; i++)
        TERN_CHECK(data[i] <= 1, TERN_ERR_ARG,
                   "%s: element %lld of the bool data is %d, not 0 or 1", op, (long long)i,
                   data[i]);
    return TERN_OK;
}

static tern_status upload_contiguous(tern_tensor *t, const void *data)
{
    tern_device device = tern_dev(t);
    return tern_backend_of(device.type)
        ->device->to_device(device.index, tern_view_data(t), data,
                            t->numel * (int64_t)tern_dtype_size(t->dtype));
}

tern_status tern_upload(const char *op, tern_tensor *t, const void *data)
{
    if (t->numel == 0)
        return TERN_OK;
    if (t->dtype == TERN_BOOL)
        TERN_TRY(check_bools(op, data, t->numel));
    if (t->contiguous)
        return upload_contiguous(t, data);
    tern_tensor *packed = tern_tensor_new(op, t->dtype, tern_dev(t), tern_shape_get(t));
    if (!packed)
        return tern_error_code();
    TERN_TRY(upload_contiguous(packed, data));
    return tern_launch_copy(t, packed);
}
