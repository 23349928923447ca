// SPDX-License-Identifier: Apache-2.0
// Memory from the device, and what describes it. Descriptions that are no longer needed are kept,
// so that a step seen before takes no host memory; they come from the C library, because they
// outlive everything a program may free before it exchanges the allocator.
#ifndef TERN_SRC_CUDA_HOST_SEGMENT_H
#define TERN_SRC_CUDA_HOST_SEGMENT_H

#include "cuda/host/device.h"

// There are descriptions for what one take may need: a segment and two blocks.
cudaError_t tern_cuda_heap_spares(tern_cuda_heap *heap);
void tern_cuda_heap_drop_spares(tern_cuda_heap *heap);
tern_cuda_block *tern_cuda_block_take(tern_cuda_heap *heap);
void tern_cuda_block_give(tern_cuda_heap *heap, tern_cuda_block *block);

// A segment of one block, which is not free. There are spares.
cudaError_t tern_cuda_segment_new(tern_cuda_device *device, int64_t nbytes, bool small,
                                  tern_cuda_block **block);
void tern_cuda_segment_free(tern_cuda_device *device, tern_cuda_segment *segment);
// One free block is all there is in it.
bool tern_cuda_segment_idle(const tern_cuda_segment *segment);

#endif
