// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/trim.h"

#include "base/error.h"
#include "cuda/host/capture.h"
#include "cuda/host/check.h"
#include "cuda/host/current_device.h"
#include "cuda/host/heap.h"
#include "cuda/host/wait.h"
#include "cuda/host/workspace.h"

void tern_cuda_trim(tern_cuda_device *device)
{
    pthread_mutex_lock(&device->lock);
    tern_cuda_heap_trim(device);
    pthread_mutex_unlock(&device->lock);
    tern_cuda_workspace_trim(device);
}

// Not while the thread captures: captured work has not run yet, so waiting for the device does not
// tell that free memory is unused.
bool tern_cuda_make_room(tern_cuda_device *device)
{
    if (tern_cuda_capture_of(device->index) || tern_cuda_device_wait(device) != cudaSuccess)
        return false;
    tern_cuda_trim(device);
    return true;
}

tern_status tern_plugin_empty_cache(int index)
{
    TERN_TRY(tern_cuda_not_capturing(index, "memory is given back"));
    tern_cuda_device *device = tern_cuda_device_of(index);
    TERN_TRY(tern_cuda_check("cuda_empty_cache", tern_cuda_make_current(index)));
    TERN_TRY(tern_cuda_check("cuda_empty_cache", tern_cuda_device_wait(device)));
    tern_cuda_trim(device);
    return TERN_OK;
}
