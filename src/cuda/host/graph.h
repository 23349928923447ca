// SPDX-License-Identifier: Apache-2.0
// Capture of a thread's work in a graph.
#ifndef TERN_SRC_CUDA_HOST_GRAPH_H
#define TERN_SRC_CUDA_HOST_GRAPH_H

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

// Ends those of a device on which nobody captures.
void tern_cuda_recorders_end(struct tern_cuda_device *device);

// What the calling thread captures on the device; NULL when it does not.
tern_cuda_capture *tern_cuda_capture_of(int index);

// TERN_ERR_STATE while the calling thread captures the device: "<what> while device cuda:0 is being
// captured".
tern_status tern_cuda_not_capturing(int index, const char *what);

// Whether the calling thread captures anything, and whether any thread does.
bool tern_cuda_capturing_thread(void);
bool tern_cuda_captures(void);

// While a thread captures, CUDA refuses it calls that take memory or wait, also for what has
// nothing to do with the capture: between these two it does not.
void tern_cuda_relax(void);
void tern_cuda_unrelax(void);

// A stream is about to use what a graph that is captured made: it waits for the last replay, and
// the next one waits for it. Under the device's lock.
cudaError_t tern_cuda_graph_result_use(tern_cuda_capture *capture, struct tern_cuda_stream *stream);

// The slots for graphs.
bool tern_plugin_capturing(int index);
tern_status tern_plugin_capture_begin(int index);
void *tern_plugin_capture_end(int index, bool discard);
tern_status tern_plugin_graph_launch(void *graph);
void tern_plugin_graph_free(void *graph);

#endif
