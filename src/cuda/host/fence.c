// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/fence.h"

#include <pthread.h>
#include <stdlib.h>
#include "cuda/host/capture.h"
#include "cuda/host/check.h"
#include "cuda/host/current_device.h"
#include "cuda/host/stream.h"
#include "device/backend.h"

// The event pool: fences not in use, by device. They stay for the life of the process, so they come
// from the C library, not from an allocator that a program may want to exchange.
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static tern_cuda_fence *pool[TERN_MAX_DEVICES];

static tern_cuda_fence *fence_new(int index)
{
    tern_cuda_fence *fence = calloc(1, sizeof *fence);
    if (!fence)
        return NULL;
    fence->index = index;
    tern_cuda_relax();
    cudaError_t error = tern_cuda_make_current(index); // the event belongs to the current device
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&fence->event, cudaEventDisableTiming);
    tern_cuda_unrelax();
    if (error == cudaSuccess)
        return fence;
    cudaGetLastError();
    free(fence);
    return NULL;
}

static tern_cuda_fence *pool_take(int index)
{
    pthread_mutex_lock(&pool_lock);
    tern_cuda_fence *fence = pool[index];
    if (fence)
        pool[index] = fence->next;
    pthread_mutex_unlock(&pool_lock);
    return fence ? fence : fence_new(index);
}

static void pool_give(tern_cuda_fence *fence)
{
    pthread_mutex_lock(&pool_lock);
    fence->next = pool[fence->index];
    pool[fence->index] = fence;
    pthread_mutex_unlock(&pool_lock);
}

cudaError_t tern_cuda_fence_record(tern_cuda_fence **list, tern_cuda_stream *stream)
{
    tern_cuda_fence *fence = *list;
    while (fence && fence->stream != stream)
        fence = fence->next;
    if (fence)
        return tern_cuda_clear_error(cudaEventRecord(fence->event, tern_cuda_raw_stream(stream)));
    fence = pool_take(stream->index);
    if (!fence)
        return cudaErrorMemoryAllocation;
    cudaError_t error = cudaEventRecord(fence->event, tern_cuda_raw_stream(stream));
    if (error != cudaSuccess) {
        pool_give(fence);
        return tern_cuda_clear_error(error);
    }
    fence->stream = stream;
    fence->next = *list;
    *list = fence;
    return cudaSuccess;
}

// After a sticky error nothing runs on the device any more, so that nothing has to be waited for.
// Any other is one call's alone, and the next one waits.
static void wait_for(const tern_cuda_fence *fence)
{
    if (cudaEventSynchronize(fence->event) != cudaSuccess)
        cudaEventSynchronize(fence->event);
}

static bool reached(const tern_cuda_fence *fence)
{
    const cudaError_t error = cudaEventQuery(fence->event);
    if (error != cudaSuccess && error != cudaErrorNotReady)
        wait_for(fence);
    return error != cudaErrorNotReady;
}

bool tern_cuda_fence_reached(tern_cuda_fence **list)
{
    if (tern_cuda_capture_of_thread())
        return !*list;
    for (tern_cuda_fence **link = list; *link;) {
        tern_cuda_fence *fence = *link;
        if (reached(fence)) {
            *link = fence->next;
            pool_give(fence);
        } else {
            link = &fence->next;
        }
    }
    cudaGetLastError(); // cudaErrorNotReady counts as an error
    return !*list;
}

void tern_cuda_fence_wait(tern_cuda_fence **list)
{
    tern_cuda_relax();
    while (*list) {
        tern_cuda_fence *fence = *list;
        wait_for(fence);
        *list = fence->next;
        pool_give(fence);
    }
    tern_cuda_unrelax();
    cudaGetLastError(); // a sticky error meets the next call as well
}

cudaError_t tern_cuda_fence_order(tern_cuda_fence **list, tern_cuda_stream *stream)
{
    while (*list) {
        tern_cuda_fence *fence = *list;
        cudaError_t error = cudaStreamWaitEvent(tern_cuda_raw_stream(stream), fence->event, 0);
        if (error != cudaSuccess)
            return tern_cuda_clear_error(error);
        *list = fence->next;
        pool_give(fence);
    }
    return cudaSuccess;
}

cudaError_t tern_cuda_stream_order(tern_cuda_stream *from, tern_cuda_stream *to)
{
    bool from_captured, to_captured;
    if (from == to)
        return cudaSuccess;
    cudaError_t error = tern_cuda_stream_captured(from, &from_captured);
    if (error == cudaSuccess)
        error = tern_cuda_stream_captured(to, &to_captured);
    if (error != cudaSuccess || from_captured != to_captured)
        return error;
    tern_cuda_fence *fence = NULL;
    error = tern_cuda_fence_record(&fence, from);
    if (error != cudaSuccess)
        return error;
    error = tern_cuda_fence_order(&fence, to);
    if (error != cudaSuccess)
        pool_give(fence);
    return error;
}
