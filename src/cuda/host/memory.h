// SPDX-License-Identifier: Apache-2.0
// Memory that is left on a device: freeing what is cached, workspaces, and the error without any.
#ifndef TERN_SRC_CUDA_HOST_MEMORY_H
#define TERN_SRC_CUDA_HOST_MEMORY_H

#include "cuda/host/device.h"

#define TERN_CUDA_WORKSPACE ((int64_t)32 << 20) // bytes of one

// Takes one into `*workspace`, where that is NULL.
cudaError_t tern_cuda_workspace_alloc(tern_cuda_device *device, void **workspace);
// Gives it back, if there is one, and leaves NULL.
void tern_cuda_workspace_free(tern_cuda_device *device, void **workspace);
// Gives back the one that the device's graphs share, when there are no graphs.
void tern_cuda_workspace_trim(tern_cuda_device *device);

// Frees what is cached: free segments, and the graphs' workspace without graphs. The caller waited
// for the device.
void tern_cuda_trim(tern_cuda_device *device);
// Waits for the device and trims, for a call that found no memory. False where that cannot be: the
// thread captures, or the device failed.
bool tern_cuda_synchronize_and_trim(tern_cuda_device *device);

// Raises TERN_ERR_NOMEM, with what there is and who holds it.
tern_status tern_cuda_out_of_memory(tern_cuda_device *device, int64_t nbytes);

#endif
