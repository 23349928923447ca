// SPDX-License-Identifier: Apache-2.0
// Taking blocks from a device's memory and putting them back. Everything here runs under the
// device's lock, with the device current.
#ifndef TERN_SRC_CUDA_HOST_HEAP_H
#define TERN_SRC_CUDA_HOST_HEAP_H

#include "cuda/host/device.h"

// What a block of nbytes takes: multiples of 512 bytes below 1 MiB, of 2 MiB from there on. -1
// where that cannot be counted.
int64_t tern_cuda_heap_rounded(int64_t nbytes);

// A block of at least nbytes (as rounded above) for the stream, from and for the pool, or from the
// device; only from the device where blocks are not kept (TERN_CACHE=0).
cudaError_t tern_cuda_heap_take(tern_cuda_device *device, tern_cuda_stream *stream,
                                tern_cuda_pool *pool, int64_t nbytes, tern_cuda_block **block);
// Into its pool, as one with free neighbours.
void tern_cuda_heap_put(tern_cuda_device *device, tern_cuda_block *block);
// Like put, once what is queued on other streams was reached.
void tern_cuda_heap_put_later(tern_cuda_device *device, tern_cuda_block *block);

// Waits for what freed blocks wait for, and gives back segments that nobody uses any of.
void tern_cuda_heap_trim(tern_cuda_device *device);

// That the blocks of a pool were used last is known of no stream: each use has to ask.
void tern_cuda_heap_forget_last(tern_cuda_device *device, const tern_cuda_pool *pool);
// Blocks of a graph's pool come into the keeping of their streams.
void tern_cuda_heap_release(tern_cuda_device *device, const tern_cuda_pool *pool);
// Blocks of a stream that ends, with nothing left to do, come into the keeping of the first one.
void tern_cuda_heap_adopt(tern_cuda_device *device, tern_cuda_stream *stream);

// Whether freed blocks are kept.
bool tern_cuda_heap_keeps(void);

#endif
