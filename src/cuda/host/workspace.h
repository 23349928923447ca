// SPDX-License-Identifier: Apache-2.0
// Memory of the device that cuBLAS uses while a product runs.
#ifndef TERN_SRC_CUDA_HOST_WORKSPACE_H
#define TERN_SRC_CUDA_HOST_WORKSPACE_H

#include "cuda/host/device.h"

#define TERN_CUDA_WORKSPACE ((int64_t)32 << 20) // bytes of one

// Takes one into `*workspace`, where that is NULL.
cudaError_t tern_cuda_workspace_alloc(tern_cuda_device *device, void **workspace);
// Gives it back, if there is one, and leaves NULL.
void tern_cuda_workspace_free(tern_cuda_device *device, void **workspace);
// Gives back the one that the device's graphs share, when there are no graphs.
void tern_cuda_workspace_trim(tern_cuda_device *device);

#endif
