// SPDX-License-Identifier: Apache-2.0
// The slots for memory: blocks of a device's heap, in the order of streams.
#include "cuda/host/allocator.h"

#include <stdatomic.h>
#include "cuda/host/capture.h"
#include "cuda/host/check.h"
#include "cuda/host/current_device.h"
#include "cuda/host/current_stream.h"
#include "cuda/host/device.h"
#include "cuda/host/fence.h"
#include "cuda/host/graph.h"
#include "cuda/host/heap.h"
#include "cuda/host/memory.h"
#include "cuda/host/trim.h"

static tern_cuda_pool *pool_of(tern_cuda_stream *stream)
{
    tern_cuda_capture *capture = tern_cuda_capture_of(stream->index);
    return capture ? &capture->pool : &stream->pool;
}

static void count_allocated(tern_cuda_heap *heap, int64_t nbytes)
{
    heap->allocated += nbytes;
    if (heap->allocated > heap->allocated_peak)
        heap->allocated_peak = heap->allocated;
}

static cudaError_t take(tern_cuda_device *device, tern_cuda_stream *stream, tern_cuda_pool *pool,
                        int64_t nbytes, tern_cuda_block **block)
{
    pthread_mutex_lock(&device->lock);
    cudaError_t error = tern_cuda_heap_take(device, stream, pool, nbytes, block);
    if (error == cudaSuccess)
        count_allocated(&device->heap, (*block)->nbytes);
    pthread_mutex_unlock(&device->lock);
    return error;
}

static void *alloc(tern_cuda_stream *stream, tern_cuda_pool *pool, int64_t nbytes, void **block)
{
    tern_cuda_device *device = tern_cuda_device_of(stream->index);
    const int64_t rounded = tern_cuda_heap_rounded(nbytes);
    tern_cuda_block *taken = NULL;
    cudaError_t error = tern_cuda_enter(stream->index);
    if (error == cudaSuccess)
        error =
            rounded < 0 ? cudaErrorMemoryAllocation : take(device, stream, pool, rounded, &taken);
    if (error == cudaErrorMemoryAllocation && rounded >= 0 && tern_cuda_make_room(device))
        error = take(device, stream, pool, rounded, &taken);
    if (error == cudaErrorMemoryAllocation)
        tern_cuda_out_of_memory(device, nbytes);
    else
        (void)tern_cuda_check("memory of a CUDA device", error);
    if (error != cudaSuccess)
        return NULL;
    *block = taken;
    return taken->data;
}

void *tern_plugin_alloc(int index, int64_t nbytes, void **block)
{
    tern_cuda_stream *stream = tern_cuda_stream_of(index);
    return alloc(stream, pool_of(stream), nbytes, block);
}

void *tern_plugin_alloc_outside(int index, int64_t nbytes, void **block)
{
    tern_cuda_stream *stream = tern_cuda_stream_of(index);
    return alloc(stream, &stream->pool, nbytes, block);
}

// ---- freeing ------------------------------------------------------------------------------------

typedef cudaError_t each_stream(tern_cuda_block *block, tern_cuda_stream *user);

static cudaError_t add_fence(tern_cuda_block *block, tern_cuda_stream *user)
{
    return tern_cuda_fence_add(&block->fences, user);
}

static cudaError_t follow(tern_cuda_block *block, tern_cuda_stream *user)
{
    return tern_cuda_stream_order(user, block->stream);
}

static bool used_by_others(const tern_cuda_block *block)
{
    return block->users & ~((uint64_t)1 << block->stream->slot);
}

// Where there is no event to be had, the host waits.
static void for_other_users(tern_cuda_device *device, tern_cuda_block *block, each_stream *each)
{
    for (int slot = 0; slot < TERN_CUDA_STREAMS; slot++) {
        tern_cuda_stream *stream = device->streams[slot];
        bool user = stream && stream != block->stream && block->users >> slot & 1;
        if (user && each(block, stream) != cudaSuccess) {
            tern_cuda_told(cudaStreamSynchronize(stream->stream));
        }
    }
}

static void put(tern_cuda_device *device, tern_cuda_block *block)
{
    tern_cuda_capture *capture = tern_cuda_capture_of(device->index);
    if (capture) // captured work may have used it: the graph keeps it
        block->pool = &capture->pool;
    if (used_by_others(block))
        for_other_users(device, block, capture ? follow : add_fence);
    if (block->fences)
        tern_cuda_heap_put_later(device, block);
    else
        tern_cuda_heap_put(device, block);
}

void tern_plugin_free(int index, void *data, int64_t nbytes, void *block)
{
    (void)nbytes;
    if (!data)
        return;
    tern_cuda_block *freed = block;
    tern_cuda_device *device = tern_cuda_device_of(index);
    (void)tern_cuda_enter(index);
    pthread_mutex_lock(&device->lock);
    device->heap.allocated -= freed->nbytes;
    put(device, freed);
    pthread_mutex_unlock(&device->lock);
}

// Behind the stream that used the block last. What a capture uses it waits for at its replays.
static void use_next(tern_cuda_block *block, tern_cuda_stream *stream)
{
    tern_cuda_stream *last = block->last;
    tern_cuda_capture *capture = tern_cuda_capture_of(stream->index);
    if (capture && !tern_cuda_stream_captured(last))
        capture->users |= (uint64_t)1 << last->slot;
    else if (tern_cuda_stream_order(last, stream) != cudaSuccess)
        tern_cuda_told(cudaStreamSynchronize(last->stream));
    block->last = stream;
}

static void use(tern_cuda_block *block, tern_cuda_stream *stream)
{
    if (!block->last)
        (void)tern_cuda_told(tern_cuda_graph_result_use(block->pool->graph, stream));
    else if (block->last != stream)
        use_next(block, stream);
    block->users |= (uint64_t)1 << stream->slot;
}

void tern_plugin_use(int index, void *block)
{
    tern_cuda_block *used = block;
    tern_cuda_stream *stream = tern_cuda_stream_of(index);
    if (atomic_load_explicit(&used->last, memory_order_relaxed) == stream)
        return;
    tern_cuda_device *device = tern_cuda_device_of(index);
    pthread_mutex_lock(&device->lock);
    use(used, stream);
    pthread_mutex_unlock(&device->lock);
}
