// SPDX-License-Identifier: Apache-2.0
// Giving cached memory back to the device.
#ifndef TERN_SRC_CUDA_HOST_TRIM_H
#define TERN_SRC_CUDA_HOST_TRIM_H

#include "cuda/host/device.h"

// Frees what is cached: free segments, and the graphs' workspace without graphs. The caller waited
// for the device.
void tern_cuda_trim(tern_cuda_device *device);
// Waits for the device and trims, for a call that found no memory. False where that cannot be: the
// thread captures, or the device failed.
bool tern_cuda_make_room(tern_cuda_device *device);

tern_status tern_plugin_empty_cache(int index);

#endif
