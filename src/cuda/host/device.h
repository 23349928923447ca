// SPDX-License-Identifier: Apache-2.0
// A CUDA device as the host half sees it: its streams, its memory, its state. And how a
// failure of a CUDA call becomes an error of tern.
#ifndef TERN_SRC_CUDA_HOST_DEVICE_H
#define TERN_SRC_CUDA_HOST_DEVICE_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <curand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <tern/cuda.h>
#include "device/backend.h"

// ---- events -------------------------------------------------------------------------------------

// An event of the event pool, in a list of those that memory waits for.
typedef struct tern_cuda_block_pool_event {
    cudaEvent_t event;
    int index;                      // of the device
    const tern_cuda_stream *stream; // in which it was recorded
    struct tern_cuda_block_pool_event *next;
} tern_cuda_block_pool_event;

// ---- memory -------------------------------------------------------------------------------------

// The data of the caching allocator. Memory comes from the device in segments, which are split into
// blocks; a block is what one allocation gets. Free blocks are in pools: each stream has one, so
// that a block is allocated again in the order of its stream, and each graph has one for what was
// allocated while it was captured.
struct tern_cuda_block;
struct tern_cuda_capture;

// Free blocks, by size and then address, in a treap whose priorities are hashes of the addresses.
typedef struct tern_cuda_free_set {
    struct tern_cuda_block *root;
} tern_cuda_free_set;

typedef struct tern_cuda_block_pool {
    tern_cuda_free_set small, large; // of small segments and of the others
    struct tern_cuda_capture *graph; // that owns the pool and keeps its segments; NULL: a stream
} tern_cuda_block_pool;

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
    tern_cuda_block_pool *pool;             // to which it returns when it is freed

    struct tern_cuda_stream *stream; // that it was allocated for
    // The stream that used it last; NULL: see tern_cuda_allocator_forget_last.
    _Atomic(struct tern_cuda_stream *) last;
    uint64_t users;                            // all streams that used it, a bit for each slot
    struct tern_cuda_block_pool_event *events; // what freed memory waits for on other streams
    struct tern_cuda_block *next_pending;

    struct tern_cuda_block *left, *right; // children in the free set
} tern_cuda_block;

// All the memory of a device that the allocator has.
typedef struct tern_cuda_allocator {
    tern_cuda_segment *segments;
    tern_cuda_block *pending; // freed by the host, still in use on other streams
    // Free lists of structs: blocks that were merged into others, linked by `after`, and segments
    // that were given back to the device.
    tern_cuda_block *unused_blocks;
    tern_cuda_segment *unused_segments;
    int64_t allocated, allocated_peak, reserved, reserved_peak; // bytes
    int64_t device_allocs;                                      // calls of cudaMalloc
} tern_cuda_allocator;

// ---- streams and captures -----------------------------------------------------------------------

// The most streams of a device. A set of them is a word with a bit for each slot.
#define TERN_CUDA_STREAMS 64

struct tern_cuda_stream {
    cudaStream_t stream;
    int index;           // of the device
    int slot;            // in the device's array of streams
    atomic_int captures; // of its work that go on now
    tern_cuda_block_pool pool;

    pthread_mutex_t lock; // of what follows, which is made when first needed
    cublasHandle_t blas;
    void *workspace; // that the handle uses
    curandGenerator_t random;
};

// The CUDA stream on which a capture begins and ends, and the cuBLAS handle for its products. It
// outlives the graph, whose kernels may use what belongs to the handle, and serves later captures.
typedef struct tern_cuda_capture_stream {
    cudaStream_t stream;
    cublasHandle_t blas;
    struct tern_cuda_capture_stream *next; // in the device's free list
} tern_cuda_capture_stream;

// A capture, and then the graph that it became.
typedef struct tern_cuda_capture {
    int index;                        // of the device
    struct tern_cuda_stream *stream;  // whose work is captured
    tern_cuda_capture_stream *origin; // that it began on; NULL when it ended
    enum cudaStreamCaptureMode mode;  // the thread's, to restore after the relaxed one
    int relaxed;                      // depth of nested calls that relax it
    bool exchanged;                   // the outermost of them took effect
    tern_cuda_block_pool pool;        // of blocks that were allocated or freed meanwhile
    uint64_t users;                   // the streams that the next replay waits for, as bits
    cudaGraphExec_t exec;
} tern_cuda_capture;

// ---- staging buffers ----------------------------------------------------------------------------

#define TERN_CUDA_STAGING_BUFFERS 32 // the most that a ring has

// A ring of buffers: a copy takes the next one, and waits if an earlier copy from it is not done.
typedef struct tern_cuda_staging_ring {
    pthread_mutex_t lock;
    unsigned count;
    int64_t capacity; // bytes of one buffer
    char *memory;     // of all buffers; NULL until they are allocated
    tern_cuda_block_pool_event *copies[TERN_CUDA_STAGING_BUFFERS]; // queued from each buffer
    unsigned next;
} tern_cuda_staging_ring;

// Many small buffers for batches and single values; two large ones, so that one is filled while the
// other is copied. A device that gets nothing large never allocates the large ones.
typedef struct tern_cuda_staging {
    tern_cuda_staging_ring small, large;
} tern_cuda_staging;

// ---- devices ------------------------------------------------------------------------------------

typedef struct tern_cuda_device {
    int index;
    int multiprocessors;
    int capability;         // its first number
    tern_cuda_stream first; // current for every thread that set no other

    // Who holds one of the two locks may read `streams`; who changes it holds both.
    pthread_mutex_t streams_lock; // taken before `lock`
    pthread_mutex_t lock;
    tern_cuda_stream *streams[TERN_CUDA_STREAMS]; // by slot

    tern_cuda_allocator allocator;                  // under lock
    cublasHandle_t free_handles[TERN_CUDA_STREAMS]; // of streams that ended; under lock
    int free_handle_count;

    tern_cuda_capture_stream *capture_streams; // free list; under streams_lock
    atomic_int graphs;                         // count of captures and graphs
    void *graph_workspace;                     // of the products in all graphs; under lock
    uint64_t replayed; // bit of the stream that the last replay ran on, of any graph; under lock

    // Memory of the device that the fields of tern_exec point to, and the host's copy of the fault.
    void *state;
    tern_fault *fault;
    tern_fault *peer_faults; // copies of other devices' fault records, by index
    tern_draw_state *draws;
    tern_fault *mirror; // copy of *fault in page-locked host memory

    tern_cuda_staging staging;
    bool peer[TERN_MAX_DEVICES]; // peer access was tried, with a higher index; under streams_lock
} tern_cuda_device;

// The device of an index that exists.
tern_cuda_device *tern_cuda_device_get(int index);

#define UUID_CAPACITY 48

// Writes "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"; `kind` is "GPU", or "MIG" for an instance of a
// device (Multi-Instance GPU).
void tern_cuda_write_uuid(char text[UUID_CAPACITY], const char *kind, const char uuid[16]);

// ---- errors -------------------------------------------------------------------------------------

// Returns its argument, the status of a CUDA call. A failure is CUDA's last error as well, which
// the check after the next launch would take for that launch's: this resets it.
cudaError_t tern_cuda_clear_error(cudaError_t error);

// TERN_OK, or raises TERN_ERR_NOMEM or TERN_ERR_DEVICE: "softmax: CUDA: an illegal memory access
// was encountered (cudaErrorIllegalAddress)".
tern_status tern_cuda_check(const char *op, cudaError_t error);

#endif
