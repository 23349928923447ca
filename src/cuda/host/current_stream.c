// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/current_stream.h"

#include "cuda/host/current_device.h"
#include "cuda/host/device.h"

static _Thread_local tern_cuda_stream *current[TERN_MAX_DEVICES]; // NULL: the device's first

tern_cuda_stream *tern_cuda_stream_of(int index)
{
    return current[index] ? current[index] : &tern_cuda_device_of(index)->first;
}

cudaStream_t tern_cuda_raw_stream_of(int index)
{
    return tern_cuda_raw_stream(tern_cuda_stream_of(index));
}

tern_cuda_stream *tern_plugin_stream_set(int index, tern_cuda_stream *stream)
{
    tern_cuda_stream *before = current[index];
    current[index] = stream;
    return before;
}

tern_exec tern_plugin_exec(int index)
{
    const tern_cuda_device *device = tern_cuda_device_of(index);
    (void)tern_cuda_make_current_for_launch(index); // if that fails, so does the launch
    return (tern_exec){.device = {TERN_CUDA, index},
                       .stream = tern_cuda_raw_stream_of(index),
                       .fault = device->fault,
                       .draws = device->draws};
}
