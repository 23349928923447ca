// SPDX-License-Identifier: Apache-2.0
// Which devices there are, and making one ready.
#include "cuda/host/device.h"

#include <stdio.h>
#include <string.h>
#include "cuda/host/allocator.h"
#include "cuda/host/blas.h"
#include "cuda/host/devices.h"
#include "cuda/host/graph.h"
#include "cuda/host/nvml.h"
#include "cuda/host/pinned.h"

static tern_cuda_device devices[TERN_MAX_DEVICES];

static pthread_once_t count_once = PTHREAD_ONCE_INIT;
static int device_count;
static char count_reason[256] = "no CUDA device was found";

tern_cuda_device *tern_cuda_device_of(int index)
{
    return &devices[index];
}

// CUDA is asked each time: other code of the process may have made another device this thread's.
cudaError_t tern_cuda_enter(int index)
{
    int current = -1;
    if (tern_cuda_told(cudaGetDevice(&current)) == cudaSuccess && current == index)
        return cudaSuccess;
    return tern_cuda_told(cudaSetDevice(index));
}

cudaError_t tern_cuda_enter_to_launch(int index)
{
    cudaGetLastError();
    return tern_cuda_enter(index);
}

static void ask_count(void)
{
    int count = 0; // the call leaves it alone when it fails
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        cudaGetLastError();
        snprintf(count_reason, sizeof count_reason, "no CUDA device: %s (%s)",
                 cudaGetErrorString(error), cudaGetErrorName(error));
        return;
    }
    device_count = count < TERN_MAX_DEVICES ? count : TERN_MAX_DEVICES;
}

int tern_plugin_count(void)
{
    pthread_once(&count_once, ask_count);
    return device_count;
}

const char *tern_plugin_reason(void)
{
    return tern_plugin_count() > 0 ? "" : count_reason;
}

// ---- making a device ready ----------------------------------------------------------------------

typedef struct device_state {
    tern_fault fault, carried[TERN_MAX_DEVICES];
    tern_draw_state draws;
} device_state;

static cudaError_t begin_state(tern_cuda_device *device)
{
    cudaError_t error = tern_cuda_device_take(device, sizeof(device_state), &device->state);
    if (error != cudaSuccess)
        return error;
    device_state *state = device->state;
    device->fault = &state->fault;
    device->carried = state->carried;
    device->draws = &state->draws;
    error = cudaMemsetAsync(state, 0, sizeof *state, device->first.stream);
    if (error != cudaSuccess)
        tern_cuda_device_give(device, sizeof *state, state);
    return error;
}

static void end_state(tern_cuda_device *device)
{
    tern_cuda_device_give(device, sizeof(device_state), device->state);
}

static cudaError_t begin_mirror(tern_cuda_device *device)
{
    void *mirror = NULL;
    cudaError_t error = cudaHostAlloc(&mirror, sizeof *device->mirror, cudaHostAllocPortable);
    if (error != cudaSuccess)
        return error;
    device->mirror = memset(mirror, 0, sizeof *device->mirror);
    return cudaSuccess;
}

static cudaError_t begin_memory(tern_cuda_device *device)
{
    cudaError_t error = begin_state(device);
    if (error != cudaSuccess)
        return error;
    error = begin_mirror(device);
    if (error != cudaSuccess)
        goto no_mirror;
    error = tern_cuda_staging_begin(&device->staging);
    if (error == cudaSuccess)
        return error;
    cudaFreeHost(device->mirror);
no_mirror:
    end_state(device);
    return error;
}

static void end_memory(tern_cuda_device *device)
{
    tern_cuda_staging_end(&device->staging);
    cudaFreeHost(device->mirror);
    end_state(device);
}

static cudaError_t begin(tern_cuda_device *device)
{
    cudaError_t error = tern_cuda_enter_to_launch(device->index);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&device->multiprocessors, cudaDevAttrMultiProcessorCount,
                                       device->index);
    if (error == cudaSuccess)
        error = tern_cuda_stream_begin(&device->first, device->index, 0);
    if (error != cudaSuccess)
        return error;
    error = begin_memory(device);
    if (error != cudaSuccess)
        tern_cuda_stream_end(&device->first);
    return error;
}

// The first launch tells whether the device has its kernels.
static tern_status begin_to_launch(tern_cuda_device *device)
{
    char name[32];
    snprintf(name, sizeof name, "cuda:%d cannot be used", device->index);
    TERN_TRY(tern_cuda_check(name, begin(device)));
    const tern_draw_state none = {0};
    tern_status status = tern_cuda_draws_write(device->first.stream, device->draws, none);
    if (status) {
        end_memory(device);
        tern_cuda_stream_end(&device->first);
    }
    return status;
}

tern_status tern_plugin_open(int index)
{
    tern_cuda_device *device = &devices[index];
    memset(device, 0, sizeof *device);
    device->index = index;
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->streams_lock, NULL);
    tern_cuda_relax();
    tern_status status = begin_to_launch(device);
    tern_cuda_unrelax();
    if (!status) {
        device->streams[0] = &device->first;
        return TERN_OK;
    }
    pthread_mutex_destroy(&device->streams_lock);
    pthread_mutex_destroy(&device->lock);
    return status;
}

// ---- and closing it -----------------------------------------------------------------------------

static bool is_idle(tern_cuda_device *device)
{
    tern_cuda_trim(device);
    pthread_mutex_lock(&device->lock);
    bool idle = !device->heap.segments && atomic_load(&device->graphs) == 0;
    for (int slot = 1; slot < TERN_CUDA_STREAMS; slot++)
        idle = idle && !device->streams[slot];
    pthread_mutex_unlock(&device->lock);
    return idle;
}

static void end(tern_cuda_device *device)
{
    tern_cuda_pinned_trim();
    tern_cuda_recorders_end(device);
    tern_cuda_stream_end(&device->first);
    tern_cuda_handles_end(device);
    end_memory(device);
    pthread_mutex_destroy(&device->streams_lock);
    pthread_mutex_destroy(&device->lock);
}

bool tern_plugin_close(int index)
{
    tern_cuda_device *device = &devices[index];
    if (tern_cuda_enter(index) != cudaSuccess || tern_cuda_device_wait(device) != cudaSuccess ||
        !is_idle(device))
        return false;
    end(device);
    return true;
}

// ---- the other slots ----------------------------------------------------------------------------

void tern_plugin_exec(int index, tern_exec *exec)
{
    const tern_cuda_device *device = &devices[index];
    (void)tern_cuda_enter_to_launch(index); // if that fails, so does the launch
    exec->stream = tern_cuda_raw_stream_of(index);
    exec->fault = device->fault;
    exec->draws = device->draws;
}

int tern_cuda_multiprocessors(int index)
{
    return devices[index].multiprocessors;
}

static cudaError_t wait_for_streams(const tern_cuda_device *device)
{
    cudaError_t error = tern_cuda_enter(device->index);
    for (int slot = 0; slot < TERN_CUDA_STREAMS && error == cudaSuccess; slot++) {
        const tern_cuda_stream *stream = device->streams[slot];
        if (stream && !tern_cuda_stream_joined(stream))
            error = cudaStreamSynchronize(stream->stream);
    }
    return error;
}

cudaError_t tern_cuda_streams_wait(const tern_cuda_device *device)
{
    tern_cuda_relax();
    cudaError_t error = wait_for_streams(device);
    tern_cuda_unrelax();
    return tern_cuda_told(error);
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
    return tern_cuda_check("synchronize", tern_cuda_device_wait(&devices[index]));
}

tern_status tern_plugin_properties(int index, tern_cuda_properties *out)
{
    struct cudaDeviceProp given;
    TERN_TRY(tern_cuda_check("cuda_get_properties", cudaGetDeviceProperties(&given, index)));
    tern_cuda_properties properties = {
        .major = given.major,
        .minor = given.minor,
        .multiprocessors = given.multiProcessorCount,
        .total_memory = (int64_t)given.totalGlobalMem,
    };
    snprintf(properties.name, sizeof properties.name, "%s", given.name);
    snprintf(properties.pci_bus_id, sizeof properties.pci_bus_id, "%04x:%02x:%02x.0",
             (unsigned)given.pciDomainID, (unsigned)given.pciBusID & 0xff,
             (unsigned)given.pciDeviceID & 0xff);
    _Static_assert(sizeof properties.uuid == UUID_TEXT, "write_uuid fills it");
    tern_cuda_write_uuid(properties.uuid, strstr(given.name, " MIG ") ? "MIG" : "GPU",
                         given.uuid.bytes);
    *out = properties;
    return TERN_OK;
}
