// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/wait.h"

#include "base/error.h"
#include "cuda/host/capture.h"
#include "cuda/host/check.h"
#include "cuda/host/current_device.h"

static cudaError_t wait_for_streams(const tern_cuda_device *device)
{
    cudaError_t error = tern_cuda_make_current(device->index);
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

cudaError_t tern_cuda_streams_wait(const tern_cuda_device *device)
{
    tern_cuda_relax();
    cudaError_t error = wait_for_streams(device);
    tern_cuda_unrelax();
    return tern_cuda_clear_error(error);
}

// As in fence.c: after a sticky error there is nothing to wait for, any other is one call's alone.
void tern_cuda_streams_wait_to_free(const tern_cuda_device *device)
{
    if (tern_cuda_streams_wait(device) != cudaSuccess)
        (void)tern_cuda_streams_wait(device);
}

void tern_cuda_device_wait_to_free(tern_cuda_device *device)
{
    pthread_mutex_lock(&device->streams_lock);
    tern_cuda_streams_wait_to_free(device);
    pthread_mutex_unlock(&device->streams_lock);
}

cudaError_t tern_cuda_device_wait(tern_cuda_device *device)
{
    pthread_mutex_lock(&device->streams_lock);
    cudaError_t error = tern_cuda_streams_wait(device);
    pthread_mutex_unlock(&device->streams_lock);
    return error;
}

tern_status tern_plugin_synchronize(int index)
{
    TERN_TRY(tern_cuda_not_capturing(index, "it is waited for"));
    return tern_cuda_check("synchronize", tern_cuda_device_wait(tern_cuda_device_of(index)));
}
