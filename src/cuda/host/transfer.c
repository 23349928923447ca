// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "cuda/host/current.h"
#include "cuda/host/event.h"
#include "cuda/host/launch.h"
#include "cuda/host/pinned.h"
#include "cuda/host/table.h"
#include "cuda/kernels.h"

// ---- host and device ----------------------------------------------------------------------------

// Through page-locked staging buffers: for pageable memory CUDA promises neither that it was read
// when the call returns, nor that the call does not wait for the stream.
static cudaError_t upload(tern_cuda_device *device, void *data, const void *host, int64_t nbytes)
{
    tern_cuda_stream *stream = tern_cuda_current_stream(device->index);
    return tern_cuda_staging_copy(&device->staging, stream, data, host, nbytes);
}

tern_status tern_plugin_to_device(int index, void *data, const void *host, int64_t nbytes)
{
    if (nbytes == 0)
        return TERN_OK;
    TERN_TRY(tern_cuda_not_capturing(index, "host memory is copied to the device"));
    TERN_TRY(tern_cuda_check("copy to the device", tern_cuda_set_current_device(index)));
    tern_cuda_capture_mode_relaxed_begin();
    cudaError_t error = upload(tern_cuda_device_get(index), data, host, nbytes);
    tern_cuda_capture_mode_relaxed_end();
    return tern_cuda_check("copy to the device", error);
}

tern_status tern_cuda_upload(const tern_exec *exec, void *data, const void *host, int64_t nbytes)
{
    return tern_plugin_to_device(exec->device.index, data, host, nbytes);
}

static cudaError_t download(const tern_cuda_stream *stream, void *host, const void *data,
                            int64_t nbytes)
{
    cudaError_t error = tern_cuda_set_current_device(stream->index);
    if (error == cudaSuccess && nbytes > 0)
        error = cudaMemcpyAsync(host, data, (size_t)nbytes, cudaMemcpyDeviceToHost, stream->stream);
    return error == cudaSuccess ? cudaStreamSynchronize(stream->stream) : error;
}

tern_status tern_plugin_to_host(int index, void *host, const void *data, int64_t nbytes)
{
    TERN_TRY(tern_cuda_not_capturing(index, "a value is read"));
    tern_cuda_capture_mode_relaxed_begin();
    cudaError_t error = download(tern_cuda_current_stream(index), host, data, nbytes);
    tern_cuda_capture_mode_relaxed_end();
    return tern_cuda_check("copy to the host", error);
}

// ---- between devices ----------------------------------------------------------------------------

static void enable_peer(int index, int peer)
{
    int possible = 0;
    if (cudaDeviceCanAccessPeer(&possible, index, peer) == cudaSuccess && possible &&
        tern_cuda_set_current_device(index) == cudaSuccess)
        (void)cudaDeviceEnablePeerAccess(peer, 0);
    cudaGetLastError(); // enabled by other code, or not possible: copies go by the host
}

// Enables peer access both ways, once for each pair of devices.
static void enable_peers(int a, int b)
{
    tern_cuda_device *device = tern_cuda_device_get(a < b ? a : b);
    bool *tried = &device->peer[a < b ? b : a];
    pthread_mutex_lock(&device->streams_lock);
    if (!*tried) {
        enable_peer(a, b);
        enable_peer(b, a);
        *tried = true;
    }
    pthread_mutex_unlock(&device->streams_lock);
}

// What is computed from wrong values is wrong too: the fault record is copied with the data.
static cudaError_t copy_fault(const tern_cuda_device *to, tern_cuda_stream *from)
{
    const tern_cuda_device *source = tern_cuda_device_get(from->index);
    return cudaMemcpyPeerAsync(&to->peer_faults[from->index], to->index, source->fault, from->index,
                               sizeof *source->fault, tern_cuda_raw_stream(from));
}

// The source's stream copies, after what was queued on the destination's, which then waits for the
// copy. The host does not wait.
static cudaError_t copy_between(tern_cuda_stream *to, void *data, tern_cuda_stream *from,
                                const void *source, int64_t nbytes)
{
    enable_peers(to->index, from->index);
    cudaError_t error = tern_cuda_stream_wait_stream(from, to);
    if (error == cudaSuccess)
        error = tern_cuda_set_current_device(from->index);
    if (error == cudaSuccess)
        error = cudaMemcpyPeerAsync(data, to->index, source, from->index, (size_t)nbytes,
                                    tern_cuda_raw_stream(from));
    if (error == cudaSuccess)
        error = copy_fault(tern_cuda_device_get(to->index), from);
    if (error == cudaSuccess)
        error = tern_cuda_stream_wait_stream(to, from);
    if (error == cudaSuccess)
        error = tern_cuda_set_current_device_for_launch(to->index);
    return error;
}

// After a failure the destination's stream may not wait for what is queued, and the caller frees
// the memory that it writes to: the host waits.
static void wait_for_queued(const tern_cuda_stream *from)
{
    tern_cuda_capture_mode_relaxed_begin();
    tern_cuda_clear_error(cudaStreamSynchronize(from->stream));
    tern_cuda_capture_mode_relaxed_end();
}

static tern_status copy_across(tern_cuda_stream *to, void *data, tern_cuda_stream *from,
                               const void *source, int64_t nbytes)
{
    const tern_cuda_device *device = tern_cuda_device_get(to->index);
    TERN_TRY(tern_cuda_not_capturing(to->index, "memory of another device is copied to it"));
    TERN_TRY(tern_cuda_not_capturing(from->index, "its memory is copied to another device"));
    cudaError_t error = copy_between(to, data, from, source, nbytes);
    if (error != cudaSuccess)
        wait_for_queued(from);
    TERN_TRY(tern_cuda_check("copy between devices", error));
    return tern_cuda_fault_propagate(tern_cuda_raw_stream(to), device->fault,
                                     &device->peer_faults[from->index]);
}

static cudaError_t copy_within(int index, void *data, const void *source, int64_t nbytes)
{
    cudaError_t error = tern_cuda_set_current_device(index);
    if (error != cudaSuccess)
        return error;
    return cudaMemcpyAsync(data, source, (size_t)nbytes, cudaMemcpyDeviceToDevice,
                           tern_cuda_current_raw_stream(index));
}

tern_status tern_plugin_across(int to, void *data, int from, const void *source, int64_t nbytes)
{
    if (nbytes == 0)
        return TERN_OK;
    if (to == from)
        return tern_cuda_check("copy", copy_within(to, data, source, nbytes));
    return copy_across(tern_cuda_current_stream(to), data, tern_cuda_current_stream(from), source,
                       nbytes);
}
