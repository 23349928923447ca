// SPDX-License-Identifier: Apache-2.0
// The slots for memory: blocks of a device's heap, in the order of streams.
#include "cuda/allocator.h"

#include <stdatomic.h>
#include "cuda/check.h"
#include "cuda/graph.h"
#include "cuda/heap.h"

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

static cudaError_t take(tern_cuda_device *device, int64_t nbytes, tern_cuda_block **block)
{
    tern_cuda_stream *stream = tern_cuda_stream_of(device->index);
    pthread_mutex_lock(&device->lock);
    cudaError_t error = tern_cuda_heap_take(device, stream, pool_of(stream), nbytes, block);
    if (error == cudaSuccess)
        count_allocated(&device->heap, (*block)->nbytes);
    pthread_mutex_unlock(&device->lock);
    return error;
}

// A graph that is being captured may use what is free only when it is replayed: then nothing is
// given back.
bool tern_cuda_make_room(tern_cuda_device *device)
{
    if (tern_cuda_capture_of(device->index) || tern_cuda_device_wait(device) != cudaSuccess)
        return false;
    pthread_mutex_lock(&device->lock);
    tern_cuda_heap_trim(device);
    pthread_mutex_unlock(&device->lock);
    return true;
}

void *tern_plugin_alloc(int index, int64_t nbytes, void **block)
{
    tern_cuda_device *device = tern_cuda_device_of(index);
    const int64_t rounded = tern_cuda_heap_rounded(nbytes);
    tern_cuda_block *taken = NULL;
    cudaError_t error = tern_cuda_enter(index);
    if (error == cudaSuccess)
        error = rounded < 0 ? cudaErrorMemoryAllocation : take(device, rounded, &taken);
    if (error == cudaErrorMemoryAllocation && rounded >= 0 && tern_cuda_make_room(device))
        error = take(device, rounded, &taken);
    if (error == cudaErrorMemoryAllocation)
        tern_cuda_out_of_memory(device, nbytes);
    else
        (void)tern_cuda_check("memory of a CUDA device", error);
    if (error != cudaSuccess)
        return NULL;
    *block = taken;
    return taken->data;
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

void tern_plugin_use(int index, void *block)
{
    tern_cuda_block *used = block;
    tern_cuda_stream *stream = tern_cuda_stream_of(index);
    if (atomic_load_explicit(&used->last, memory_order_relaxed) == stream)
        return;
    tern_cuda_device *device = tern_cuda_device_of(index);
    pthread_mutex_lock(&device->lock);
    if (used->last != stream && tern_cuda_stream_order(used->last, stream) != cudaSuccess) {
        cudaStreamSynchronize(((tern_cuda_stream *)used->last)->stream);
        cudaGetLastError();
    }
    used->users |= (uint64_t)1 << stream->slot;
    used->last = stream;
    pthread_mutex_unlock(&device->lock);
}

tern_status tern_plugin_empty_cache(int index)
{
    TERN_TRY(tern_cuda_not_capturing(index, "memory is given back"));
    tern_cuda_device *device = tern_cuda_device_of(index);
    TERN_TRY(tern_cuda_check("cuda_empty_cache", tern_cuda_enter(index)));
    TERN_TRY(tern_cuda_check("cuda_empty_cache", tern_cuda_device_wait(device)));
    pthread_mutex_lock(&device->lock);
    tern_cuda_heap_trim(device);
    pthread_mutex_unlock(&device->lock);
    return TERN_OK;
}

// ---- scratch of kernels -------------------------------------------------------------------------

tern_status tern_cuda_scratch_take(const tern_exec *exec, int64_t nbytes,
                                   tern_cuda_scratch *scratch)
{
    scratch->data = tern_plugin_alloc(exec->device.index, nbytes, &scratch->block);
    scratch->nbytes = nbytes;
    return scratch->data ? TERN_OK : TERN_ERR_NOMEM;
}

void tern_cuda_scratch_free(const tern_exec *exec, tern_cuda_scratch *scratch)
{
    tern_plugin_free(exec->device.index, scratch->data, scratch->nbytes, scratch->block);
    *scratch = (tern_cuda_scratch){0};
}
