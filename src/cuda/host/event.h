// SPDX-License-Identifier: Apache-2.0
// Waits of streams and of the host.
//
// Fences: events recorded in streams, which memory waits for before it is used again. Lists of them
// hold one a stream. Fences that nobody waits for any more are kept in an event pool, so that a
// step whose shapes were seen before creates none.
#ifndef TERN_SRC_CUDA_HOST_EVENT_H
#define TERN_SRC_CUDA_HOST_EVENT_H

#include "cuda/host/device.h"

// Records a fence behind the work queued on the stream so far, in the list's event of that stream
// or in a new one.
cudaError_t tern_cuda_fence_record(tern_cuda_fence **list, tern_cuda_stream *stream);
// Drops the fences whose work is done, without waiting; true when none is left. CUDA lets no thread
// that captures ask: to it no fence is reached.
bool tern_cuda_fence_reached(tern_cuda_fence **list);
// The host waits for all of them, and they are dropped.
void tern_cuda_fence_wait(tern_cuda_fence **list);
// Later work on the stream waits for all of them, the host does not; they are dropped, but for
// those that the stream cannot wait for.
cudaError_t tern_cuda_fence_order(tern_cuda_fence **list, tern_cuda_stream *stream);

// Later work on `to` waits, on the device, for the work queued on `from` so far. Captured work and
// other work do not wait for each other: a capture begins after a wait for the whole device.
cudaError_t tern_cuda_stream_order(tern_cuda_stream *from, tern_cuda_stream *to);

// Waits for all work on the device but what is being captured.
cudaError_t tern_cuda_device_wait(tern_cuda_device *device);
// The same for a caller that holds one of the device's locks.
cudaError_t tern_cuda_streams_wait(const tern_cuda_device *device);
// Both for one that frees what the work uses, and so must not be kept by one failing call.
void tern_cuda_device_wait_to_free(tern_cuda_device *device);
void tern_cuda_streams_wait_to_free(const tern_cuda_device *device);

#endif
