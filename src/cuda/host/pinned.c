// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/pinned.h"

#include <stdlib.h>
#include <string.h>
#include "cuda/host/current.h"
#include "cuda/host/event.h"
#include "cuda/host/caching_allocator.h"
#include "cuda/host/table.h"

// A caching allocator for page-locked host memory, which CUDA is slow to allocate. Blocks are
// powers of two; a freed one is allocated again when the copies that were queued with it are done.
#define SMALLEST ((int64_t)4096)

typedef struct pinned_block {
    void *data;
    int64_t nbytes;
    tern_cuda_block_pool_event *events;
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
        if ((*link)->nbytes == nbytes && tern_cuda_events_query(&(*link)->events)) {
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
    tern_cuda_events_synchronize(&block->events);
    tern_cuda_capture_mode_relaxed_begin();
    cudaFreeHost(block->data);
    tern_cuda_capture_mode_relaxed_end();
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
    tern_cuda_capture_mode_relaxed_begin();
    cudaError_t error = cudaHostAlloc(&block->data, (size_t)nbytes, cudaHostAllocPortable);
    tern_cuda_capture_mode_relaxed_end();
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
    if (error == cudaErrorMemoryAllocation && !tern_cuda_current_capture()) {
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
    if (!tern_cuda_allocator_caches()) {
        free_block(freed);
        return;
    }
    pthread_mutex_lock(&lock);
    freed->next = free_list;
    free_list = freed;
    pthread_mutex_unlock(&lock);
}

// ---- copies -------------------------------------------------------------------------------------

// A captured copy records no event: the graph holds the memory that it copies from and to.
static cudaError_t copy(int index, void *to, const void *from, int64_t nbytes,
                        enum cudaMemcpyKind kind, pinned_block *block)
{
    tern_cuda_stream *stream = tern_cuda_current_stream(index);
    cudaError_t error = tern_cuda_set_current_device(index);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(to, from, (size_t)nbytes, kind, tern_cuda_raw_stream(stream));
    bool captured = false;
    if (error == cudaSuccess)
        error = tern_cuda_stream_captured(stream, &captured);
    if (error != cudaSuccess || captured)
        return error;
    pthread_mutex_lock(&lock);
    error = tern_cuda_events_record(&block->events, stream);
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

#define SMALL_COUNT    32
#define SMALL_CAPACITY ((int64_t)64 << 10)
#define LARGE_COUNT    2
#define LARGE_CAPACITY ((int64_t)4 << 20)
#define LARGE_FROM     (16 * SMALL_CAPACITY) // longer ones would take half of the small buffers

// ---- one ring of staging buffers ----------------------------------------------------------------

static void ring_init(tern_cuda_staging_ring *ring, unsigned count, int64_t capacity)
{
    memset(ring, 0, sizeof *ring);
    pthread_mutex_init(&ring->lock, NULL);
    ring->count = count;
    ring->capacity = capacity;
}

static void ring_destroy(tern_cuda_staging_ring *ring)
{
    for (unsigned i = 0; i < ring->count; i++)
        tern_cuda_events_synchronize(&ring->copies[i]);
    if (ring->memory)
        cudaFreeHost(ring->memory);
    pthread_mutex_destroy(&ring->lock);
}

// Allocates the memory of the ring, unless it has some.
static cudaError_t ring_allocate(tern_cuda_staging_ring *ring)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&ring->lock);
    if (!ring->memory) {
        void *memory = NULL;
        error = cudaHostAlloc(&memory, ring->count * (size_t)ring->capacity, cudaHostAllocPortable);
        ring->memory = memory;
    }
    pthread_mutex_unlock(&ring->lock);
    return tern_cuda_clear_error(error);
}

static cudaError_t copy_through(tern_cuda_staging_ring *ring, unsigned buffer,
                                tern_cuda_stream *stream, void *data, const void *host,
                                int64_t nbytes)
{
    char *memory = ring->memory + buffer * ring->capacity;
    if (!tern_cuda_events_query(&ring->copies[buffer]))
        tern_cuda_events_synchronize(&ring->copies[buffer]);
    memcpy(memory, host, (size_t)nbytes);
    cudaError_t error =
        cudaMemcpyAsync(data, memory, (size_t)nbytes, cudaMemcpyHostToDevice, stream->stream);
    if (error != cudaSuccess)
        return error;
    error = tern_cuda_events_record(&ring->copies[buffer], stream);
    return error == cudaSuccess ? error : cudaStreamSynchronize(stream->stream);
}

// Copies one chunk, which fits into a buffer.
static cudaError_t ring_copy(tern_cuda_staging_ring *ring, tern_cuda_stream *stream, void *data,
                             const void *host, int64_t nbytes)
{
    pthread_mutex_lock(&ring->lock);
    cudaError_t error = copy_through(ring, ring->next, stream, data, host, nbytes);
    ring->next = (ring->next + 1) % ring->count;
    pthread_mutex_unlock(&ring->lock);
    return error;
}

// ---- both rings ---------------------------------------------------------------------------------

cudaError_t tern_cuda_staging_init(tern_cuda_staging *staging)
{
    ring_init(&staging->small, SMALL_COUNT, SMALL_CAPACITY);
    ring_init(&staging->large, LARGE_COUNT, LARGE_CAPACITY);
    cudaError_t error = ring_allocate(&staging->small);
    if (error != cudaSuccess)
        tern_cuda_staging_destroy(staging);
    return error;
}

void tern_cuda_staging_destroy(tern_cuda_staging *staging)
{
    ring_destroy(&staging->small);
    ring_destroy(&staging->large);
}

cudaError_t tern_cuda_staging_copy(tern_cuda_staging *staging, tern_cuda_stream *stream, void *data,
                                   const void *host, int64_t nbytes)
{
    const bool large = nbytes > LARGE_FROM && ring_allocate(&staging->large) == cudaSuccess;
    tern_cuda_staging_ring *ring = large ? &staging->large : &staging->small;
    cudaError_t error = cudaSuccess;
    for (int64_t done = 0; done < nbytes && error == cudaSuccess; done += ring->capacity) {
        const int64_t left = nbytes - done;
        const int64_t chunk = left < ring->capacity ? left : ring->capacity;
        error = ring_copy(ring, stream, (char *)data + done, (const char *)host + done, chunk);
    }
    return error;
}
