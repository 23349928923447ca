// SPDX-License-Identifier: Apache-2.0
// Capture: begin and end, and what must not be done meanwhile.
#include "capture.h"

#include <algorithm>
#include <set>

#include "device.h"

namespace sim
{

static std::vector<CaptureRef> &active = *new std::vector<CaptureRef>;
static thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

cudaError_t capture_work(const StreamRef &stream, Kind kind, Work work)
{
    Capture &capture = *stream->capture;
    if (capture.invalid)
        return cudaErrorStreamCaptureInvalidated;
    capture.graph.nodes.push_back({kind, std::move(work), stream->tail});
    stream->tail = {capture.graph.nodes.size() - 1};
    return cudaSuccess;
}

void merge_tail(std::vector<size_t> &tail, const std::vector<size_t> &more)
{
    std::set<size_t> all(tail.begin(), tail.end());
    all.insert(more.begin(), more.end());
    tail.assign(all.begin(), all.end());
}

// Whether this thread may not make calls that could wait or allocate because of the capture.
static bool forbids_unsafe(const Capture &capture)
{
    if (thread_mode == cudaStreamCaptureModeRelaxed)
        return false;
    if (pthread_equal(capture.thread, pthread_self()))
        return capture.mode != cudaStreamCaptureModeRelaxed;
    return thread_mode == cudaStreamCaptureModeGlobal &&
           capture.mode == cudaStreamCaptureModeGlobal;
}

cudaError_t refuse_unsafe()
{
    cudaError_t error = cudaSuccess;
    for (const CaptureRef &capture : active)
        if (forbids_unsafe(*capture)) {
            capture->invalid = true;
            error = cudaErrorStreamCaptureUnsupported;
        }
    return error;
}

cudaError_t refuse_work(const StreamRef &stream)
{
    if (!stream->capture)
        return cudaSuccess;
    if (stream->capture->invalid)
        return cudaErrorStreamCaptureInvalidated;
    stream->capture->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_wait(const StreamRef &stream)
{
    if (stream->legacy)
        if (cudaError_t refused = refuse_legacy(stream->device))
            return refused;
    if (stream->capture) {
        stream->capture->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    return refuse_unsafe();
}

cudaError_t refuse_wait_for_device(int device)
{
    cudaError_t error = cudaSuccess;
    for (const StreamRef &stream : all_streams())
        if (stream->capture && stream->device == device) {
            stream->capture->invalid = true;
            error = cudaErrorStreamCaptureUnsupported;
        }
    return error ? error : refuse_unsafe();
}

cudaError_t refuse_legacy(int device)
{
    cudaError_t error = cudaSuccess;
    for (const StreamRef &stream : all_streams())
        if (stream->capture && stream->device == device &&
            !(stream->flags & cudaStreamNonBlocking)) {
            stream->capture->invalid = true;
            error = cudaErrorStreamCaptureImplicit;
        }
    return error;
}

// The nodes that come before the given ones, and these.
static std::vector<bool> reached_from(const CUgraph_st &graph, const std::vector<size_t> &tail)
{
    std::vector<bool> reached(graph.nodes.size());
    for (size_t node : tail)
        reached[node] = true;
    for (size_t node = graph.nodes.size(); node-- > 0;)
        if (reached[node])
            for (size_t before : graph.nodes[node].after)
                reached[before] = true;
    return reached;
}

// Every stream that joined must have been joined back: its last nodes come before the origin's.
static bool is_joined(const CaptureRef &capture)
{
    std::vector<bool> reached = reached_from(capture->graph, capture->origin->tail);
    for (const StreamRef &stream : all_streams())
        if (stream->capture == capture)
            for (size_t node : stream->tail)
                if (!reached[node])
                    return false;
    return true;
}

static void end(const CaptureRef &capture)
{
    for (const StreamRef &stream : all_streams())
        if (stream->capture == capture) {
            stream->capture = nullptr;
            stream->tail.clear();
        }
    active.erase(std::find(active.begin(), active.end(), capture));
}

static cudaError_t begin(const StreamRef &stream, cudaStreamCaptureMode mode)
{
    static unsigned long long captures_begun;
    if (stream->legacy)
        return cudaErrorStreamCaptureUnsupported;
    if (stream->capture)
        return cudaErrorIllegalState;
    auto capture = std::make_shared<Capture>();
    capture->id = ++captures_begun;
    capture->mode = mode;
    capture->thread = pthread_self();
    capture->origin = stream;
    stream->capture = capture;
    active.push_back(capture);
    counts().captures++;
    return cudaSuccess;
}

static cudaStreamCaptureStatus status_of(const StreamRef &stream)
{
    if (!stream->capture)
        return cudaStreamCaptureStatusNone;
    return stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                    : cudaStreamCaptureStatusActive;
}

} // namespace sim

using namespace sim;

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, enum cudaStreamCaptureMode mode)
{
    Call call(TERN_SIM_CAPTURE, current_device());
    TERN_SIM_TRY(call.error);
    return remember(begin(stream_of(handle), mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph)
{
    Call call;
    *graph = nullptr;
    StreamRef stream = stream_of(handle);
    CaptureRef capture = stream->capture;
    if (!capture)
        return remember(cudaErrorIllegalState);
    if (capture->origin != stream)
        return remember(cudaErrorStreamCaptureUnmatched);
    if (capture->mode != cudaStreamCaptureModeRelaxed &&
        !pthread_equal(capture->thread, pthread_self()))
        return remember(cudaErrorStreamCaptureWrongThread);
    bool joined = is_joined(capture);
    end(capture);
    TERN_SIM_TRY(call.error);
    if (capture->invalid)
        return remember(cudaErrorStreamCaptureInvalidated);
    if (!joined)
        return remember(cudaErrorStreamCaptureUnjoined);
    *graph = new CUgraph_st(std::move(capture->graph));
    return remember(fault_of(stream->device));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, enum cudaStreamCaptureStatus *status)
{
    Call call(current_device());
    TERN_SIM_TRY(call.error);
    StreamRef stream = stream_of(handle);
    if (stream->legacy)
        TERN_SIM_TRY(refuse_legacy(stream->device));
    *status = status_of(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edges, size_t *count)
{
    if (graph || dependencies || edges || count)
        broken_rule("cudaStreamGetCaptureInfo: the simulation tells the status and the id only");
    cudaError_t error = cudaStreamIsCapturing(handle, status);
    if (error == cudaSuccess && id && *status == cudaStreamCaptureStatusActive)
        *id = stream_of(handle)->capture->id;
    return error;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    Call call;
    TERN_SIM_TRY(call.error);
    std::swap(*mode, thread_mode);
    return cudaSuccess;
}
