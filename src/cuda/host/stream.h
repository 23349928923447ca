// SPDX-License-Identifier: Apache-2.0
// A stream, and what belongs to one: its free memory and handles of the libraries.
#ifndef TERN_SRC_CUDA_HOST_STREAM_H
#define TERN_SRC_CUDA_HOST_STREAM_H

#include <cublas_v2.h>
#include <curand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <tern/cuda.h>
#include "cuda/host/pool.h"

// The most streams of a device. A set of them is a word with a bit for each slot.
#define TERN_CUDA_STREAMS 64

struct tern_cuda_stream {
    cudaStream_t stream;
    int index;           // of the device
    int slot;            // in the device's array of streams
    atomic_int captures; // of its work that go on now
    tern_cuda_pool pool;

    pthread_mutex_t lock; // of what follows, which is made when first needed
    cublasHandle_t blas;
    void *workspace; // that the handle uses
    curandGenerator_t random;
};

// The CUDA stream to which the calling thread's work on a stream goes: while it captures the
// stream's work, the capture's origin stream, so that other threads may go on using this one.
cudaStream_t tern_cuda_raw_stream(const tern_cuda_stream *stream);

// Whether work that the calling thread queues on the stream is captured.
cudaError_t tern_cuda_stream_captured(const tern_cuda_stream *stream, bool *captured);
// Whether an event forked the stream itself into a capture: then the host cannot wait for it.
cudaError_t tern_cuda_stream_forked(const tern_cuda_stream *stream, bool *forked);

#endif
