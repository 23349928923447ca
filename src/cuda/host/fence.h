// SPDX-License-Identifier: Apache-2.0
// Points in streams' work that memory waits for before it is used again. Fences are kept for reuse,
// with their events, so that a step seen before makes none.
#ifndef TERN_SRC_CUDA_HOST_FENCE_H
#define TERN_SRC_CUDA_HOST_FENCE_H

#include <stdbool.h>
#include <cuda_runtime_api.h>

struct tern_cuda_stream;

typedef struct tern_cuda_fence {
    cudaEvent_t event;
    int index; // of the device
    const struct tern_cuda_stream *stream;
    struct tern_cuda_fence *next;
} tern_cuda_fence;

// Puts a fence behind the work queued on the stream so far into the list; one of the same stream
// that is in it moves there.
cudaError_t tern_cuda_fence_add(tern_cuda_fence **list, struct tern_cuda_stream *stream);
// Drops the fences that were reached, without waiting; true when none is left. A thread that
// captures may not ask: to it none is reached.
bool tern_cuda_fence_reached(tern_cuda_fence **list);
// The host waits for all of them, and they are dropped.
void tern_cuda_fence_wait(tern_cuda_fence **list);
// The stream waits for all of them, on the device, and they are dropped; those that it cannot wait
// for stay.
cudaError_t tern_cuda_fence_order(tern_cuda_fence **list, struct tern_cuda_stream *stream);

// Later work on `to` waits, on the device, for the work queued on `from` so far. Captured work and
// other work do not wait for each other: a capture begins after a wait for the whole device.
cudaError_t tern_cuda_stream_order(struct tern_cuda_stream *from, struct tern_cuda_stream *to);

// One fence by itself; the device becomes the thread's. NULL when there is no event or memory for
// it.
tern_cuda_fence *tern_cuda_fence_take(int index);
void tern_cuda_fence_give(tern_cuda_fence *fence);

#endif
