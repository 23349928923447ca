// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/stream.h"

#include "cuda/host/capture.h"

cudaStream_t tern_cuda_raw_stream(const tern_cuda_stream *stream)
{
    const tern_cuda_capture *capture = tern_cuda_capture_of(stream->index);
    return capture && capture->stream == stream ? capture->origin->stream : stream->stream;
}

static bool is_capturing(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
           status != cudaStreamCaptureStatusNone;
}

bool tern_cuda_stream_captured(const tern_cuda_stream *stream)
{
    return tern_cuda_any_capture() && is_capturing(tern_cuda_raw_stream(stream));
}

bool tern_cuda_stream_forked(const tern_cuda_stream *stream)
{
    return tern_cuda_any_capture() && is_capturing(stream->stream);
}
