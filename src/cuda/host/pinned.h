// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory: a cache of it, and staging buffers for copies to a device. A copy from
// pageable memory would wait for the stream's work.
#ifndef TERN_SRC_CUDA_HOST_PINNED_H
#define TERN_SRC_CUDA_HOST_PINNED_H

#include "cuda/host/device.h"

// Frees what is cached.
void tern_cuda_pinned_trim(void);

cudaError_t tern_cuda_staging_init(tern_cuda_staging *staging);
void tern_cuda_staging_destroy(tern_cuda_staging *staging);

// Queues a copy; the host's memory may be reused at once. The first large one allocates the large
// ring; where that fails, the copy goes through the small one. In relaxed capture mode.
cudaError_t tern_cuda_staging_copy(tern_cuda_staging *staging, tern_cuda_stream *stream, void *data,
                                   const void *host, int64_t nbytes);

#endif
