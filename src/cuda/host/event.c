// SPDX-License-Identifier: Apache-2.0
// Events, and waits: of streams for each other, and of the host for streams.
#include "cuda/host/event.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/mem.h"
#include "cuda/host/current.h"
#include "cuda/host/table.h"

// ---- the event pool -----------------------------------------------------------------------------

// Fences not in use, by device. They stay for the life of the process, so they come from the C
// library, not from an allocator that a program may want to exchange.
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

// ---- waits of the host for a device -------------------------------------------------------------

static cudaError_t wait_for_streams(const tern_cuda_device *device)
{
    cudaError_t error = tern_cuda_make_current(device->index);
    for (int slot = 0; slot < TERN_CUDA_STREAMS && error == cudaSuccess; slot++) {
        const tern_cuda_stream *stream = device->streams[slot];
        bool forked = false;
        if (stream)
            error = tern_cuda_stream_forked(stream, &forked);
        if (stream && error == cudaSuccess && !forked)
            error = cudaStreamSynchronize(stream->stream);
    }
    return error;
}

cudaError_t tern_cuda_streams_wait(const tern_cuda_device *device)
{
    tern_cuda_relax();
    cudaError_t error = wait_for_streams(device);
    tern_cuda_unrelax();
    return tern_cuda_clear_error(error);
}

// As in wait_for: after a sticky error there is nothing to wait for, any other is one call's alone.
void tern_cuda_streams_wait_to_free(const tern_cuda_device *device)
{
    if (tern_cuda_streams_wait(device) != cudaSuccess)
        (void)tern_cuda_streams_wait(device);
}

void tern_cuda_device_wait_to_free(tern_cuda_device *device)
{
    pthread_mutex_lock(&device->streams_lock);
    tern_cuda_streams_wait_to_free(device);
    pthread_mutex_unlock(&device->streams_lock);
}

cudaError_t tern_cuda_device_wait(tern_cuda_device *device)
{
    pthread_mutex_lock(&device->streams_lock);
    cudaError_t error = tern_cuda_streams_wait(device);
    pthread_mutex_unlock(&device->streams_lock);
    return error;
}

tern_status tern_plugin_synchronize(int index)
{
    TERN_TRY(tern_cuda_not_capturing(index, "it is waited for"));
    return tern_cuda_check("synchronize", tern_cuda_device_wait(tern_cuda_device_of(index)));
}

// ---- events of the CUDA table -------------------------------------------------------------------

struct tern_cuda_event {
    cudaEvent_t event;
    int index; // of the device
    bool recorded;
};

tern_cuda_event *tern_plugin_event_new(int index)
{
    if (tern_cuda_check("cuda_event_new", tern_cuda_make_current(index)))
        return NULL;
    tern_cuda_event *event = tern_mem_alloc(sizeof *event);
    if (!event)
        return NULL;
    event->index = index;
    if (!tern_cuda_check("cuda_event_new", cudaEventCreateWithFlags(&event->event, 0)))
        return event;
    tern_mem_free(event, sizeof *event);
    return NULL;
}

void tern_plugin_event_free(tern_cuda_event *event)
{
    if (!event)
        return;
    if (cudaEventDestroy(event->event) != cudaSuccess)
        cudaGetLastError();
    tern_mem_free(event, sizeof *event);
}

tern_status tern_plugin_event_record(tern_cuda_event *event)
{
    TERN_TRY(tern_cuda_check("cuda_event_record", tern_cuda_make_current(event->index)));
    TERN_TRY(tern_cuda_check("cuda_event_record",
                             cudaEventRecord(event->event, tern_cuda_raw_stream_of(event->index))));
    event->recorded = true;
    return TERN_OK;
}

tern_status tern_plugin_event_wait(tern_cuda_event *event, int index)
{
    TERN_TRY(tern_cuda_check("cuda_event_wait", tern_cuda_make_current(index)));
    return tern_cuda_check("cuda_event_wait",
                           cudaStreamWaitEvent(tern_cuda_raw_stream_of(index), event->event, 0));
}

tern_status tern_plugin_event_synchronize(tern_cuda_event *event)
{
    TERN_TRY(tern_cuda_not_capturing(event->index, "an event is waited for"));
    tern_cuda_relax();
    cudaError_t error = cudaEventSynchronize(event->event);
    tern_cuda_unrelax();
    return tern_cuda_check("cuda_event_synchronize", error);
}

static tern_status elapsed(tern_cuda_event *start, tern_cuda_event *end, float *milliseconds)
{
    TERN_CHECK(start->recorded && end->recorded, TERN_ERR_STATE,
               "cuda_event_elapsed: %s was not recorded", start->recorded ? "end" : "start");
    TERN_TRY(tern_plugin_event_synchronize(start));
    TERN_TRY(tern_plugin_event_synchronize(end));
    return tern_cuda_check("cuda_event_elapsed",
                           cudaEventElapsedTime(milliseconds, start->event, end->event));
}

double tern_plugin_event_elapsed(tern_cuda_event *start, tern_cuda_event *end)
{
    float milliseconds = 0;
    return elapsed(start, end, &milliseconds) ? NAN : (double)milliseconds;
}
