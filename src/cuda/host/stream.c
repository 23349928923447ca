// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/stream.h"

#include "cuda/host/capture.h"

cudaStream_t tern_cuda_raw_stream(const tern_cuda_stream *stream)
{
    const tern_cuda_capture *capture = tern_cuda_capture_of(stream->index);
    return capture && capture->stream == stream ? capture->recorder->stream : stream->stream;
}

static bool captures(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
           status != cudaStreamCaptureStatusNone;
}

bool tern_cuda_stream_captured(const tern_cuda_stream *stream)
{
    return tern_cuda_captures() && captures(tern_cuda_raw_stream(stream));
}

bool tern_cuda_stream_joined(const tern_cuda_stream *stream)
{
    return tern_cuda_captures() && captures(stream->stream);
}
