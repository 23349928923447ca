// SPDX-License-Identifier: Apache-2.0
// The CUDA backend, which is opened at run time.
#ifndef TERN_SRC_DEVICE_PLUGIN_H
#define TERN_SRC_DEVICE_PLUGIN_H

#include "device/backend.h"

// The backend when there is a plugin, a driver and a device; else NULL, and tern_cuda_reason says
// why. The first call opens the plugin; it is never closed.
const tern_backend *tern_cuda_backend(void);

// What CUDA_VISIBLE_DEVICES says, to follow a number of devices in a sentence; "" where it is not
// set.
const char *tern_cuda_visible(void);

// Closes the devices that nothing is alive on.
void tern_cuda_shutdown(void);

#endif
