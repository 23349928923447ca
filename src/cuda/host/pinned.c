// SPDX-License-Identifier: Apache-2.0
// A caching allocator for page-locked host memory, which CUDA is slow to allocate. Blocks are
// powers of two; a freed one is allocated again when the copies that were queued with it are done.
#include "cuda/host/pinned.h"

#include <stdlib.h>
#include "cuda/host/capture.h"
#include "cuda/host/check.h"
#include "cuda/host/current_device.h"
#include "cuda/host/current_stream.h"
#include "cuda/host/fence.h"
#include "cuda/host/heap.h"

#define SMALLEST ((int64_t)4096)

typedef struct pinned_block {
    void *data;
    int64_t nbytes;
    tern_cuda_fence *fences;
    struct pinned_block *next; // in the free list
} pinned_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pinned_block *free_list;

static int64_t round_up(int64_t nbytes)
{
    int64_t power = SMALLEST;
    while (power < nbytes && power <= INT64_MAX / 2)
        power *= 2;
    return power;
}

static pinned_block *take_free(int64_t nbytes)
{
    pinned_block *found = NULL;
    pthread_mutex_lock(&lock);
    for (pinned_block **link = &free_list; *link; link = &(*link)->next) {
        if ((*link)->nbytes == nbytes && tern_cuda_fence_reached(&(*link)->fences)) {
            found = *link;
            *link = found->next;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void free_block(pinned_block *block)
{
    tern_cuda_fence_wait(&block->fences);
    tern_cuda_relax();
    cudaFreeHost(block->data);
    tern_cuda_unrelax();
    cudaGetLastError();
    free(block);
}

void tern_cuda_pinned_trim(void)
{
    pthread_mutex_lock(&lock);
    pinned_block *block = free_list;
    free_list = NULL;
    pthread_mutex_unlock(&lock);
    while (block) {
        pinned_block *next = block->next;
        free_block(block);
        block = next;
    }
}

static cudaError_t take_new(int64_t nbytes, pinned_block **out)
{
    pinned_block *block = calloc(1, sizeof *block);
    if (!block)
        return cudaErrorMemoryAllocation;
    tern_cuda_relax();
    cudaError_t error = cudaHostAlloc(&block->data, (size_t)nbytes, cudaHostAllocPortable);
    tern_cuda_unrelax();
    block->nbytes = nbytes;
    if (error == cudaSuccess) {
        *out = block;
    } else {
        cudaGetLastError(); // see tern_cuda_clear_error
        free(block);
    }
    return error;
}

void *tern_plugin_pinned_alloc(int64_t nbytes, void **block)
{
    const int64_t rounded = round_up(nbytes);
    pinned_block *taken = take_free(rounded);
    cudaError_t error = taken ? cudaSuccess : take_new(rounded, &taken);
    if (error == cudaErrorMemoryAllocation && !tern_cuda_capture_of_thread()) {
        tern_cuda_pinned_trim();
        error = take_new(rounded, &taken);
    }
    if (error != cudaSuccess) {
        (void)tern_cuda_check("page-locked memory", error);
        return NULL;
    }
    *block = taken;
    return taken->data;
}

void tern_plugin_pinned_free(void *data, int64_t nbytes, void *block)
{
    (void)nbytes;
    pinned_block *freed = block;
    if (!data)
        return;
    if (!tern_cuda_heap_caches()) {
        free_block(freed);
        return;
    }
    pthread_mutex_lock(&lock);
    freed->next = free_list;
    free_list = freed;
    pthread_mutex_unlock(&lock);
}

// ---- copies -------------------------------------------------------------------------------------

// A captured copy records no fence: the graph holds the memory that it copies from and to.
static cudaError_t copy(int index, void *to, const void *from, int64_t nbytes,
                        enum cudaMemcpyKind kind, pinned_block *block)
{
    tern_cuda_stream *stream = tern_cuda_stream_of(index);
    cudaError_t error = tern_cuda_make_current(index);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(to, from, (size_t)nbytes, kind, tern_cuda_raw_stream(stream));
    bool captured = false;
    if (error == cudaSuccess)
        error = tern_cuda_stream_captured(stream, &captured);
    if (error != cudaSuccess || captured)
        return error;
    pthread_mutex_lock(&lock);
    error = tern_cuda_fence_record(&block->fences, stream);
    pthread_mutex_unlock(&lock);
    return error == cudaSuccess ? error : cudaStreamSynchronize(stream->stream);
}

tern_status tern_plugin_pinned_to_device(int index, void *data, const void *host, int64_t nbytes,
                                         void *block)
{
    if (nbytes == 0)
        return TERN_OK;
    return tern_cuda_check("copy to the device",
                           copy(index, data, host, nbytes, cudaMemcpyHostToDevice, block));
}

tern_status tern_plugin_pinned_to_host(int index, void *host, const void *data, int64_t nbytes,
                                       void *block)
{
    if (nbytes == 0)
        return TERN_OK;
    return tern_cuda_check("copy to the host",
                           copy(index, host, data, nbytes, cudaMemcpyDeviceToHost, block));
}
