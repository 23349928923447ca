// SPDX-License-Identifier: Apache-2.0
// What a device's memory is used for: statistics, and the error when there is none left.
#ifndef TERN_SRC_CUDA_HOST_MEMORY_H
#define TERN_SRC_CUDA_HOST_MEMORY_H

#include "cuda/host/device.h"

tern_status tern_plugin_memory(int index, tern_cuda_memory *out);
tern_status tern_plugin_memory_unopened(int index, tern_cuda_memory *out);
void tern_plugin_reset_peak(int index);
// The nbytes of the biggest blocks in use, in descending order; returns their count.
int tern_plugin_biggest(int index, int64_t *nbytes, int capacity);

// Raises TERN_ERR_NOMEM, with what there is and who holds it.
tern_status tern_cuda_out_of_memory(tern_cuda_device *device, int64_t nbytes);

#endif
