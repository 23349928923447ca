// SPDX-License-Identifier: Apache-2.0
// The host waits for a device.
#ifndef TERN_SRC_CUDA_HOST_WAIT_H
#define TERN_SRC_CUDA_HOST_WAIT_H

#include "cuda/host/device.h"

// Waits for all work on the device but what is being captured.
cudaError_t tern_cuda_device_wait(tern_cuda_device *device);
// The same for a caller that holds one of the device's locks.
cudaError_t tern_cuda_streams_wait(const tern_cuda_device *device);
// Both for one that frees what the work uses, and so must not be kept by one failing call.
void tern_cuda_device_wait_to_free(tern_cuda_device *device);
void tern_cuda_streams_wait_to_free(const tern_cuda_device *device);

tern_status tern_plugin_synchronize(int index);

#endif
