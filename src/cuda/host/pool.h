// SPDX-License-Identifier: Apache-2.0
// The data of the caching allocator. Memory comes from the device in segments, which are split into
// blocks; a block is what one allocation gets. Free blocks are in pools: each stream has one, so
// that a block is allocated again in the order of its stream, and each graph has one for what was
// allocated while it was captured.
#ifndef TERN_SRC_CUDA_HOST_POOL_H
#define TERN_SRC_CUDA_HOST_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct tern_cuda_block;
struct tern_cuda_capture;
struct tern_cuda_fence;
struct tern_cuda_stream;

// Free blocks, by size and then address, in a treap whose priorities are hashes of the addresses.
typedef struct tern_cuda_free_set {
    struct tern_cuda_block *root;
} tern_cuda_free_set;

typedef struct tern_cuda_pool {
    tern_cuda_free_set small, large; // of small segments and of the others
    struct tern_cuda_capture *graph; // that owns the pool and keeps its segments; NULL: a stream
} tern_cuda_pool;

typedef struct tern_cuda_segment {
    char *data;
    int64_t nbytes;
    bool small;                    // its blocks are multiples of 512 bytes, else of 2 MiB
    struct tern_cuda_block *first; // the block of the lowest address
    struct tern_cuda_segment *next;
} tern_cuda_segment;

typedef struct tern_cuda_block {
    char *data;
    int64_t nbytes;
    bool free; // in the free set of its pool
    tern_cuda_segment *segment;
    struct tern_cuda_block *before, *after; // its neighbours in the segment
    tern_cuda_pool *pool;                   // to which it returns when it is freed

    struct tern_cuda_stream *stream; // that it was allocated for
    // The stream that used it last; NULL: see tern_cuda_heap_forget_last.
    _Atomic(struct tern_cuda_stream *) last;
    uint64_t users;                 // all streams that used it, a bit for each slot
    struct tern_cuda_fence *fences; // what freed memory waits for on other streams
    struct tern_cuda_block *next_pending;

    struct tern_cuda_block *left, *right; // children in the free set
} tern_cuda_block;

// All the memory of a device that the allocator has.
typedef struct tern_cuda_heap {
    tern_cuda_segment *segments;
    tern_cuda_block *pending; // freed by the host, still in use on other streams
    // Free lists of structs: blocks that were merged into others, linked by `after`, and segments
    // that were given back to the device.
    tern_cuda_block *unused_blocks;
    tern_cuda_segment *unused_segments;
    int64_t allocated, allocated_peak, reserved, reserved_peak; // bytes
    int64_t device_allocs;                                      // calls of cudaMalloc
} tern_cuda_heap;

#endif
