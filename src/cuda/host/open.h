// SPDX-License-Identifier: Apache-2.0
// Opening and closing a device.
#ifndef TERN_SRC_CUDA_HOST_OPEN_H
#define TERN_SRC_CUDA_HOST_OPEN_H

#include <tern/error.h>

tern_status tern_plugin_open(int index);
bool tern_plugin_close(int index);

#endif
