// SPDX-License-Identifier: Apache-2.0
// Making a device ready, and closing it.
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "cuda/host/blas.h"
#include "cuda/host/block_pool.h"
#include "cuda/host/current.h"
#include "cuda/host/event.h"
#include "cuda/host/graph.h"
#include "cuda/host/memory.h"
#include "cuda/host/pinned.h"
#include "cuda/host/stream.h"
#include "cuda/host/table.h"
#include "cuda/kernels.h"

typedef struct device_state {
    tern_fault fault, peer_faults[TERN_MAX_DEVICES];
    tern_draw_state draws;
} device_state;

static cudaError_t init_state(tern_cuda_device *device)
{
    cudaError_t error = tern_cuda_device_alloc(device, sizeof(device_state), &device->state);
    if (error != cudaSuccess)
        return error;
    device_state *state = device->state;
    device->fault = &state->fault;
    device->peer_faults = state->peer_faults;
    device->draws = &state->draws;
    return cudaSuccess;
}

static void destroy_state(tern_cuda_device *device)
{
    tern_cuda_device_free(device, sizeof(device_state), device->state);
}

static cudaError_t init_mirror(tern_cuda_device *device)
{
    void *mirror = NULL;
    cudaError_t error = cudaHostAlloc(&mirror, sizeof *device->mirror, cudaHostAllocPortable);
    if (error != cudaSuccess)
        return error;
    device->mirror = memset(mirror, 0, sizeof *device->mirror);
    return cudaSuccess;
}

static cudaError_t init_memory(tern_cuda_device *device)
{
    cudaError_t error = init_state(device);
    if (error != cudaSuccess)
        return error;
    error = init_mirror(device);
    if (error != cudaSuccess)
        goto no_mirror;
    error = tern_cuda_staging_init(&device->staging);
    if (error == cudaSuccess)
        return error;
    cudaFreeHost(device->mirror);
no_mirror:
    destroy_state(device);
    return error;
}

static void destroy_memory(tern_cuda_device *device)
{
    tern_cuda_staging_destroy(&device->staging);
    cudaFreeHost(device->mirror);
    destroy_state(device);
}

static cudaError_t begin(tern_cuda_device *device)
{
    cudaError_t error = tern_cuda_set_current_device_for_launch(device->index);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&device->multiprocessors, cudaDevAttrMultiProcessorCount,
                                       device->index);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&device->capability, cudaDevAttrComputeCapabilityMajor,
                                       device->index);
    if (error == cudaSuccess)
        error = tern_cuda_stream_init(&device->first, device->index, 0);
    if (error != cudaSuccess)
        return error;
    error = init_memory(device);
    if (error != cudaSuccess)
        tern_cuda_stream_destroy(&device->first);
    return error;
}

// The first launch fails where the plugin has no kernels for the device.
static tern_status write_state(const char *op, const tern_cuda_device *device,
                               tern_draw_state draws)
{
    const cudaStream_t stream = device->first.stream;
    TERN_TRY(tern_cuda_check(op, cudaMemsetAsync(device->state, 0, sizeof(device_state), stream)));
    return tern_cuda_draws_write(stream, device->draws, draws);
}

static tern_status init_and_launch(tern_cuda_device *device, tern_draw_state draws)
{
    char name[32];
    snprintf(name, sizeof name, "cuda:%d cannot be used", device->index);
    TERN_TRY(tern_cuda_check(name, begin(device)));
    tern_status status = write_state(name, device, draws);
    if (status) {
        (void)tern_cuda_clear_error(cudaStreamSynchronize(device->first.stream)); // uses the state
        destroy_memory(device);
        tern_cuda_stream_destroy(&device->first);
    }
    return status;
}

tern_status tern_plugin_open(int index, tern_draw_state draws)
{
    tern_cuda_device *device = tern_cuda_device_get(index);
    memset(device, 0, sizeof *device);
    device->index = index;
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->streams_lock, NULL);
    tern_cuda_capture_mode_relaxed_begin();
    tern_status status = init_and_launch(device, draws);
    tern_cuda_capture_mode_relaxed_end();
    if (!status) {
        device->streams[0] = &device->first;
        return TERN_OK;
    }
    pthread_mutex_destroy(&device->streams_lock);
    pthread_mutex_destroy(&device->lock);
    return status;
}

// ---- closing ------------------------------------------------------------------------------------

static bool is_idle(tern_cuda_device *device)
{
    tern_cuda_trim(device);
    pthread_mutex_lock(&device->lock);
    bool idle = !device->allocator.segments && atomic_load(&device->graphs) == 0;
    for (int slot = 1; slot < TERN_CUDA_STREAMS; slot++)
        idle = idle && !device->streams[slot];
    pthread_mutex_unlock(&device->lock);
    return idle;
}

static void end(tern_cuda_device *device)
{
    tern_cuda_pinned_trim();
    tern_cuda_capture_streams_destroy(device);
    tern_cuda_stream_destroy(&device->first);
    tern_cuda_blas_handles_destroy(device);
    destroy_memory(device);
    pthread_mutex_destroy(&device->streams_lock);
    pthread_mutex_destroy(&device->lock);
}

bool tern_plugin_close(int index)
{
    tern_cuda_device *device = tern_cuda_device_get(index);
    if (tern_cuda_set_current_device(index) != cudaSuccess ||
        tern_cuda_device_synchronize(device) != cudaSuccess || !is_idle(device))
        return false;
    end(device);
    return true;
}
