// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/staging.h"

#include <string.h>
#include "cuda/host/check.h"
#include "cuda/host/stream.h"

#define SMALL_STAGES 32
#define SMALL_BYTES  ((int64_t)64 << 10)
#define LARGE_STAGES 2
#define LARGE_BYTES  ((int64_t)4 << 20)
#define LARGE_FROM   (16 * SMALL_BYTES) // what is longer would fill half of the small stages

// ---- a ring -------------------------------------------------------------------------------------

static void ring_begin(tern_cuda_staging_ring *ring, unsigned stages, int64_t stage_bytes)
{
    memset(ring, 0, sizeof *ring);
    pthread_mutex_init(&ring->lock, NULL);
    ring->stages = stages;
    ring->stage_bytes = stage_bytes;
}

static void ring_end(tern_cuda_staging_ring *ring)
{
    for (unsigned i = 0; i < ring->stages; i++)
        tern_cuda_fence_wait(&ring->busy[i]);
    if (ring->memory)
        cudaFreeHost(ring->memory);
    pthread_mutex_destroy(&ring->lock);
}

// Makes sure that the ring has its memory.
static cudaError_t ring_take(tern_cuda_staging_ring *ring)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&ring->lock);
    if (!ring->memory) {
        void *memory = NULL;
        error =
            cudaHostAlloc(&memory, ring->stages * (size_t)ring->stage_bytes, cudaHostAllocPortable);
        ring->memory = memory;
    }
    pthread_mutex_unlock(&ring->lock);
    return tern_cuda_told(error);
}

static cudaError_t copy_through(tern_cuda_staging_ring *ring, unsigned stage,
                                tern_cuda_stream *stream, void *data, const void *host,
                                int64_t nbytes)
{
    char *memory = ring->memory + stage * ring->stage_bytes;
    if (!tern_cuda_fence_reached(&ring->busy[stage]))
        tern_cuda_fence_wait(&ring->busy[stage]);
    memcpy(memory, host, (size_t)nbytes);
    cudaError_t error =
        cudaMemcpyAsync(data, memory, (size_t)nbytes, cudaMemcpyHostToDevice, stream->stream);
    if (error != cudaSuccess)
        return error;
    error = tern_cuda_fence_add(&ring->busy[stage], stream);
    return error == cudaSuccess ? error : cudaStreamSynchronize(stream->stream);
}

// One piece, of at most a stage.
static cudaError_t ring_copy(tern_cuda_staging_ring *ring, tern_cuda_stream *stream, void *data,
                             const void *host, int64_t nbytes)
{
    pthread_mutex_lock(&ring->lock);
    cudaError_t error = copy_through(ring, ring->next, stream, data, host, nbytes);
    ring->next = (ring->next + 1) % ring->stages;
    pthread_mutex_unlock(&ring->lock);
    return error;
}

// ---- both ---------------------------------------------------------------------------------------

cudaError_t tern_cuda_staging_begin(tern_cuda_staging *staging)
{
    ring_begin(&staging->small, SMALL_STAGES, SMALL_BYTES);
    ring_begin(&staging->large, LARGE_STAGES, LARGE_BYTES);
    cudaError_t error = ring_take(&staging->small);
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
    const bool large = nbytes > LARGE_FROM && ring_take(&staging->large) == cudaSuccess;
    tern_cuda_staging_ring *ring = large ? &staging->large : &staging->small;
    cudaError_t error = cudaSuccess;
    for (int64_t done = 0; done < nbytes && error == cudaSuccess; done += ring->stage_bytes) {
        const int64_t left = nbytes - done;
        const int64_t piece = left < ring->stage_bytes ? left : ring->stage_bytes;
        error = ring_copy(ring, stream, (char *)data + done, (const char *)host + done, piece);
    }
    return error;
}
