// SPDX-License-Identifier: Apache-2.0
// The calling thread's current stream of each device, on which its work is queued.
#ifndef TERN_SRC_CUDA_HOST_CURRENT_STREAM_H
#define TERN_SRC_CUDA_HOST_CURRENT_STREAM_H

#include "cuda/host/stream.h"
#include "device/kernels.h"

// The current stream of the device; its first where the thread set none.
tern_cuda_stream *tern_cuda_stream_of(int index);
// Its CUDA stream: see tern_cuda_raw_stream.
cudaStream_t tern_cuda_raw_stream_of(int index);

tern_cuda_stream *tern_plugin_stream_set(int index, tern_cuda_stream *stream);
tern_exec tern_plugin_exec(int index);

#endif
