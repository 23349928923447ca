// SPDX-License-Identifier: Apache-2.0
// A CUDA device as the host half of the backend sees it: its streams, its memory, its state.
#ifndef TERN_SRC_CUDA_HOST_DEVICE_H
#define TERN_SRC_CUDA_HOST_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include "cuda/host/pool.h"
#include "cuda/host/staging.h"
#include "cuda/host/stream.h"
#include "device/backend.h"

typedef struct tern_cuda_device {
    int index;
    int multiprocessors;
    tern_cuda_stream first; // the one it has to begin with, shared by all threads

    pthread_mutex_t streams_lock; // held by whoever goes through the streams; taken before `lock`
    pthread_mutex_t lock;
    tern_cuda_stream *streams[TERN_CUDA_STREAMS]; // by slot; changed under both locks
    tern_cuda_heap heap;                          // under lock
    struct tern_cuda_recorder *recorders;         // that nobody captures on; under streams_lock
    atomic_int graphs;                            // that are captured or were
    void *workspace;                              // of all graphs' products; under lock
    uint64_t replayed;                            // slot of the last replay's stream; under lock
    cublasHandle_t handles[TERN_CUDA_STREAMS];    // of streams that ended; under lock
    int handle_count;

    // The device's memory behind tern_exec, and what the host sees of the fault record.
    void *state;
    tern_fault *fault;
    tern_fault *carried; // records of other devices, by their index
    tern_draw_state *draws;
    tern_fault *mirror; // page-locked

    tern_cuda_staging staging;
    bool peer[TERN_MAX_DEVICES]; // access was asked for; under streams_lock
} tern_cuda_device;

// Of an index that exists.
tern_cuda_device *tern_cuda_device_of(int index);

// The device's own memory that is never given back: no block, but counted as reserved. Synchronous.
cudaError_t tern_cuda_device_take(tern_cuda_device *device, int64_t nbytes, void **data);
void tern_cuda_device_give(tern_cuda_device *device, int64_t nbytes, void *data);

#endif
