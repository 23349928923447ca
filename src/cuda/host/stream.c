// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/stream.h"

#include <string.h>
#include "base/error.h"
#include "base/mem.h"
#include "cuda/host/blas.h"
#include "cuda/host/current.h"
#include "cuda/host/event.h"
#include "cuda/host/caching_allocator.h"
#include "cuda/host/table.h"
#include "cuda/host/random.h"

cudaError_t tern_cuda_stream_init(tern_cuda_stream *stream, int index, int slot)
{
    memset(stream, 0, sizeof *stream);
    stream->index = index;
    stream->slot = slot;
    cudaError_t error = cudaStreamCreateWithFlags(&stream->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        pthread_mutex_init(&stream->lock, NULL);
    return error;
}

void tern_cuda_stream_destroy(tern_cuda_stream *stream)
{
    tern_cuda_blas_free(stream);
    tern_cuda_random_free(stream);
    cudaStreamDestroy(stream->stream);
    cudaGetLastError();
    pthread_mutex_destroy(&stream->lock);
}

static int free_slot(const tern_cuda_device *device)
{
    int slot = 0;
    while (slot < TERN_CUDA_STREAMS && device->streams[slot])
        slot++;
    return slot;
}

static void set_slot(tern_cuda_device *device, int slot, tern_cuda_stream *stream)
{
    pthread_mutex_lock(&device->lock);
    device->streams[slot] = stream;
    pthread_mutex_unlock(&device->lock);
}

// Its work comes after what was queued on the first stream, which wrote the state of the device.
static tern_status init_in_slot(tern_cuda_device *device, tern_cuda_stream *stream)
{
    int slot = free_slot(device);
    TERN_CHECK(slot < TERN_CUDA_STREAMS, TERN_ERR_UNSUPPORTED,
               "cuda_stream_new: cuda:%d has %d streams already, which is the most", device->index,
               TERN_CUDA_STREAMS);
    cudaError_t error = tern_cuda_stream_init(stream, device->index, slot);
    TERN_TRY(tern_cuda_check("cuda_stream_new", error));
    error = tern_cuda_stream_wait_stream(stream, &device->first);
    if (error != cudaSuccess) {
        tern_cuda_stream_destroy(stream);
        return tern_cuda_check("cuda_stream_new", error);
    }
    set_slot(device, slot, stream);
    return TERN_OK;
}

tern_cuda_stream *tern_plugin_stream_new(int index)
{
    tern_cuda_device *device = tern_cuda_device_get(index);
    if (tern_cuda_check("cuda_stream_new", tern_cuda_set_current_device(index)))
        return NULL;
    tern_cuda_stream *stream = tern_mem_alloc(sizeof *stream);
    if (!stream)
        return NULL;
    pthread_mutex_lock(&device->streams_lock);
    tern_status status = init_in_slot(device, stream);
    pthread_mutex_unlock(&device->streams_lock);
    if (!status)
        return stream;
    tern_mem_free(stream, sizeof *stream);
    return NULL;
}

static tern_status check_free(tern_cuda_stream *stream)
{
    bool forked;
    TERN_TRY(tern_cuda_check("cuda_stream_free", tern_cuda_stream_forked(stream, &forked)));
    TERN_CHECK(!atomic_load(&stream->captures) && !forked, TERN_ERR_STATE,
               "cuda_stream_free: work of the stream is being captured: end the capture first");
    return TERN_OK;
}

void tern_plugin_stream_free(tern_cuda_stream *stream)
{
    if (!stream || check_free(stream))
        return;
    tern_cuda_device *device = tern_cuda_device_get(stream->index);
    (void)tern_cuda_set_current_device(stream->index);
    pthread_mutex_lock(&device->streams_lock);
    tern_cuda_capture_mode_relaxed_begin();
    // Twice, as in tern_cuda_streams_synchronize_to_free.
    if (cudaStreamSynchronize(stream->stream) != cudaSuccess)
        cudaStreamSynchronize(stream->stream);
    pthread_mutex_lock(&device->lock);
    tern_cuda_allocator_release_stream(device, stream);
    device->streams[stream->slot] = NULL;
    pthread_mutex_unlock(&device->lock);
    tern_cuda_stream_destroy(stream);
    tern_cuda_capture_mode_relaxed_end();
    pthread_mutex_unlock(&device->streams_lock);
    tern_mem_free(stream, sizeof *stream);
}

int tern_plugin_stream_index(const tern_cuda_stream *stream)
{
    return stream->index;
}

tern_status tern_plugin_stream_synchronize(tern_cuda_stream *stream)
{
    bool captured;
    TERN_TRY(
        tern_cuda_check("cuda_stream_synchronize", tern_cuda_stream_captured(stream, &captured)));
    TERN_CHECK(!captured, TERN_ERR_STATE,
               "cuda_stream_synchronize: work of the stream is being captured, there is nothing to "
               "wait for");
    TERN_TRY(
        tern_cuda_check("cuda_stream_synchronize", tern_cuda_set_current_device(stream->index)));
    tern_cuda_capture_mode_relaxed_begin();
    cudaError_t error = cudaStreamSynchronize(stream->stream);
    tern_cuda_capture_mode_relaxed_end();
    return tern_cuda_check("cuda_stream_synchronize", error);
}
