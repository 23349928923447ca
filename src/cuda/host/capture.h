// SPDX-License-Identifier: Apache-2.0
// What a thread captures, and what it may do meanwhile.
#ifndef TERN_SRC_CUDA_HOST_CAPTURE_H
#define TERN_SRC_CUDA_HOST_CAPTURE_H

#include <cublas_v2.h>
#include "cuda/host/pool.h"
#include <tern/error.h>

// What a thread captures on: a CUDA stream, and a handle for its products. It outlives the graph,
// whose kernels may use what belongs to the handle, and serves the next capture.
typedef struct tern_cuda_recorder {
    cudaStream_t stream;
    cublasHandle_t blas;
    struct tern_cuda_recorder *next;
} tern_cuda_recorder;

typedef struct tern_cuda_capture {
    int index;                       // of the device
    struct tern_cuda_stream *stream; // whose work is captured
    tern_cuda_recorder *recorder;
    enum cudaStreamCaptureMode mode; // that the thread has but for tern_cuda_relax
    int relaxed;                     // how many of those are open
    tern_cuda_pool pool;             // what was taken meanwhile
    uint64_t users;                  // slots of the streams that the next replay waits for
    cudaGraphExec_t exec;
} tern_cuda_capture;

// From begin to end the calling thread captures on the recorder's stream. A capture that something
// invalidated still has to be ended; it then gives no graph, but an error.
cudaError_t tern_cuda_capture_begin(tern_cuda_capture *capture);
cudaError_t tern_cuda_capture_end(tern_cuda_capture *capture, cudaGraph_t *graph);

// What the calling thread captures, on any device or on this one; NULL when it does not.
tern_cuda_capture *tern_cuda_capture_of_thread(void);
tern_cuda_capture *tern_cuda_capture_of(int index);
// Whether any thread captures.
bool tern_cuda_captures(void);

// TERN_ERR_STATE while the calling thread captures the device: "<what> while device cuda:0 is being
// captured".
tern_status tern_cuda_not_capturing(int index, const char *what);

// While a thread captures, CUDA refuses it calls that take memory or wait, also for what has
// nothing to do with the capture: between these two it does not.
void tern_cuda_relax(void);
void tern_cuda_unrelax(void);

#endif
