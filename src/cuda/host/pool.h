// SPDX-License-Identifier: Apache-2.0
// Device memory in the making: segments that the device gave, cut into blocks; free blocks lie in
// pools. A stream has a pool, so that a block is used again in the order of its stream, and a graph
// has one for what was taken while it was captured.
#ifndef TERN_SRC_CUDA_HOST_POOL_H
#define TERN_SRC_CUDA_HOST_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct tern_cuda_fence;
struct tern_cuda_stream;
struct tern_cuda_block;

// Free blocks by size, then address: a treap, whose priorities are made of the addresses.
typedef struct tern_cuda_free_set {
    struct tern_cuda_block *root;
} tern_cuda_free_set;

typedef struct tern_cuda_pool {
    tern_cuda_free_set small, large;
    struct tern_cuda_capture *graph; // whose it is: its segments are never given back to the device
} tern_cuda_pool;

typedef struct tern_cuda_segment {
    char *data;
    int64_t nbytes;
    bool small;                    // cut into blocks of 512 bytes and multiples, else of 2 MiB
    struct tern_cuda_block *first; // by address
    struct tern_cuda_segment *next;
} tern_cuda_segment;

typedef struct tern_cuda_block {
    char *data;
    int64_t nbytes;
    bool free; // in its pool's set
    tern_cuda_segment *segment;
    struct tern_cuda_block *before, *after; // neighbours in the segment; after alone: of a list
    tern_cuda_pool *pool;                   // where it goes when it is freed

    struct tern_cuda_stream *stream;         // in whose order it is used again
    _Atomic(struct tern_cuda_stream *) last; // that used it last
    uint64_t users;                          // the slots of all streams that used it
    struct tern_cuda_fence *fences;          // freed, but in use on other streams
    struct tern_cuda_block *next_waiting;

    struct tern_cuda_block *left, *right; // in the free set
} tern_cuda_block;

// All the memory of a device.
typedef struct tern_cuda_heap {
    tern_cuda_segment *segments;
    tern_cuda_block *waiting; // freed, with fences
    tern_cuda_block *spare;   // blocks that are none now
    tern_cuda_segment *spare_segment;
    int64_t allocated, allocated_peak, reserved, reserved_peak, device_allocs;
} tern_cuda_heap;

#endif
