// SPDX-License-Identifier: Apache-2.0
// The device table's functions for memory: blocks of a device's heap, in the order of streams.
#ifndef TERN_SRC_CUDA_HOST_ALLOCATOR_H
#define TERN_SRC_CUDA_HOST_ALLOCATOR_H

#include <stdint.h>

void *tern_plugin_alloc(int index, int64_t nbytes, void **block);
void *tern_plugin_alloc_outside(int index, int64_t nbytes, void **block);
void tern_plugin_free(int index, void *data, int64_t nbytes, void *block);
void tern_plugin_use(int index, void *block);

#endif
