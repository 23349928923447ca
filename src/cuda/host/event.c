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

// Events that are not in use, by device. They stay for the life of the process, so they come from
// the C library, not from an allocator that a program may want to exchange.
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static tern_cuda_block_pool_event *pool[TERN_MAX_DEVICES];

static tern_cuda_block_pool_event *pool_event_new(int index)
{
    tern_cuda_block_pool_event *event = calloc(1, sizeof *event);
    if (!event)
        return NULL;
    event->index = index;
    tern_cuda_capture_mode_relaxed_begin();
    cudaError_t error =
        tern_cuda_set_current_device(index); // the event belongs to the current device
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&event->event, cudaEventDisableTiming);
    tern_cuda_capture_mode_relaxed_end();
    if (error == cudaSuccess)
        return event;
    cudaGetLastError();
    free(event);
    return NULL;
}

static tern_cuda_block_pool_event *pool_acquire(int index)
{
    pthread_mutex_lock(&pool_lock);
    tern_cuda_block_pool_event *event = pool[index];
    if (event)
        pool[index] = event->next;
    pthread_mutex_unlock(&pool_lock);
    return event ? event : pool_event_new(index);
}

static void pool_release(tern_cuda_block_pool_event *event)
{
    pthread_mutex_lock(&pool_lock);
    event->next = pool[event->index];
    pool[event->index] = event;
    pthread_mutex_unlock(&pool_lock);
}

cudaError_t tern_cuda_events_record(tern_cuda_block_pool_event **list, tern_cuda_stream *stream)
{
    tern_cuda_block_pool_event *event = *list;
    while (event && event->stream != stream)
        event = event->next;
    if (event)
        return tern_cuda_clear_error(cudaEventRecord(event->event, tern_cuda_raw_stream(stream)));
    event = pool_acquire(stream->index);
    if (!event)
        return cudaErrorMemoryAllocation;
    cudaError_t error = cudaEventRecord(event->event, tern_cuda_raw_stream(stream));
    if (error != cudaSuccess) {
        pool_release(event);
        return tern_cuda_clear_error(error);
    }
    event->stream = stream;
    event->next = *list;
    *list = event;
    return cudaSuccess;
}

// After a sticky error nothing runs on the device any more, so that nothing has to be waited for.
// Any other is one call's alone, and the next one waits.
static void wait_for(const tern_cuda_block_pool_event *event)
{
    if (cudaEventSynchronize(event->event) != cudaSuccess)
        cudaEventSynchronize(event->event);
}

static bool is_done(const tern_cuda_block_pool_event *event)
{
    const cudaError_t error = cudaEventQuery(event->event);
    if (error != cudaSuccess && error != cudaErrorNotReady)
        wait_for(event);
    return error != cudaErrorNotReady;
}

bool tern_cuda_events_query(tern_cuda_block_pool_event **list)
{
    if (tern_cuda_current_capture())
        return !*list;
    for (tern_cuda_block_pool_event **link = list; *link;) {
        tern_cuda_block_pool_event *event = *link;
        if (is_done(event)) {
            *link = event->next;
            pool_release(event);
        } else {
            link = &event->next;
        }
    }
    cudaGetLastError(); // cudaErrorNotReady counts as an error
    return !*list;
}

void tern_cuda_events_synchronize(tern_cuda_block_pool_event **list)
{
    tern_cuda_capture_mode_relaxed_begin();
    while (*list) {
        tern_cuda_block_pool_event *event = *list;
        wait_for(event);
        *list = event->next;
        pool_release(event);
    }
    tern_cuda_capture_mode_relaxed_end();
    cudaGetLastError(); // a sticky error meets the next call as well
}

cudaError_t tern_cuda_stream_wait_events(tern_cuda_stream *stream,
                                         tern_cuda_block_pool_event **list)
{
    while (*list) {
        tern_cuda_block_pool_event *event = *list;
        cudaError_t error = cudaStreamWaitEvent(tern_cuda_raw_stream(stream), event->event, 0);
        if (error != cudaSuccess)
            return tern_cuda_clear_error(error);
        *list = event->next;
        pool_release(event);
    }
    return cudaSuccess;
}

cudaError_t tern_cuda_stream_wait_stream(tern_cuda_stream *to, tern_cuda_stream *from)
{
    bool from_captured, to_captured;
    if (from == to)
        return cudaSuccess;
    cudaError_t error = tern_cuda_stream_captured(from, &from_captured);
    if (error == cudaSuccess)
        error = tern_cuda_stream_captured(to, &to_captured);
    if (error != cudaSuccess || from_captured != to_captured)
        return error;
    tern_cuda_block_pool_event *event = NULL;
    error = tern_cuda_events_record(&event, from);
    if (error != cudaSuccess)
        return error;
    error = tern_cuda_stream_wait_events(to, &event);
    if (error != cudaSuccess)
        pool_release(event);
    return error;
}

// ---- waits of the host for a device -------------------------------------------------------------

static cudaError_t synchronize_streams(const tern_cuda_device *device)
{
    cudaError_t error = tern_cuda_set_current_device(device->index);
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

cudaError_t tern_cuda_streams_synchronize(const tern_cuda_device *device)
{
    tern_cuda_capture_mode_relaxed_begin();
    cudaError_t error = synchronize_streams(device);
    tern_cuda_capture_mode_relaxed_end();
    return tern_cuda_clear_error(error);
}

// As in wait_for: after a sticky error there is nothing to wait for, any other is one call's alone.
void tern_cuda_streams_synchronize_to_free(const tern_cuda_device *device)
{
    if (tern_cuda_streams_synchronize(device) != cudaSuccess)
        (void)tern_cuda_streams_synchronize(device);
}

void tern_cuda_device_synchronize_to_free(tern_cuda_device *device)
{
    pthread_mutex_lock(&device->streams_lock);
    tern_cuda_streams_synchronize_to_free(device);
    pthread_mutex_unlock(&device->streams_lock);
}

cudaError_t tern_cuda_device_synchronize(tern_cuda_device *device)
{
    pthread_mutex_lock(&device->streams_lock);
    cudaError_t error = tern_cuda_streams_synchronize(device);
    pthread_mutex_unlock(&device->streams_lock);
    return error;
}

tern_status tern_plugin_synchronize(int index)
{
    TERN_TRY(tern_cuda_not_capturing(index, "it is waited for"));
    return tern_cuda_check("synchronize",
                           tern_cuda_device_synchronize(tern_cuda_device_get(index)));
}

// ---- events of the CUDA table -------------------------------------------------------------------

struct tern_cuda_event {
    cudaEvent_t event;
    int index; // of the device
    bool recorded;
};

tern_cuda_event *tern_plugin_event_new(int index)
{
    if (tern_cuda_check("cuda_event_new", tern_cuda_set_current_device(index)))
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
    TERN_TRY(tern_cuda_check("cuda_event_record", tern_cuda_set_current_device(event->index)));
    TERN_TRY(
        tern_cuda_check("cuda_event_record",
                        cudaEventRecord(event->event, tern_cuda_current_raw_stream(event->index))));
    event->recorded = true;
    return TERN_OK;
}

tern_status tern_plugin_event_wait(tern_cuda_event *event, int index)
{
    TERN_TRY(tern_cuda_check("cuda_event_wait", tern_cuda_set_current_device(index)));
    return tern_cuda_check(
        "cuda_event_wait",
        cudaStreamWaitEvent(tern_cuda_current_raw_stream(index), event->event, 0));
}

tern_status tern_plugin_event_synchronize(tern_cuda_event *event)
{
    TERN_TRY(tern_cuda_not_capturing(event->index, "an event is waited for"));
    tern_cuda_capture_mode_relaxed_begin();
    cudaError_t error = cudaEventSynchronize(event->event);
    tern_cuda_capture_mode_relaxed_end();
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
