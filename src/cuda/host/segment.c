// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/segment.h"

#include <stdlib.h>

// ---- structs ------------------------------------------------------------------------------------

static int count_unused(const tern_cuda_heap *heap)
{
    int count = 0;
    for (const tern_cuda_block *block = heap->unused_blocks; block && count < 2;
         block = block->after)
        count++;
    return count;
}

cudaError_t tern_cuda_heap_reserve_structs(tern_cuda_heap *heap)
{
    if (!heap->unused_segments)
        heap->unused_segments = calloc(1, sizeof *heap->unused_segments);
    for (int have = count_unused(heap); have < 2; have++) {
        tern_cuda_block *block = calloc(1, sizeof *block);
        if (!block)
            return cudaErrorMemoryAllocation;
        tern_cuda_block_struct_give(heap, block);
    }
    return heap->unused_segments ? cudaSuccess : cudaErrorMemoryAllocation;
}

void tern_cuda_heap_free_structs(tern_cuda_heap *heap)
{
    while (heap->unused_blocks)
        free(tern_cuda_block_struct_take(heap));
    while (heap->unused_segments) {
        tern_cuda_segment *segment = heap->unused_segments;
        heap->unused_segments = segment->next;
        free(segment);
    }
}

tern_cuda_block *tern_cuda_block_struct_take(tern_cuda_heap *heap)
{
    tern_cuda_block *block = heap->unused_blocks;
    heap->unused_blocks = block->after;
    return block;
}

void tern_cuda_block_struct_give(tern_cuda_heap *heap, tern_cuda_block *block)
{
    block->after = heap->unused_blocks;
    heap->unused_blocks = block;
}

// ---- segments -----------------------------------------------------------------------------------

cudaError_t tern_cuda_segment_new(tern_cuda_device *device, int64_t nbytes, bool small,
                                  tern_cuda_block **block)
{
    void *data = NULL;
    cudaError_t error = tern_cuda_device_alloc(device, nbytes, &data);
    if (error != cudaSuccess)
        return error;
    tern_cuda_heap *heap = &device->heap;
    tern_cuda_segment *segment = heap->unused_segments;
    heap->unused_segments = segment->next;
    *block = tern_cuda_block_struct_take(heap);
    **block = (tern_cuda_block){.data = data, .nbytes = nbytes, .segment = segment};
    *segment = (tern_cuda_segment){
        .data = data, .nbytes = nbytes, .small = small, .first = *block, .next = heap->segments};
    heap->segments = segment;
    return cudaSuccess;
}

void tern_cuda_segment_free(tern_cuda_device *device, tern_cuda_segment *segment)
{
    tern_cuda_heap *heap = &device->heap;
    tern_cuda_device_free(device, segment->nbytes, segment->data);
    tern_cuda_segment **link = &heap->segments;
    while (*link != segment)
        link = &(*link)->next;
    *link = segment->next;
    tern_cuda_block_struct_give(heap, segment->first);
    segment->next = heap->unused_segments;
    heap->unused_segments = segment;
}

bool tern_cuda_segment_is_free(const tern_cuda_segment *segment)
{
    return segment->first->free && !segment->first->after;
}
