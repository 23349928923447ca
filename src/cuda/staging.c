// SPDX-License-Identifier: Apache-2.0
#include "cuda/staging.h"

#include <string.h>
#include "cuda/stream.h"

cudaError_t tern_cuda_staging_begin(tern_cuda_staging *staging)
{
    memset(staging, 0, sizeof *staging);
    void *memory = NULL;
    cudaError_t error = cudaHostAlloc(&memory, (size_t)(TERN_CUDA_STAGES * TERN_CUDA_STAGE_BYTES),
                                      cudaHostAllocPortable);
    if (error != cudaSuccess)
        return error;
    staging->memory = memory;
    pthread_mutex_init(&staging->lock, NULL);
    return cudaSuccess;
}

void tern_cuda_staging_end(tern_cuda_staging *staging)
{
    for (int i = 0; i < TERN_CUDA_STAGES; i++)
        tern_cuda_fence_wait(&staging->busy[i]);
    cudaFreeHost(staging->memory);
    pthread_mutex_destroy(&staging->lock);
}

static cudaError_t copy_through(tern_cuda_staging *staging, unsigned stage,
                                tern_cuda_stream *stream, void *data, const void *host,
                                int64_t nbytes)
{
    char *memory = staging->memory + stage * TERN_CUDA_STAGE_BYTES;
    if (!tern_cuda_fence_reached(&staging->busy[stage]))
        tern_cuda_fence_wait(&staging->busy[stage]);
    memcpy(memory, host, (size_t)nbytes);
    cudaError_t error =
        cudaMemcpyAsync(data, memory, (size_t)nbytes, cudaMemcpyHostToDevice, stream->stream);
    if (error != cudaSuccess)
        return error;
    error = tern_cuda_fence_add(&staging->busy[stage], stream);
    return error == cudaSuccess ? error : cudaStreamSynchronize(stream->stream);
}

cudaError_t tern_cuda_staging_copy(tern_cuda_staging *staging, tern_cuda_stream *stream, void *data,
                                   const void *host, int64_t nbytes)
{
    pthread_mutex_lock(&staging->lock);
    cudaError_t error = copy_through(staging, staging->next, stream, data, host, nbytes);
    staging->next = (staging->next + 1) % TERN_CUDA_STAGES;
    pthread_mutex_unlock(&staging->lock);
    return error;
}
