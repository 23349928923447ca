// SPDX-License-Identifier: Apache-2.0
// What is current for the calling thread: a device, a stream of each device, a capture.
#include "cuda/host/current.h"

#include "base/error.h"
#include "cuda/host/table.h"

// ---- device -------------------------------------------------------------------------------------

// CUDA is asked each time: other code of the process may have made another device current.
cudaError_t tern_cuda_set_current_device(int index)
{
    int current = -1;
    if (tern_cuda_clear_error(cudaGetDevice(&current)) == cudaSuccess && current == index)
        return cudaSuccess;
    return tern_cuda_clear_error(cudaSetDevice(index));
}

cudaError_t tern_cuda_set_current_device_for_launch(int index)
{
    cudaGetLastError();
    return tern_cuda_set_current_device(index);
}

// ---- capture ------------------------------------------------------------------------------------

static _Thread_local tern_cuda_capture *capturing;
static atomic_int captures; // of all threads

tern_cuda_capture *tern_cuda_current_capture_on(int index)
{
    return capturing && capturing->index == index ? capturing : NULL;
}

tern_cuda_capture *tern_cuda_current_capture(void)
{
    return capturing;
}

bool tern_cuda_any_capture(void)
{
    return atomic_load_explicit(&captures, memory_order_acquire) > 0;
}

tern_status tern_cuda_not_capturing(int index, const char *what)
{
    TERN_CHECK(!tern_cuda_current_capture_on(index), TERN_ERR_STATE,
               "%s while device cuda:%d is being captured: do it before the capture begins, or "
               "after it ended",
               what, index);
    return TERN_OK;
}

static bool exchange_mode(void)
{
    return tern_cuda_clear_error(cudaThreadExchangeStreamCaptureMode(&capturing->mode)) ==
           cudaSuccess;
}

void tern_cuda_capture_mode_relaxed_begin(void)
{
    if (!capturing || capturing->relaxed++ > 0)
        return;
    capturing->mode = cudaStreamCaptureModeRelaxed;
    capturing->exchanged = exchange_mode();
}

void tern_cuda_capture_mode_relaxed_end(void)
{
    if (capturing && --capturing->relaxed == 0 && capturing->exchanged)
        (void)exchange_mode();
}

cudaError_t tern_cuda_capture_begin(tern_cuda_capture *capture)
{
    atomic_fetch_add(&captures, 1);
    const cudaError_t error =
        cudaStreamBeginCapture(capture->origin->stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess)
        capturing = capture;
    else
        atomic_fetch_sub(&captures, 1);
    return error;
}

cudaError_t tern_cuda_capture_end(tern_cuda_capture *capture, cudaGraph_t *graph)
{
    const cudaError_t error = cudaStreamEndCapture(capture->origin->stream, graph);
    atomic_fetch_sub(&captures, 1);
    capturing = NULL;
    if (error == cudaSuccess && *graph)
        return cudaSuccess;
    if (*graph) // the error is one of earlier work
        cudaGraphDestroy(*graph);
    cudaGetLastError();
    return error != cudaSuccess ? error : cudaErrorStreamCaptureInvalidated;
}

// ---- stream -------------------------------------------------------------------------------------

static _Thread_local tern_cuda_stream *current[TERN_MAX_DEVICES]; // NULL: the device's first

tern_cuda_stream *tern_cuda_current_stream(int index)
{
    return current[index] ? current[index] : &tern_cuda_device_get(index)->first;
}

cudaStream_t tern_cuda_current_raw_stream(int index)
{
    return tern_cuda_raw_stream(tern_cuda_current_stream(index));
}

tern_cuda_stream *tern_plugin_stream_set(int index, tern_cuda_stream *stream)
{
    tern_cuda_stream *before = current[index];
    current[index] = stream;
    return before;
}

tern_exec tern_plugin_exec(int index)
{
    const tern_cuda_device *device = tern_cuda_device_get(index);
    // Where it fails a kernel's launch fails; taking memory or cuBLAS's handle tries it again.
    (void)tern_cuda_set_current_device_for_launch(index);
    return (tern_exec){.device = {TERN_CUDA, index},
                       .stream = tern_cuda_current_raw_stream(index),
                       .fault = device->fault,
                       .draws = device->draws};
}

static bool is_origin(const tern_cuda_stream *stream)
{
    const tern_cuda_capture *capture = tern_cuda_current_capture_on(stream->index);
    return capture && capture->stream == stream;
}

cudaStream_t tern_cuda_raw_stream(const tern_cuda_stream *stream)
{
    return is_origin(stream) ? tern_cuda_current_capture_on(stream->index)->origin->stream
                             : stream->stream;
}

cudaError_t tern_cuda_stream_captured(const tern_cuda_stream *stream, bool *captured)
{
    *captured = is_origin(stream);
    return *captured ? cudaSuccess : tern_cuda_stream_forked(stream, captured);
}

cudaError_t tern_cuda_stream_forked(const tern_cuda_stream *stream, bool *forked)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaError_t error = cudaSuccess;
    if (tern_cuda_any_capture())
        error = tern_cuda_clear_error(cudaStreamIsCapturing(stream->stream, &status));
    *forked = status != cudaStreamCaptureStatusNone;
    return error;
}
