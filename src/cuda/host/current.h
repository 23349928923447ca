// SPDX-License-Identifier: Apache-2.0
// What is current for the calling thread: its device, in CUDA's sense, its stream of each device,
// and its capture, with what that forbids. A capture belongs to one thread and device; it becomes a
// graph when it ends.
#ifndef TERN_SRC_CUDA_HOST_CURRENT_H
#define TERN_SRC_CUDA_HOST_CURRENT_H

#include "cuda/host/device.h"
#include "device/kernels.h"

// cudaSetDevice, where that is not the current device already.
cudaError_t tern_cuda_set_current_device(int index);

// The same before launches, which would be blamed for a last error that other code of the process
// left: that is reset.
cudaError_t tern_cuda_set_current_device_for_launch(int index);

// ---- streams ------------------------------------------------------------------------------------

// The current stream of the device; its first where the thread set none.
tern_cuda_stream *tern_cuda_current_stream(int index);
// Its CUDA stream: see tern_cuda_raw_stream.
cudaStream_t tern_cuda_current_raw_stream(int index);

// The CUDA stream to which the calling thread's work on a stream goes: while it captures the
// stream's work, the capture's origin stream, so that other threads may go on using this one.
cudaStream_t tern_cuda_raw_stream(const tern_cuda_stream *stream);

// Whether work that the calling thread queues on the stream is captured.
cudaError_t tern_cuda_stream_captured(const tern_cuda_stream *stream, bool *captured);
// Whether an event forked the stream itself into a capture: then the host cannot wait for it.
cudaError_t tern_cuda_stream_forked(const tern_cuda_stream *stream, bool *forked);

// ---- the capture --------------------------------------------------------------------------------

// From begin to end the calling thread captures. A capture that something invalidated still has to
// be ended; that gives no graph, but an error.
cudaError_t tern_cuda_capture_begin(tern_cuda_capture *capture);
cudaError_t tern_cuda_capture_end(tern_cuda_capture *capture, cudaGraph_t *graph);

// The calling thread's capture, on any device or on this one; NULL without one.
tern_cuda_capture *tern_cuda_current_capture(void);
tern_cuda_capture *tern_cuda_current_capture_on(int index);
// Whether any thread captures.
bool tern_cuda_any_capture(void);

// TERN_ERR_STATE while the calling thread captures the device: "<what> while device cuda:0 is being
// captured".
tern_status tern_cuda_not_capturing(int index, const char *what);

// While a thread captures, CUDA refuses it calls that allocate or wait, also those that have
// nothing to do with the capture. Between these two its capture mode is
// cudaStreamCaptureModeRelaxed, which allows them. They nest, and do nothing in a thread that does
// not capture.
void tern_cuda_capture_mode_relaxed_begin(void);
void tern_cuda_capture_mode_relaxed_end(void);

#endif
