// SPDX-License-Identifier: Apache-2.0
// Memory of the device in segments, sets of free blocks, and the structs that describe segments and
// blocks. Structs are kept in free lists, so that a step whose shapes were seen before allocates no
// host memory; they come from the C library, because a program may exchange tern's allocator while
// devices are open.
#ifndef TERN_SRC_CUDA_HOST_BLOCK_POOL_H
#define TERN_SRC_CUDA_HOST_BLOCK_POOL_H

#include "cuda/host/device.h"

// cudaMalloc and cudaFree, counted in the allocator as reserved; also while the thread captures.
// For segments, and for workspaces and state. Under the device's lock, once it is open.
cudaError_t tern_cuda_device_alloc(tern_cuda_device *device, int64_t nbytes, void **data);
void tern_cuda_device_free(tern_cuda_device *device, int64_t nbytes, void *data);

// Free blocks in the order of size, then address.
void tern_cuda_free_set_add(tern_cuda_free_set *set, tern_cuda_block *block);
void tern_cuda_free_set_remove(tern_cuda_free_set *set, tern_cuda_block *block);
// The smallest of at least nbytes, the lowest of equals; NULL without any. It stays in the set.
tern_cuda_block *tern_cuda_free_set_fit(const tern_cuda_free_set *set, int64_t nbytes);

// Makes sure that the free lists have what one allocation may need: a segment and two blocks.
cudaError_t tern_cuda_allocator_reserve_structs(tern_cuda_allocator *allocator);
void tern_cuda_allocator_free_structs(tern_cuda_allocator *allocator);
// From the free list, which is not empty, and back to it.
tern_cuda_block *tern_cuda_block_struct_take(tern_cuda_allocator *allocator);
void tern_cuda_block_struct_give(tern_cuda_allocator *allocator, tern_cuda_block *block);

// A segment of one block, which is not free. Structs were reserved.
cudaError_t tern_cuda_segment_new(tern_cuda_device *device, int64_t nbytes, bool small,
                                  tern_cuda_block **block);
void tern_cuda_segment_free(tern_cuda_device *device, tern_cuda_segment *segment);
// Whether one free block is the whole segment.
bool tern_cuda_segment_is_free(const tern_cuda_segment *segment);

#endif
