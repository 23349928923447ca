// SPDX-License-Identifier: Apache-2.0
// Waits of streams and of the host. Memory that other streams used has a list of events, one a
// stream, which are done before it is used again. Events come from an event pool, so that a step
// whose shapes were seen before creates none.
#ifndef TERN_SRC_CUDA_HOST_EVENT_H
#define TERN_SRC_CUDA_HOST_EVENT_H

#include "cuda/host/device.h"

// Records an event behind the work queued on the stream so far, in the list's event of that stream
// or in a new one.
cudaError_t tern_cuda_events_record(tern_cuda_block_pool_event **list, tern_cuda_stream *stream);
// Removes the events whose work is done, without waiting; true when none is left. CUDA lets no
// thread that captures query events: to it none is done.
bool tern_cuda_events_query(tern_cuda_block_pool_event **list);
// The host waits for all of them, and they are removed.
void tern_cuda_events_synchronize(tern_cuda_block_pool_event **list);
// Later work on the stream waits for all of them, the host does not; they are removed, but for
// those that the stream cannot wait for.
cudaError_t tern_cuda_stream_wait_events(tern_cuda_stream *stream,
                                         tern_cuda_block_pool_event **list);

// Later work on `to` waits, on the device, for the work queued on `from` so far. Captured work and
// other work do not wait for each other: a capture begins after a wait for the whole device.
cudaError_t tern_cuda_stream_wait_stream(tern_cuda_stream *to, tern_cuda_stream *from);

// Waits for all work on the device but what is being captured.
cudaError_t tern_cuda_device_synchronize(tern_cuda_device *device);
// The same for a caller that holds one of the device's locks.
cudaError_t tern_cuda_streams_synchronize(const tern_cuda_device *device);
// Both for one that frees what the work uses, and so must not be kept by one failing call.
void tern_cuda_device_synchronize_to_free(tern_cuda_device *device);
void tern_cuda_streams_synchronize_to_free(const tern_cuda_device *device);

#endif
