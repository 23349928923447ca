// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/staging.h"

#include <string.h>
#include "cuda/host/check.h"
#include "cuda/host/stream.h"

#define SMALL_COUNT    32
#define SMALL_CAPACITY ((int64_t)64 << 10)
#define LARGE_COUNT    2
#define LARGE_CAPACITY ((int64_t)4 << 20)
#define LARGE_FROM     (16 * SMALL_CAPACITY) // longer ones would take half of the small buffers

// ---- one ring -----------------------------------------------------------------------------------

static void ring_begin(tern_cuda_staging_ring *ring, unsigned count, int64_t capacity)
{
    memset(ring, 0, sizeof *ring);
    pthread_mutex_init(&ring->lock, NULL);
    ring->count = count;
    ring->capacity = capacity;
}

static void ring_end(tern_cuda_staging_ring *ring)
{
    for (unsigned i = 0; i < ring->count; i++)
        tern_cuda_fence_wait(&ring->copies[i]);
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
    if (!tern_cuda_fence_reached(&ring->copies[buffer]))
        tern_cuda_fence_wait(&ring->copies[buffer]);
    memcpy(memory, host, (size_t)nbytes);
    cudaError_t error =
        cudaMemcpyAsync(data, memory, (size_t)nbytes, cudaMemcpyHostToDevice, stream->stream);
    if (error != cudaSuccess)
        return error;
    error = tern_cuda_fence_record(&ring->copies[buffer], stream);
    return error == cudaSuccess ? error : cudaStreamSynchronize(stream->stream);
}

// Copies one piece, which fits into a buffer.
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

cudaError_t tern_cuda_staging_begin(tern_cuda_staging *staging)
{
    ring_begin(&staging->small, SMALL_COUNT, SMALL_CAPACITY);
    ring_begin(&staging->large, LARGE_COUNT, LARGE_CAPACITY);
    cudaError_t error = ring_allocate(&staging->small);
    if (error != cudaSuccess)
        tern_cuda_staging_end(staging);
    return error;
}

void tern_cuda_staging_end(tern_cuda_staging *staging)
{
    ring_end(&staging->small);
    ring_end(&staging->large);
}

cudaError_t tern_cuda_staging_copy(tern_cuda_staging *staging, tern_cuda_stream *stream, void *data,
                                   const void *host, int64_t nbytes)
{
    const bool large = nbytes > LARGE_FROM && ring_allocate(&staging->large) == cudaSuccess;
    tern_cuda_staging_ring *ring = large ? &staging->large : &staging->small;
    cudaError_t error = cudaSuccess;
    for (int64_t done = 0; done < nbytes && error == cudaSuccess; done += ring->capacity) {
        const int64_t left = nbytes - done;
        const int64_t piece = left < ring->capacity ? left : ring->capacity;
        error = ring_copy(ring, stream, (char *)data + done, (const char *)host + done, piece);
    }
    return error;
}
