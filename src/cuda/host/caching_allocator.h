// SPDX-License-Identifier: Apache-2.0
// A device's caching allocator: best fit, blocks are split on allocation and merged when freed.
// Everything here runs under the device's lock, with the device current.
#ifndef TERN_SRC_CUDA_HOST_CACHING_ALLOCATOR_H
#define TERN_SRC_CUDA_HOST_CACHING_ALLOCATOR_H

#include "cuda/host/device.h"

// Whether freed blocks are cached: not with TERN_CACHE=0.
bool tern_cuda_allocator_caches(void);

// The bytes of a block for nbytes: a multiple of 512 below 1 MiB, of 2 MiB from there on; -1 on
// overflow. Without a cache just nbytes, at least one.
int64_t tern_cuda_allocator_round_up(int64_t nbytes);

// A block of at least nbytes (rounded up as above) for the stream, from the pool or else from the
// device. When it is freed it returns to that pool.
cudaError_t tern_cuda_allocator_alloc(tern_cuda_device *device, tern_cuda_stream *stream,
                                      tern_cuda_block_pool *pool, int64_t nbytes,
                                      tern_cuda_block **block);
// Merges the block with its free neighbours and returns it to its pool, or its segment to the
// device where nothing is cached. No stream but its own uses it.
void tern_cuda_allocator_free(tern_cuda_device *device, tern_cuda_block *block);
// Frees the block when its events are done: a later allocation, or a trim, sees to that.
void tern_cuda_allocator_free_later(tern_cuda_device *device, tern_cuda_block *block);

// Waits for the events of freed blocks and gives free segments back to the device, but for those of
// graphs.
void tern_cuda_allocator_trim(tern_cuda_device *device);

// For a capture that ends: sets `last` of its pool's blocks to NULL, so that each later use of one
// is ordered behind the graph's replays (tern_cuda_graph_result_use).
void tern_cuda_allocator_forget_last(tern_cuda_device *device, const tern_cuda_block_pool *pool);
// For a graph that is freed: moves the blocks of its pool to the pools of their streams.
void tern_cuda_allocator_release_pool(tern_cuda_device *device, const tern_cuda_block_pool *pool);
// For a stream that is freed, with no work left: its blocks become the first stream's.
void tern_cuda_allocator_release_stream(tern_cuda_device *device, tern_cuda_stream *stream);

#endif
