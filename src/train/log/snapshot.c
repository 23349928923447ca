// SPDX-License-Identifier: Apache-2.0
#include "train/log/snapshot.h"

#include "train/log/ring.h"

#include "device/capture.h"
#include "tensor/header.h"
#include "tensor/liveness.h"
#include "tensor/view.h"

tern_status tern_log_check_tensor(const char *op, const char *name, const tern_tensor *t)
{
    TERN_TRY(tern_check_tensor(op, name, t));
    return tern_capture_refuse(op, "replays would not log");
}

static int64_t nbytes_of(const tern_tensor *t)
{
    return t ? t->numel * tern_element_size(t->dtype) : 0;
}

static tern_status copy_into(tern_log_payload *payload, const tern_tensor *const tensors[2])
{
    const tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    tern_status status = TERN_OK;
    for (int i = 0; i < 2 && tensors[i] && !status; i++) {
        tern_tensor *copy = tern_copied(tensors[i]);
        status = copy ? TERN_OK : tern_error_code();
        payload->tensors[i] = tern_tensor_retain(copy);
    }
    tern_scope_close(scope);
    return status;
}

tern_status tern_log_snapshot(tern_logger *logger, const tern_tensor *a, const tern_tensor *b,
                              size_t nbytes, tern_log_payload **payload)
{
    const int64_t cost = (int64_t)(sizeof **payload + nbytes) + nbytes_of(a) + nbytes_of(b);
    *payload = NULL;
    if (tern_log_ring_is_full(logger, cost))
        return TERN_OK;
    tern_log_payload *made = tern_log_payload_new(nbytes);
    if (!made)
        return TERN_ERR_NOMEM;
    made->cost = cost;
    const tern_status status = copy_into(made, (const tern_tensor *const[]){a, b});
    if (status)
        tern_log_payload_free(made);
    else
        *payload = made;
    return status;
}

// ---- streams ------------------------------------------------------------------------------------

static _Thread_local tern_log_streams *streams_of_thread; // NULL: the current ones are used

void tern_log_streams_begin(tern_log_streams *streams)
{
    streams_of_thread = streams;
}

// Without a stream of its own the thread copies on the device's.
static void use_stream(int device)
{
    tern_log_streams *streams = streams_of_thread;
    if (!streams || streams->begun[device])
        return;
    streams->begun[device] = true;
    streams->own[device] = tern_cuda_stream_new(device);
    if (streams->own[device])
        streams->before[device] = tern_cuda_stream_set(device, streams->own[device]);
    tern_error_clear();
}

void tern_log_streams_end(tern_log_streams *streams)
{
    streams_of_thread = NULL;
    for (int i = 0; i < TERN_MAX_DEVICES; i++) {
        if (!streams->own[i])
            continue;
        (void)tern_cuda_stream_set(i, streams->before[i]);
        tern_cuda_stream_free(streams->own[i]);
    }
    tern_error_clear();
}

// ---- in host memory -----------------------------------------------------------------------------

static const tern_tensor *cast(const tern_tensor *t, tern_dtype dtype)
{
    if (t->dtype == dtype)
        return t;
    tern_tensor *y = tern_tensor_new("logger", dtype, tern_dev(t), tern_shape_get(t));
    return y && !tern_launch_copy(y, t) ? y : NULL;
}

static const tern_tensor *download(const tern_tensor *t)
{
    const tern_device device = tern_dev(t);
    tern_tensor *host = tern_tensor_new("logger", t->dtype, tern_cpu(0), tern_shape_get(t));
    if (!host || t->numel == 0)
        return host;
    const tern_device_table *table = tern_backend_of(device.type)->device;
    return table->to_host(device.index, tern_view_data(host), tern_view_data(t), nbytes_of(t))
               ? NULL
               : host;
}

const tern_tensor *tern_log_on_host(const tern_tensor *t, tern_dtype dtype)
{
    if (tern_dev(t).type == TERN_CUDA)
        use_stream(tern_dev(t).index);
    const tern_tensor *same = cast(t, dtype);
    if (!same || tern_dev(same).type == TERN_CPU)
        return same;
    return download(same);
}
