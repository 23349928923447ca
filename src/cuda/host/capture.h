// SPDX-License-Identifier: Apache-2.0
// Which thread captures what, and what that forbids. A capture belongs to one thread and device; it
// becomes a graph when it ends.
#ifndef TERN_SRC_CUDA_HOST_CAPTURE_H
#define TERN_SRC_CUDA_HOST_CAPTURE_H

#include <cublas_v2.h>
#include "cuda/host/pool.h"
#include <tern/error.h>

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
    enum cudaStreamCaptureMode mode;  // the thread's, for tern_cuda_unrelax to restore
    int relaxed;                      // depth of nested tern_cuda_relax
    bool exchanged;                   // the outermost of them took effect
    tern_cuda_pool pool;              // of blocks that were allocated or freed meanwhile
    uint64_t users;                   // the streams that the next replay waits for, as bits
    cudaGraphExec_t exec;
} tern_cuda_capture;

// From begin to end the calling thread captures. A capture that something invalidated still has to
// be ended; that gives no graph, but an error.
cudaError_t tern_cuda_capture_begin(tern_cuda_capture *capture);
cudaError_t tern_cuda_capture_end(tern_cuda_capture *capture, cudaGraph_t *graph);

// The calling thread's capture, on any device or on this one; NULL without one.
tern_cuda_capture *tern_cuda_capture_of_thread(void);
tern_cuda_capture *tern_cuda_capture_of(int index);
// Whether any thread captures.
bool tern_cuda_any_capture(void);

// TERN_ERR_STATE while the calling thread captures the device: "<what> while device cuda:0 is being
// captured".
tern_status tern_cuda_not_capturing(int index, const char *what);

// While a thread captures, CUDA refuses it calls that allocate or wait, also those that have
// nothing to do with the capture. Between these two its capture mode is
// cudaStreamCaptureModeRelaxed, which allows them. They nest, and do nothing in a thread that does
// not capture.
void tern_cuda_relax(void);
void tern_cuda_unrelax(void);

#endif
