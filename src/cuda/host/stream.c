// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/stream.h"

#include "cuda/host/capture.h"
#include "cuda/host/check.h"

static bool is_origin(const tern_cuda_stream *stream)
{
    const tern_cuda_capture *capture = tern_cuda_capture_of(stream->index);
    return capture && capture->stream == stream;
}

cudaStream_t tern_cuda_raw_stream(const tern_cuda_stream *stream)
{
    return is_origin(stream) ? tern_cuda_capture_of(stream->index)->origin->stream : stream->stream;
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
