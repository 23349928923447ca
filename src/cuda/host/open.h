// SPDX-License-Identifier: Apache-2.0
// Opening and closing a device.
#ifndef TERN_SRC_CUDA_HOST_OPEN_H
#define TERN_SRC_CUDA_HOST_OPEN_H

#include "device/backend.h"

tern_status tern_plugin_open(int index, tern_draw_state draws);
bool tern_plugin_close(int index);

#endif
