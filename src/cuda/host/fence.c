// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/fence.h"

#include <pthread.h>
#include <stdlib.h>
#include "cuda/host/capture.h"
#include "cuda/host/check.h"
#include "cuda/host/current_device.h"
#include "cuda/host/stream.h"
#include "device/backend.h"

// Not in use, by device. They stay for the life of the process, so they come from the C library,
// not from an allocator that a program may want to exchange.
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static tern_cuda_fence *spare[TERN_MAX_DEVICES];

static tern_cuda_fence *fence_new(int index)
{
    tern_cuda_fence *fence = calloc(1, sizeof *fence);
    if (!fence)
        return NULL;
    fence->index = index;
    tern_cuda_relax();
    cudaError_t error = tern_cuda_enter(index); // whose the event will be
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&fence->event, cudaEventDisableTiming);
    tern_cuda_unrelax();
    if (error == cudaSuccess)
        return fence;
    cudaGetLastError();
    free(fence);
    return NULL;
}

tern_cuda_fence *tern_cuda_fence_take(int index)
{
    pthread_mutex_lock(&spare_lock);
    tern_cuda_fence *fence = spare[index];
    if (fence)
        spare[index] = fence->next;
    pthread_mutex_unlock(&spare_lock);
    return fence ? fence : fence_new(index);
}

void tern_cuda_fence_give(tern_cuda_fence *fence)
{
    pthread_mutex_lock(&spare_lock);
    fence->next = spare[fence->index];
    spare[fence->index] = fence;
    pthread_mutex_unlock(&spare_lock);
}

cudaError_t tern_cuda_fence_add(tern_cuda_fence **list, tern_cuda_stream *stream)
{
    tern_cuda_fence *fence = *list;
    while (fence && fence->stream != stream)
        fence = fence->next;
    if (fence)
        return tern_cuda_told(cudaEventRecord(fence->event, tern_cuda_raw_stream(stream)));
    fence = tern_cuda_fence_take(stream->index);
    if (!fence)
        return cudaErrorMemoryAllocation;
    cudaError_t error = cudaEventRecord(fence->event, tern_cuda_raw_stream(stream));
    if (error != cudaSuccess) {
        tern_cuda_fence_give(fence);
        return tern_cuda_told(error);
    }
    fence->stream = stream;
    fence->next = *list;
    *list = fence;
    return cudaSuccess;
}

// After a fault of the device nothing runs there any more: that counts as reached.
static bool reached(const tern_cuda_fence *fence)
{
    return cudaEventQuery(fence->event) != cudaErrorNotReady;
}

bool tern_cuda_fence_reached(tern_cuda_fence **list)
{
    if (tern_cuda_capture_of_thread())
        return !*list;
    for (tern_cuda_fence **link = list; *link;) {
        tern_cuda_fence *fence = *link;
        if (reached(fence)) {
            *link = fence->next;
            tern_cuda_fence_give(fence);
        } else {
            link = &fence->next;
        }
    }
    cudaGetLastError(); // a query that finds work to do counts as an error
    return !*list;
}

void tern_cuda_fence_wait(tern_cuda_fence **list)
{
    tern_cuda_relax();
    while (*list) {
        tern_cuda_fence *fence = *list;
        cudaEventSynchronize(fence->event);
        *list = fence->next;
        tern_cuda_fence_give(fence);
    }
    tern_cuda_unrelax();
    cudaGetLastError(); // whoever needs the device again finds its fault there
}

cudaError_t tern_cuda_fence_order(tern_cuda_fence **list, tern_cuda_stream *stream)
{
    while (*list) {
        tern_cuda_fence *fence = *list;
        cudaError_t error = cudaStreamWaitEvent(tern_cuda_raw_stream(stream), fence->event, 0);
        if (error != cudaSuccess)
            return tern_cuda_told(error);
        *list = fence->next;
        tern_cuda_fence_give(fence);
    }
    return cudaSuccess;
}

cudaError_t tern_cuda_stream_order(tern_cuda_stream *from, tern_cuda_stream *to)
{
    if (from == to || tern_cuda_stream_captured(from) != tern_cuda_stream_captured(to))
        return cudaSuccess;
    tern_cuda_fence *fence = NULL;
    cudaError_t error = tern_cuda_fence_add(&fence, from);
    if (error != cudaSuccess)
        return error;
    error = tern_cuda_fence_order(&fence, to);
    if (error != cudaSuccess)
        tern_cuda_fence_give(fence);
    return error;
}
