// SPDX-License-Identifier: Apache-2.0
// Giving cached memory back to the device.
#ifndef TERN_SRC_CUDA_HOST_TRIM_H
#define TERN_SRC_CUDA_HOST_TRIM_H

#include "cuda/host/device.h"

// Gives back what nobody uses. All work on the device was waited for.
void tern_cuda_trim(tern_cuda_device *device);
// Gives back what is cached, for a call that found no memory; false where that cannot be.
bool tern_cuda_make_room(tern_cuda_device *device);

tern_status tern_plugin_empty_cache(int index);

#endif
