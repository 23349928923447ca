// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/caching_allocator.h"
#include "cuda/host/current.h"
#include "cuda/host/event.h"
#include "cuda/host/graph.h"
#include "cuda/host/launch.h"
#include "cuda/host/memory.h"
#include "cuda/host/table.h"

static tern_cuda_block_pool *current_pool(tern_cuda_stream *stream)
{
    tern_cuda_capture *capture = tern_cuda_current_capture_on(stream->index);
    return capture ? &capture->pool : &stream->pool;
}

static void count_allocated(tern_cuda_allocator *allocator, int64_t nbytes)
{
    allocator->allocated += nbytes;
    if (allocator->allocated > allocator->allocated_peak)
        allocator->allocated_peak = allocator->allocated;
}

static cudaError_t alloc_block(tern_cuda_device *device, tern_cuda_stream *stream,
                               tern_cuda_block_pool *pool, int64_t nbytes, tern_cuda_block **block)
{
    pthread_mutex_lock(&device->lock);
    cudaError_t error = tern_cuda_allocator_alloc(device, stream, pool, nbytes, block);
    if (error == cudaSuccess)
        count_allocated(&device->allocator, (*block)->nbytes);
    pthread_mutex_unlock(&device->lock);
    return error;
}

static void *alloc(tern_cuda_stream *stream, tern_cuda_block_pool *pool, int64_t nbytes,
                   void **block)
{
    tern_cuda_device *device = tern_cuda_device_get(stream->index);
    const int64_t rounded = tern_cuda_allocator_round_up(nbytes);
    tern_cuda_block *taken = NULL;
    cudaError_t error = tern_cuda_set_current_device(stream->index);
    if (error == cudaSuccess)
        error = rounded < 0 ? cudaErrorMemoryAllocation
                            : alloc_block(device, stream, pool, rounded, &taken);
    if (error == cudaErrorMemoryAllocation && rounded >= 0 &&
        tern_cuda_synchronize_and_trim(device))
        error = alloc_block(device, stream, pool, rounded, &taken);
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
    tern_cuda_stream *stream = tern_cuda_current_stream(index);
    return alloc(stream, current_pool(stream), nbytes, block);
}

void *tern_plugin_alloc_outside(int index, int64_t nbytes, void **block)
{
    tern_cuda_stream *stream = tern_cuda_current_stream(index);
    return alloc(stream, &stream->pool, nbytes, block);
}

// ---- freeing and use ----------------------------------------------------------------------------

typedef cudaError_t user_fn(tern_cuda_block *block, tern_cuda_stream *user);

static cudaError_t record_event(tern_cuda_block *block, tern_cuda_stream *user)
{
    return tern_cuda_events_record(&block->events, user);
}

static cudaError_t wait_for_user(tern_cuda_block *block, tern_cuda_stream *user)
{
    return tern_cuda_stream_wait_stream(block->stream, user);
}

static bool used_by_others(const tern_cuda_block *block)
{
    return block->users & ~((uint64_t)1 << block->stream->slot);
}

// Calls a function for every other stream that used the block. Where that fails, for want of an
// event, the host waits.
static void for_other_users(tern_cuda_device *device, tern_cuda_block *block, user_fn *call)
{
    for (int slot = 0; slot < TERN_CUDA_STREAMS; slot++) {
        tern_cuda_stream *stream = device->streams[slot];
        bool user = stream && stream != block->stream && block->users >> slot & 1;
        if (user && call(block, stream) != cudaSuccess) {
            tern_cuda_clear_error(cudaStreamSynchronize(stream->stream));
        }
    }
}

static void free_block(tern_cuda_device *device, tern_cuda_block *block)
{
    tern_cuda_capture *capture = tern_cuda_current_capture_on(device->index);
    if (capture) // captured work may have used it: the graph keeps it
        block->pool = &capture->pool;
    if (used_by_others(block))
        for_other_users(device, block, capture ? wait_for_user : record_event);
    if (block->events)
        tern_cuda_allocator_free_later(device, block);
    else
        tern_cuda_allocator_free(device, block);
}

void tern_plugin_free(int index, void *data, int64_t nbytes, void *block)
{
    (void)nbytes;
    if (!data)
        return;
    tern_cuda_block *freed = block;
    tern_cuda_device *device = tern_cuda_device_get(index);
    (void)tern_cuda_set_current_device(index);
    pthread_mutex_lock(&device->lock);
    device->allocator.allocated -= freed->nbytes;
    free_block(device, freed);
    pthread_mutex_unlock(&device->lock);
}

// The stream waits for the one that used the block last; for a captured use each replay does.
static void use_after_last(tern_cuda_block *block, tern_cuda_stream *stream)
{
    tern_cuda_stream *last = block->last;
    tern_cuda_capture *capture = tern_cuda_current_capture_on(stream->index);
    bool captured;
    cudaError_t error = tern_cuda_stream_captured(last, &captured);
    if (error == cudaSuccess && capture && !captured)
        capture->users |= (uint64_t)1 << last->slot;
    else if (error == cudaSuccess)
        error = tern_cuda_stream_wait_stream(stream, last);
    if (error != cudaSuccess)
        tern_cuda_clear_error(cudaStreamSynchronize(last->stream));
    block->last = stream;
}

static void use(tern_cuda_block *block, tern_cuda_stream *stream)
{
    if (!block->last) {
        if (tern_cuda_graph_result_use(block->pool->graph, stream) != cudaSuccess)
            tern_cuda_streams_synchronize_to_free(tern_cuda_device_get(stream->index));
    } else if (block->last != stream) {
        use_after_last(block, stream);
    }
    block->users |= (uint64_t)1 << stream->slot;
}

void tern_plugin_use(int index, void *block)
{
    tern_cuda_block *used = block;
    tern_cuda_stream *stream = tern_cuda_current_stream(index);
    if (atomic_load_explicit(&used->last, memory_order_relaxed) == stream)
        return;
    tern_cuda_device *device = tern_cuda_device_get(index);
    pthread_mutex_lock(&device->lock);
    use(used, stream);
    pthread_mutex_unlock(&device->lock);
}

// ---- scratch of a call --------------------------------------------------------------------------

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
