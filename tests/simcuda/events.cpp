// SPDX-License-Identifier: Apache-2.0
// Events: a place in a stream, or in a capture, that others can wait for.
#include <algorithm>
#include <ctime>

#include "capture.h"
#include "device.h"
#include "stream.h"

namespace sim
{

// A place in a stream: reached when the stream has done that much.
struct Mark {
    StreamRef stream;
    uint64_t done;
    double seconds; // when it was reached
};

} // namespace sim

struct CUevent_st {
    int device;
    unsigned flags;
    std::shared_ptr<sim::Mark> mark; // NULL: never recorded, or last in a capture
    sim::CaptureRef capture;         // where it was last recorded, if that was in a capture
    std::vector<size_t> nodes;       // of that capture
};

namespace sim
{

static std::vector<CUevent_st *> &events = *new std::vector<CUevent_st *>;

static CUevent_st *event_of(cudaEvent_t handle)
{
    if (std::find(events.begin(), events.end(), handle) == events.end())
        broken_rule("event %p is used, which does not exist or was destroyed", (void *)handle);
    return handle;
}

static bool is_reached(const CUevent_st &event)
{
    return !event.mark || event.mark->stream->done >= event.mark->done;
}

static double now()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static cudaError_t record(CUevent_st *event, const StreamRef &stream)
{
    if (stream->capture) {
        if (stream->capture->invalid)
            return cudaErrorStreamCaptureInvalidated;
        event->mark = nullptr;
        event->capture = stream->capture;
        event->nodes = stream->tail;
        return cudaSuccess;
    }
    auto mark = std::make_shared<Mark>(Mark{stream, 0, 0});
    cudaError_t error = submit(stream, Kind::other, [mark] { mark->seconds = now(); });
    if (error)
        return error;
    mark->done = stream->issued;
    event->capture = nullptr;
    event->mark = mark;
    return cudaSuccess;
}

// The stream joins the capture that the event was recorded in.
static cudaError_t join_capture(const StreamRef &stream, const CUevent_st &event)
{
    if (event.capture->origin->capture != event.capture)
        return cudaErrorCapturedEvent; // of a capture that is over
    if (event.capture->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (stream->legacy)
        return cudaErrorStreamCaptureImplicit;
    if (stream->capture && stream->capture != event.capture) {
        stream->capture->invalid = event.capture->invalid = true;
        return cudaErrorStreamCaptureMerge;
    }
    stream->capture = event.capture;
    merge_tail(stream->tail, event.nodes);
    return cudaSuccess;
}

static cudaError_t order_after(const StreamRef &stream, const CUevent_st &event)
{
    if (event.capture)
        return join_capture(stream, event);
    if (!event.mark)
        return cudaSuccess; // never recorded
    if (stream->capture) {
        stream->capture->invalid = true;
        return cudaErrorStreamCaptureIsolation;
    }
    std::shared_ptr<Mark> mark = event.mark;
    record_wait(TERN_SIM_STREAM_ON_EVENT, stream->device, handle_of(stream), mark->stream->device,
                handle_of(mark->stream));
    counts().event_orders_across += stream->device != mark->stream->device;
    return submit(stream, Kind::other, [mark] { run_until(mark->stream.get(), mark->done); });
}

static cudaError_t refuse_event_wait(const CUevent_st &event)
{
    if (!event.capture)
        return refuse_unsafe();
    event.capture->invalid = true;
    return cudaErrorCapturedEvent;
}

} // namespace sim

using namespace sim;

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    Call call(TERN_SIM_EVENT_CREATE, current_device());
    TERN_SIM_TRY(call.error);
    counts().events++;
    *event = new CUevent_st{current_device(), flags, nullptr, nullptr, {}};
    events.push_back(*event);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle)
{
    Call call;
    CUevent_st *event = event_of(handle);
    int device = event->device;
    events.erase(std::find(events.begin(), events.end(), event));
    delete event;
    return remember(call.error ? call.error : fault_of(device));
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle)
{
    Call call(TERN_SIM_EVENT_RECORD, current_device());
    TERN_SIM_TRY(call.error);
    CUevent_st *event = event_of(handle);
    StreamRef stream = stream_of(stream_handle);
    if (event->device != stream->device)
        return remember(cudaErrorInvalidResourceHandle);
    counts().records++;
    return remember(record(event, stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle, cudaEvent_t handle, unsigned int)
{
    Call call(current_device());
    TERN_SIM_TRY(call.error);
    CUevent_st *event = event_of(handle);
    counts().event_orders++;
    return remember(order_after(stream_of(stream_handle), *event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle)
{
    Call call(TERN_SIM_WAIT, current_device());
    TERN_SIM_TRY(call.error);
    CUevent_st *event = event_of(handle);
    TERN_SIM_TRY(refuse_event_wait(*event));
    counts().event_waits++;
    if (!event->mark)
        return cudaSuccess;
    std::shared_ptr<Mark> mark = event->mark;
    record_wait(TERN_SIM_HOST_ON_EVENT, -1, nullptr, mark->stream->device, handle_of(mark->stream));
    run_until(mark->stream.get(), mark->done);
    return remember(fault_of(event->device));
}

// Who asks again and again sees it come to an end.
cudaError_t cudaEventQuery(cudaEvent_t handle)
{
    Call call(current_device());
    TERN_SIM_TRY(call.error);
    CUevent_st *event = event_of(handle);
    TERN_SIM_TRY(refuse_event_wait(*event));
    counts().queries++;
    if (is_reached(*event))
        return remember(fault_of(event->device));
    run_one(event->mark->stream.get());
    return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    Call call(current_device());
    TERN_SIM_TRY(call.error);
    CUevent_st *first = event_of(start), *second = event_of(end);
    if ((first->flags | second->flags) & cudaEventDisableTiming || !first->mark || !second->mark)
        return remember(cudaErrorInvalidResourceHandle);
    if (!is_reached(*first) || !is_reached(*second))
        return remember(cudaErrorNotReady);
    *milliseconds = (float)((second->mark->seconds - first->mark->seconds) * 1e3);
    return cudaSuccess;
}
