// SPDX-License-Identifier: Apache-2.0
// Values in host memory, and back.
#include <math.h>
#include <string.h>
#include "device/fault.h"
#include "tensor/factory.h"
#include "tensor/liveness.h"
#include "tensor/view.h"

// What the caller waits for may have met a bad value. Fronts on the CPU have said so at once.
static tern_status poll(tern_device device)
{
    return device.type == TERN_CPU ? TERN_OK : tern_fault_poll(device);
}

// The elements of a tensor in row-major order; waits.
static tern_status download(const tern_tensor *t, void *data)
{
    tern_device device = tern_dev(t);
    const tern_tensor *packed = t->contiguous ? t : tern_copied(t);
    if (!packed)
        return tern_error_code();
    const tern_device_table *table = tern_backend_of(device.type)->device;
    table->fault_publish(device.index);
    TERN_TRY(table->to_host(device.index, data, tern_view_data(packed),
                            t->numel * (int64_t)tern_dtype_size(t->dtype)));
    return poll(device);
}

static tern_status download_all(const tern_tensor *t, void *data)
{
    if (t->numel == 0)
        return TERN_OK;
    tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_status status = download(t, data);
    tern_scope_close(scope);
    return status;
}

tern_status tern_download_as(const tern_tensor *t, tern_dtype dtype, void *data)
{
    if (t->dtype == dtype || t->numel == 0)
        return download_all(t, data);
    tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_tensor *cast = tern_tensor_new("item", dtype, tern_dev(t), tern_shape_get(t));
    tern_status status = cast ? tern_launch_copy(cast, t) : tern_error_code();
    if (!status)
        status = download(cast, data);
    tern_scope_close(scope);
    return status;
}

// ---- one value ---------------------------------------------------------------------------------

static tern_status check_item(const char *op, const tern_tensor *t)
{
    TERN_TRY(tern_check_tensor(op, "t", t));
    TERN_CHECK(t->numel == 1, TERN_ERR_SHAPE, "%s: %s has %lld elements, not one", op,
               tern_tensor_string(t), (long long)t->numel);
    return TERN_OK;
}

double tern_item(const tern_tensor *t)
{
    double value;
    if (check_item("item", t) || tern_download_as(t, TERN_FLOAT64, &value))
        return NAN;
    return value;
}

int64_t tern_item_int(const tern_tensor *t)
{
    int64_t value;
    if (check_item("item_int", t))
        return 0;
    if (tern_dtype_is_floating(t->dtype)) {
        tern_error_raise(TERN_ERR_DTYPE, "item_int: t is %s, which tern_item reads",
                         tern_dtype_name(t->dtype));
        return 0;
    }
    return tern_download_as(t, TERN_INT64, &value) ? 0 : value;
}

void *tern_data(tern_tensor *t)
{
    if (tern_check_tensor("data", "t", t))
        return NULL;
    TERN_CHECK_PTR(tern_dev(t).type == TERN_CPU, TERN_ERR_DEVICE,
                   "data: %s is not in host memory: tern_to_host copies it there",
                   tern_tensor_string(t));
    atomic_store_explicit(&t->storage->exposed, true, memory_order_relaxed);
    return tern_view_data(t);
}

// ---- all values --------------------------------------------------------------------------------

tern_status tern_check_buffer(const char *op, const tern_tensor *t, const void *data, size_t nbytes)
{
    size_t needed = (size_t)t->numel * tern_dtype_size(t->dtype);
    TERN_CHECK(nbytes == needed, TERN_ERR_SHAPE, "%s: %s has %zu bytes, not %zu", op,
               tern_tensor_string(t), needed, nbytes);
    return data || needed == 0 ? TERN_OK : tern_null_error(op, "data");
}

tern_status tern_to_host(const tern_tensor *t, void *data, size_t nbytes)
{
    TERN_TRY(tern_check_tensor("to_host", "t", t));
    TERN_TRY(tern_check_buffer("to_host", t, data, nbytes));
    return download_all(t, data);
}
