// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/workspace.h"

cudaError_t tern_cuda_workspace_alloc(tern_cuda_device *device, void **workspace)
{
    pthread_mutex_lock(&device->lock);
    cudaError_t error =
        *workspace ? cudaSuccess : tern_cuda_device_alloc(device, TERN_CUDA_WORKSPACE, workspace);
    pthread_mutex_unlock(&device->lock);
    return error;
}

void tern_cuda_workspace_free(tern_cuda_device *device, void **workspace)
{
    pthread_mutex_lock(&device->lock);
    if (*workspace)
        tern_cuda_device_free(device, TERN_CUDA_WORKSPACE, *workspace);
    *workspace = NULL;
    pthread_mutex_unlock(&device->lock);
}

void tern_cuda_workspace_trim(tern_cuda_device *device)
{
    if (atomic_load(&device->graphs) == 0)
        tern_cuda_workspace_free(device, &device->graph_workspace);
}
