// SPDX-License-Identifier: Apache-2.0
// Which devices there are, as CUDA tells it.
#ifndef TERN_SRC_CUDA_HOST_DEVICES_H
#define TERN_SRC_CUDA_HOST_DEVICES_H

#include <tern/cuda.h>

int tern_plugin_count(void);
// Why there is none: CUDA's words; "" where there are some.
const char *tern_plugin_reason(void);
tern_status tern_plugin_properties(int index, tern_cuda_properties *out);

#endif
