// SPDX-License-Identifier: Apache-2.0
// Streams: making, running and waiting for them, and the legacy stream's order.
#include "stream.h"

#include <algorithm>

#include "capture.h"
#include "device.h"

namespace sim
{

static std::vector<StreamRef> &streams = *new std::vector<StreamRef>;

const std::vector<StreamRef> &all_streams()
{
    return streams;
}

static StreamRef add_stream(int device, unsigned flags, bool legacy)
{
    StreamRef stream = std::make_shared<CUstream_st>();
    stream->device = device;
    stream->flags = flags;
    stream->legacy = legacy;
    streams.push_back(stream);
    return stream;
}

static StreamRef legacy_stream(int device)
{
    for (const StreamRef &stream : streams)
        if (stream->legacy && stream->device == device)
            return stream;
    return add_stream(device, cudaStreamDefault, true);
}

StreamRef stream_of(cudaStream_t handle)
{
    if (!handle || handle == cudaStreamLegacy)
        return legacy_stream(current_device());
    for (const StreamRef &stream : streams)
        if (stream.get() == handle && !stream->destroyed)
            return stream;
    broken_rule("stream %p is used, which does not exist or was destroyed", (void *)handle);
}

const void *handle_of(const StreamRef &stream)
{
    return stream->legacy ? nullptr : stream.get();
}

static bool follows_legacy(const CUstream_st &stream)
{
    return !stream.legacy && !(stream.flags & cudaStreamNonBlocking);
}

// A destroyed stream stays until its work is done.
static void forget_if_over(CUstream_st *stream)
{
    if (!stream->destroyed || !stream->queue.empty())
        return;
    auto found = std::find_if(streams.begin(), streams.end(),
                              [stream](const StreamRef &each) { return each.get() == stream; });
    if (found != streams.end())
        streams.erase(found);
}

void run_one(CUstream_st *stream)
{
    if (stream->queue.empty())
        return;
    Work work = std::move(stream->queue.front());
    stream->queue.pop_front();
    work();
    stream->done++;
}

void run_until(CUstream_st *stream, uint64_t done)
{
    while (stream->done < done)
        run_one(stream);
}

void run_all(const StreamRef &stream)
{
    run_until(stream.get(), stream->issued);
}

// One piece after another, of the streams in turn as TERN_SIM_ORDER says.
void run_device(int device)
{
    for (;;) {
        std::vector<StreamRef> busy;
        for (const StreamRef &stream : streams)
            if (stream->device == device && !stream->queue.empty())
                busy.push_back(stream);
        if (busy.empty())
            return;
        const StreamRef &next = busy[walk_over(busy.size()).first];
        run_one(next.get());
        forget_if_over(next.get());
    }
}

// Counts as done, so that streams of other devices that wait for it go on.
void drop_queued(int device)
{
    for (const StreamRef &stream : streams)
        if (stream->device == device) {
            stream->done += stream->queue.size();
            stream->queue.clear();
        }
}

static void enqueue(const StreamRef &stream, Work work)
{
    stream->queue.push_back(std::move(work));
    stream->issued++;
}

static void enqueue_wait(const StreamRef &stream, const StreamRef &on)
{
    if (on->done == on->issued)
        return;
    record_wait(TERN_SIM_STREAM_ON_LEGACY, stream->device, handle_of(stream), on->device,
                handle_of(on));
    uint64_t until = on->issued;
    enqueue(stream, [on, until] { run_until(on.get(), until); });
}

// The legacy stream comes after everything that blocking streams of its device have been given, and
// before everything that they will be.
static void order_with_legacy(const StreamRef &stream)
{
    for (const StreamRef &other : std::vector<StreamRef>(streams)) {
        bool ordered =
            stream->legacy ? follows_legacy(*other) : follows_legacy(*stream) && other->legacy;
        if (ordered && other->device == stream->device)
            enqueue_wait(stream, other);
    }
}

bool captures(const StreamRef &stream)
{
    return stream->capture != nullptr;
}

cudaError_t submit(const StreamRef &stream, Kind kind, Work work)
{
    if (cudaError_t fault = fault_of(stream->device))
        return fault;
    if (stream->legacy)
        if (cudaError_t refused = refuse_legacy(stream->device))
            return refused;
    if (stream->capture)
        return capture_work(stream, kind, std::move(work));
    order_with_legacy(stream);
    enqueue(stream, std::move(work));
    if (!settings().lazy)
        run_all(stream);
    return cudaSuccess;
}

} // namespace sim

using namespace sim;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    Call call(TERN_SIM_STREAM_CREATE, current_device());
    TERN_SIM_TRY(call.error);
    if (flags > cudaStreamNonBlocking)
        return remember(cudaErrorInvalidValue);
    counts().streams++;
    *stream = add_stream(current_device(), flags, false).get();
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

// Its work goes on; nobody waits for it here.
cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    Call call;
    if (!handle || handle == cudaStreamLegacy)
        return remember(cudaErrorInvalidResourceHandle);
    StreamRef stream = stream_of(handle);
    TERN_SIM_TRY(refuse_work(stream));
    stream->destroyed = true;
    forget_if_over(stream.get());
    return remember(call.error ? call.error : fault_of(stream->device));
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    Call call(TERN_SIM_WAIT, current_device());
    TERN_SIM_TRY(call.error);
    StreamRef stream = stream_of(handle);
    TERN_SIM_TRY(refuse_wait(stream));
    counts().stream_waits++;
    record_wait(TERN_SIM_HOST_ON_STREAM, -1, nullptr, stream->device, handle_of(stream));
    run_all(stream);
    return remember(fault_of(stream->device));
}

// Who asks again and again sees it come to an end.
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    Call call(current_device());
    TERN_SIM_TRY(call.error);
    StreamRef stream = stream_of(handle);
    TERN_SIM_TRY(refuse_wait(stream));
    counts().queries++;
    if (stream->queue.empty())
        return remember(fault_of(stream->device));
    run_one(stream.get());
    return cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize(void)
{
    Call call(TERN_SIM_WAIT, current_device());
    TERN_SIM_TRY(call.error);
    TERN_SIM_TRY(refuse_wait_for_device(current_device()));
    counts().device_waits++;
    record_wait(TERN_SIM_HOST_ON_DEVICE, -1, nullptr, current_device(), nullptr);
    run_device(current_device());
    return remember(fault_of(current_device()));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void *data)
{
    Call call(current_device());
    TERN_SIM_TRY(call.error);
    StreamRef stream = stream_of(handle);
    return remember(submit(stream, Kind::other, [function, data] { function(data); }));
}
