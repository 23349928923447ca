// SPDX-License-Identifier: Apache-2.0
// Segments of device memory, and the structs that describe segments and blocks. Structs are kept in
// free lists, so that a step whose shapes were seen before allocates no host memory; they come from
// the C library, because a program may exchange tern's allocator while devices are open.
#ifndef TERN_SRC_CUDA_HOST_SEGMENT_H
#define TERN_SRC_CUDA_HOST_SEGMENT_H

#include "cuda/host/device.h"

// Makes sure that the free lists have what one allocation may need: a segment and two blocks.
cudaError_t tern_cuda_heap_reserve_structs(tern_cuda_heap *heap);
void tern_cuda_heap_free_structs(tern_cuda_heap *heap);
// From the free list, which is not empty, and back to it.
tern_cuda_block *tern_cuda_block_struct_take(tern_cuda_heap *heap);
void tern_cuda_block_struct_give(tern_cuda_heap *heap, tern_cuda_block *block);

// A segment of one block, which is not free. Structs were reserved.
cudaError_t tern_cuda_segment_new(tern_cuda_device *device, int64_t nbytes, bool small,
                                  tern_cuda_block **block);
void tern_cuda_segment_free(tern_cuda_device *device, tern_cuda_segment *segment);
// Whether one free block is the whole segment.
bool tern_cuda_segment_is_free(const tern_cuda_segment *segment);

#endif
