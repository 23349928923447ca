// SPDX-License-Identifier: Apache-2.0
// The calling thread's default device and current CUDA device, and what devices are called.
#ifndef TERN_SRC_DEVICE_CURRENT_H
#define TERN_SRC_DEVICE_CURRENT_H

#include <tern/device.h>

// The unspecified device as the default one, "cuda" as the current one.
tern_device tern_device_or_default(tern_device device);
// Unchecked.
void tern_default_device_set(tern_device device);
void tern_cuda_current_device_set(int index);

#endif
