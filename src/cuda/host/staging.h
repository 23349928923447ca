// SPDX-License-Identifier: Apache-2.0
// Page-locked memory through which copies to a device go: a copy from memory that is not
// page-locked would wait for what the stream has to do before.
#ifndef TERN_SRC_CUDA_HOST_STAGING_H
#define TERN_SRC_CUDA_HOST_STAGING_H

#include <pthread.h>
#include <stdint.h>
#include "cuda/host/fence.h"

#define TERN_CUDA_STAGES 32 // the most that a ring has

// Stages that are used in turn: where all are under way, the oldest copy is waited for.
typedef struct tern_cuda_staging_ring {
    pthread_mutex_t lock;
    unsigned stages;
    int64_t stage_bytes;
    char *memory; // NULL until it is needed
    tern_cuda_fence *busy[TERN_CUDA_STAGES];
    unsigned next;
} tern_cuda_staging_ring;

// Many stages for batches and single values; two for what is large, so that one is filled while the
// other is copied. A device that gets nothing large never takes the second ring's memory.
typedef struct tern_cuda_staging {
    tern_cuda_staging_ring small, large;
} tern_cuda_staging;

cudaError_t tern_cuda_staging_begin(tern_cuda_staging *staging);
void tern_cuda_staging_end(tern_cuda_staging *staging);

// Queues a copy; the host's memory may be reused at once. The first large one takes memory; where
// there is none, the copy goes in small pieces. Between tern_cuda_relax and tern_cuda_unrelax.
cudaError_t tern_cuda_staging_copy(tern_cuda_staging *staging, struct tern_cuda_stream *stream,
                                   void *data, const void *host, int64_t nbytes);

#endif
