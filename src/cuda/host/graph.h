// SPDX-License-Identifier: Apache-2.0
// Capture of a thread's work in a graph, and its replays.
#ifndef TERN_SRC_CUDA_HOST_GRAPH_H
#define TERN_SRC_CUDA_HOST_GRAPH_H

#include "cuda/host/device.h"

// Destroys the free capture streams of a device that is closed.
void tern_cuda_capture_streams_destroy(tern_cuda_device *device);

// The stream is about to use a result of the graph: it waits for the last replay, and the next
// replay waits for it. Under the device's lock.
cudaError_t tern_cuda_graph_result_use(tern_cuda_capture *capture, tern_cuda_stream *stream);

#endif
