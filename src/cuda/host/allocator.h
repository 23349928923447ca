// SPDX-License-Identifier: Apache-2.0
// The slots for memory of a device, and what its statistics say.
#ifndef TERN_SRC_CUDA_HOST_ALLOCATOR_H
#define TERN_SRC_CUDA_HOST_ALLOCATOR_H

#include "cuda/host/device.h"

void *tern_plugin_alloc(int index, int64_t nbytes, void **block);
void *tern_plugin_alloc_outside(int index, int64_t nbytes, void **block);
void tern_plugin_free(int index, void *data, int64_t nbytes, void *block);
void tern_plugin_use(int index, void *block);

tern_status tern_plugin_memory(int index, tern_cuda_memory *out);
tern_status tern_plugin_memory_unopened(int index, tern_cuda_memory *out);
void tern_plugin_reset_peak(int index);
tern_status tern_plugin_empty_cache(int index);
int tern_plugin_biggest(int index, int64_t *nbytes, int most);

// Gives back what nobody uses. All work on the device was waited for.
void tern_cuda_trim(tern_cuda_device *device);
// Gives back what is cached, for a call that found no memory; false where that cannot be.
bool tern_cuda_make_room(tern_cuda_device *device);

// Raises TERN_ERR_NOMEM, with what there is and who holds it.
tern_status tern_cuda_out_of_memory(tern_cuda_device *device, int64_t nbytes);

#endif
