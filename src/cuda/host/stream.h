// SPDX-License-Identifier: Apache-2.0
// Streams, and what belongs to one: its free memory and the handles of the libraries.
#ifndef TERN_SRC_CUDA_HOST_STREAM_H
#define TERN_SRC_CUDA_HOST_STREAM_H

#include <cublas_v2.h>
#include <curand.h>
#include <pthread.h>
#include <tern/cuda.h>
#include "cuda/host/pool.h"

// Per device; tells in a word which streams used a block.
#define TERN_CUDA_STREAMS 64

struct tern_cuda_stream {
    cudaStream_t stream;
    int index; // of the device
    int slot;  // among the device's streams
    tern_cuda_pool pool;

    pthread_mutex_t lock; // of the libraries' handles, which are made when first needed
    cublasHandle_t blas;
    void *workspace;
    curandGenerator_t random;
};

// Where the calling thread's work on a stream goes. What it captures goes to a CUDA stream that
// nobody else has, so that other threads may use theirs meanwhile, though it be the same.
cudaStream_t tern_cuda_raw_stream(const tern_cuda_stream *stream);

// Whether work that the calling thread queues on the stream is captured.
bool tern_cuda_stream_captured(const tern_cuda_stream *stream);
// Whether an event made the stream itself part of a capture: then nobody can wait for it.
bool tern_cuda_stream_joined(const tern_cuda_stream *stream);

#endif
