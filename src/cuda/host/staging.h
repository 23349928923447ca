// SPDX-License-Identifier: Apache-2.0
// Staging buffers in page-locked memory for copies to a device: a copy from pageable memory would
// wait for the stream's work.
#ifndef TERN_SRC_CUDA_HOST_STAGING_H
#define TERN_SRC_CUDA_HOST_STAGING_H

#include <pthread.h>
#include <stdint.h>
#include "cuda/host/fence.h"

#define TERN_CUDA_STAGING_BUFFERS 32 // the most that a ring has

// A ring of buffers: a copy takes the next one, and waits if an earlier copy from it is not done.
typedef struct tern_cuda_staging_ring {
    pthread_mutex_t lock;
    unsigned count;
    int64_t capacity; // bytes of one buffer
    char *memory;     // of all buffers; NULL until they are allocated
    tern_cuda_fence *copies[TERN_CUDA_STAGING_BUFFERS]; // queued from each buffer
    unsigned next;
} tern_cuda_staging_ring;

// Many small buffers for batches and single values; two large ones, so that one is filled while the
// other is copied. A device that gets nothing large never allocates the large ones.
typedef struct tern_cuda_staging {
    tern_cuda_staging_ring small, large;
} tern_cuda_staging;

cudaError_t tern_cuda_staging_begin(tern_cuda_staging *staging);
void tern_cuda_staging_end(tern_cuda_staging *staging);

// Queues a copy; the host's memory may be reused at once. The first large one allocates the large
// ring; where that fails, the copy goes through the small one. Between tern_cuda_relax and
// tern_cuda_unrelax.
cudaError_t tern_cuda_staging_copy(tern_cuda_staging *staging, struct tern_cuda_stream *stream,
                                   void *data, const void *host, int64_t nbytes);

#endif
