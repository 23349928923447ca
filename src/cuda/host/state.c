// SPDX-License-Identifier: Apache-2.0
// The host's half of a device's state; the kernels that write it are in state.cu. The host reads a
// copy of the fault record in page-locked memory, `mirror`, which copies queued on streams update.
#include <string.h>
#include "base/error.h"
#include "cuda/host/current.h"
#include "cuda/host/event.h"
#include "cuda/host/table.h"
#include "cuda/kernels.h"

bool tern_plugin_fault_seen(int index)
{
    return __atomic_load_n(&tern_cuda_device_get(index)->mirror->set, __ATOMIC_ACQUIRE);
}

// Functions that return nothing drop CUDA's errors: these are sticky, so the next call that returns
// a status fails as well.
static cudaError_t publish(tern_cuda_device *device)
{
    cudaError_t error = tern_cuda_set_current_device(device->index);
    if (error == cudaSuccess)
        error =
            cudaMemcpyAsync(device->mirror, device->fault, sizeof *device->fault,
                            cudaMemcpyDeviceToHost, tern_cuda_current_raw_stream(device->index));
    return tern_cuda_clear_error(error);
}

void tern_plugin_fault_publish(int index)
{
    (void)publish(tern_cuda_device_get(index));
}

tern_status tern_plugin_fault_read(int index, tern_fault *fault)
{
    TERN_TRY(tern_cuda_not_capturing(index, "the fault record is read"));
    tern_cuda_device *device = tern_cuda_device_get(index);
    cudaError_t error = tern_cuda_device_synchronize(device);
    if (error == cudaSuccess)
        error = publish(device);
    if (error == cudaSuccess)
        error = tern_cuda_device_synchronize(device);
    TERN_TRY(tern_cuda_check("fault record", error));
    *fault = *device->mirror;
    return TERN_OK;
}

// Copies of the record that are still queued would set the mirror again: they are waited for.
void tern_plugin_fault_clear(int index)
{
    tern_cuda_device *device = tern_cuda_device_get(index);
    if (tern_cuda_current_capture_on(index) || tern_cuda_device_synchronize(device) != cudaSuccess)
        return;
    if (tern_cuda_set_current_device_for_launch(index) != cudaSuccess ||
        tern_cuda_fault_clear(tern_cuda_current_raw_stream(index), device->fault))
        return;
    memset(device->mirror, 0, sizeof *device->mirror);
    (void)tern_cuda_device_synchronize(device);
}

tern_status tern_plugin_draws_write(int index, tern_draw_state state)
{
    const tern_cuda_device *device = tern_cuda_device_get(index);
    TERN_TRY(tern_cuda_check("random state", tern_cuda_set_current_device_for_launch(index)));
    return tern_cuda_draws_write(tern_cuda_current_raw_stream(index), device->draws, state);
}

tern_status tern_plugin_draws_advance(int index, uint64_t count)
{
    const tern_cuda_device *device = tern_cuda_device_get(index);
    TERN_TRY(tern_cuda_check("random state", tern_cuda_set_current_device_for_launch(index)));
    return tern_cuda_draws_advance(tern_cuda_current_raw_stream(index), device->draws, count);
}

tern_status tern_plugin_draws_read(int index, tern_draw_state *state)
{
    return tern_plugin_to_host(index, state, tern_cuda_device_get(index)->draws, sizeof *state);
}
