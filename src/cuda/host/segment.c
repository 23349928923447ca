// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/segment.h"

#include <stdlib.h>

// ---- descriptions -------------------------------------------------------------------------------

static int spare_blocks(const tern_cuda_heap *heap)
{
    int count = 0;
    for (const tern_cuda_block *block = heap->spare; block && count < 2; block = block->after)
        count++;
    return count;
}

cudaError_t tern_cuda_heap_spares(tern_cuda_heap *heap)
{
    if (!heap->spare_segment)
        heap->spare_segment = calloc(1, sizeof *heap->spare_segment);
    for (int have = spare_blocks(heap); have < 2; have++) {
        tern_cuda_block *block = calloc(1, sizeof *block);
        if (!block)
            return cudaErrorMemoryAllocation;
        tern_cuda_block_give(heap, block);
    }
    return heap->spare_segment ? cudaSuccess : cudaErrorMemoryAllocation;
}

void tern_cuda_heap_drop_spares(tern_cuda_heap *heap)
{
    while (heap->spare)
        free(tern_cuda_block_take(heap));
    while (heap->spare_segment) {
        tern_cuda_segment *segment = heap->spare_segment;
        heap->spare_segment = segment->next;
        free(segment);
    }
}

tern_cuda_block *tern_cuda_block_take(tern_cuda_heap *heap)
{
    tern_cuda_block *block = heap->spare;
    heap->spare = block->after;
    return block;
}

void tern_cuda_block_give(tern_cuda_heap *heap, tern_cuda_block *block)
{
    block->after = heap->spare;
    heap->spare = block;
}

// ---- segments -----------------------------------------------------------------------------------

cudaError_t tern_cuda_segment_new(tern_cuda_device *device, int64_t nbytes, bool small,
                                  tern_cuda_block **block)
{
    void *data = NULL;
    cudaError_t error = tern_cuda_device_take(device, nbytes, &data);
    if (error != cudaSuccess)
        return error;
    tern_cuda_heap *heap = &device->heap;
    tern_cuda_segment *segment = heap->spare_segment;
    heap->spare_segment = segment->next;
    *block = tern_cuda_block_take(heap);
    **block = (tern_cuda_block){.data = data, .nbytes = nbytes, .segment = segment};
    *segment = (tern_cuda_segment){
        .data = data, .nbytes = nbytes, .small = small, .first = *block, .next = heap->segments};
    heap->segments = segment;
    return cudaSuccess;
}

void tern_cuda_segment_free(tern_cuda_device *device, tern_cuda_segment *segment)
{
    tern_cuda_heap *heap = &device->heap;
    tern_cuda_device_give(device, segment->nbytes, segment->data);
    tern_cuda_segment **link = &heap->segments;
    while (*link != segment)
        link = &(*link)->next;
    *link = segment->next;
    tern_cuda_block_give(heap, segment->first);
    segment->next = heap->spare_segment;
    heap->spare_segment = segment;
}

bool tern_cuda_segment_idle(const tern_cuda_segment *segment)
{
    return segment->first->free && !segment->first->after;
}
