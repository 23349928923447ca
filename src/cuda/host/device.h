// SPDX-License-Identifier: Apache-2.0
// A CUDA device as the host half of the backend sees it: its streams, its memory, its state.
#ifndef TERN_SRC_CUDA_HOST_DEVICE_H
#define TERN_SRC_CUDA_HOST_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include "cuda/host/capture.h"
#include "cuda/host/pool.h"
#include "cuda/host/staging.h"
#include "cuda/host/stream.h"
#include "device/backend.h"

typedef struct tern_cuda_device {
    int index;
    int multiprocessors;
    int capability;         // its first number
    tern_cuda_stream first; // current for every thread that set no other

    // Who holds one of the two locks may read `streams`; who changes it holds both.
    pthread_mutex_t streams_lock; // taken before `lock`
    pthread_mutex_t lock;
    tern_cuda_stream *streams[TERN_CUDA_STREAMS]; // by slot

    tern_cuda_heap heap;                            // under lock
    cublasHandle_t free_handles[TERN_CUDA_STREAMS]; // of streams that ended; under lock
    int free_handle_count;

    tern_cuda_capture_stream *capture_streams; // free list; under streams_lock
    atomic_int graphs;                         // count of captures and graphs
    void *graph_workspace;                     // of the products in all graphs; under lock
    uint64_t replayed; // bit of the stream that the last replay ran on, of any graph; under lock

    // Memory of the device that the fields of tern_exec point to, and the host's copy of the fault.
    void *state;
    tern_fault *fault;
    tern_fault *carried; // copies of other devices' fault records, by index
    tern_draw_state *draws;
    tern_fault *mirror; // copy of *fault in page-locked host memory

    tern_cuda_staging staging;
    bool peer[TERN_MAX_DEVICES]; // peer access was tried, with a higher index; under streams_lock
} tern_cuda_device;

// The device of an index that exists.
tern_cuda_device *tern_cuda_device_of(int index);

// cudaMalloc and cudaFree, counted in the heap as reserved; also while the thread captures. For
// segments, and for workspaces and state. Under the device's lock, once it is open.
cudaError_t tern_cuda_device_alloc(tern_cuda_device *device, int64_t nbytes, void **data);
void tern_cuda_device_free(tern_cuda_device *device, int64_t nbytes, void *data);

#endif
