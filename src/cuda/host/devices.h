// SPDX-License-Identifier: Apache-2.0
// The slots for devices.
#ifndef TERN_SRC_CUDA_HOST_DEVICES_H
#define TERN_SRC_CUDA_HOST_DEVICES_H

#include "device/backend.h"

int tern_plugin_count(void);
const char *tern_plugin_reason(void);
tern_status tern_plugin_open(int index);
bool tern_plugin_close(int index);
void tern_plugin_exec(int index, tern_exec *exec);
tern_status tern_plugin_synchronize(int index);
tern_status tern_plugin_properties(int index, tern_cuda_properties *out);

#endif
