// SPDX-License-Identifier: Apache-2.0
// Page-locked memory through which copies to a device go: a copy from memory that is not
// page-locked would wait for what the stream has to do before.
#ifndef TERN_SRC_CUDA_STAGING_H
#define TERN_SRC_CUDA_STAGING_H

#include <pthread.h>
#include <stdint.h>
#include "cuda/fence.h"

#define TERN_CUDA_STAGES      32
#define TERN_CUDA_STAGE_BYTES ((int64_t)64 << 10)

// A ring: the oldest copy is waited for when 32 are under way.
typedef struct tern_cuda_staging {
    pthread_mutex_t lock;
    char *memory;
    tern_cuda_fence *busy[TERN_CUDA_STAGES];
    unsigned next;
} tern_cuda_staging;

cudaError_t tern_cuda_staging_begin(tern_cuda_staging *staging);
void tern_cuda_staging_end(tern_cuda_staging *staging);

// Queues a copy of at most TERN_CUDA_STAGE_BYTES; the host's memory may be reused at once.
cudaError_t tern_cuda_staging_copy(tern_cuda_staging *staging, struct tern_cuda_stream *stream,
                                   void *data, const void *host, int64_t nbytes);

#endif
