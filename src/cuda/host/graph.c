// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/graph.h"

#include <stdlib.h>
#include "base/error.h"
#include "base/mem.h"
#include "cuda/host/blas.h"
#include "cuda/host/current.h"
#include "cuda/host/event.h"
#include "cuda/host/caching_allocator.h"
#include "cuda/host/memory.h"
#include "cuda/host/table.h"

bool tern_plugin_capturing(int index)
{
    bool captured;
    return tern_cuda_current_capture_on(index) &&
           tern_cuda_stream_captured(tern_cuda_current_stream(index), &captured) == cudaSuccess &&
           captured;
}

// ---- capture ------------------------------------------------------------------------------------

static tern_status capture_stream_new(tern_cuda_capture_stream **made)
{
    tern_cuda_capture_stream *origin = calloc(1, sizeof *origin);
    if (!origin)
        return tern_cuda_check("cuda_graph_begin", cudaErrorMemoryAllocation);
    const cudaError_t error = cudaStreamCreateWithFlags(&origin->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        *made = origin;
    else
        free(origin);
    return tern_cuda_check("cuda_graph_begin", error);
}

static tern_status capture_stream_take(tern_cuda_device *device, tern_cuda_capture_stream **taken)
{
    pthread_mutex_lock(&device->streams_lock);
    *taken = device->capture_streams;
    if (*taken)
        device->capture_streams = (*taken)->next;
    pthread_mutex_unlock(&device->streams_lock);
    return *taken ? TERN_OK : capture_stream_new(taken);
}

static void capture_stream_give(tern_cuda_device *device, tern_cuda_capture_stream *origin)
{
    if (!origin)
        return;
    pthread_mutex_lock(&device->streams_lock);
    origin->next = device->capture_streams;
    device->capture_streams = origin;
    pthread_mutex_unlock(&device->streams_lock);
}

void tern_cuda_capture_streams_destroy(tern_cuda_device *device)
{
    while (device->capture_streams) {
        tern_cuda_capture_stream *origin = device->capture_streams;
        device->capture_streams = origin->next;
        if (origin->blas)
            cublasDestroy(origin->blas);
        cudaStreamDestroy(origin->stream);
        cudaGetLastError();
        free(origin);
    }
}

// What a first use creates is created before the capture: CUDA would refuse it, or put it into the
// graph.
static tern_status prepare(tern_cuda_capture *capture)
{
    void *workspace;
    TERN_TRY(tern_cuda_check("cuda_graph_begin", tern_cuda_set_current_device(capture->index)));
    TERN_TRY(capture_stream_take(tern_cuda_device_get(capture->index), &capture->origin));
    TERN_TRY(tern_cuda_graph_workspace(capture->index, &workspace));
    return tern_cuda_blas_bind(capture->index, &capture->origin->blas, capture->origin->stream,
                               workspace);
}

// Captured work comes after what was queued so far, on any stream.
static tern_status begin(tern_cuda_capture *capture)
{
    TERN_TRY(prepare(capture));
    cudaError_t error = tern_cuda_device_synchronize(tern_cuda_device_get(capture->index));
    if (error == cudaSuccess)
        error = tern_cuda_capture_begin(capture);
    return tern_cuda_check("cuda_graph_begin", error);
}

// Frees a graph, or a capture that failed. The memory of its pool goes back to the streams.
static void capture_free(tern_cuda_capture *capture)
{
    tern_cuda_device *device = tern_cuda_device_get(capture->index);
    tern_cuda_capture_mode_relaxed_begin();
    if (capture->exec && cudaGraphExecDestroy(capture->exec) != cudaSuccess)
        cudaGetLastError();
    tern_cuda_capture_mode_relaxed_end();
    capture_stream_give(device, capture->origin);
    pthread_mutex_lock(&device->lock);
    tern_cuda_allocator_release_pool(device, &capture->pool);
    pthread_mutex_unlock(&device->lock);
    atomic_fetch_sub(&device->graphs, 1);
    if (!tern_cuda_allocator_caches())
        tern_cuda_workspace_trim(device);
    tern_mem_free(capture, sizeof *capture);
}

tern_status tern_plugin_capture_begin(int index)
{
    const tern_cuda_capture *open = tern_cuda_current_capture();
    TERN_CHECK(!open, TERN_ERR_STATE, "cuda_graph_begin: this thread captures cuda:%d already",
               open->index);
    tern_cuda_capture *capture = tern_mem_alloc(sizeof *capture);
    if (!capture)
        return TERN_ERR_NOMEM;
    *capture = (tern_cuda_capture){
        .index = index, .stream = tern_cuda_current_stream(index), .pool.graph = capture};
    atomic_fetch_add(&tern_cuda_device_get(index)->graphs, 1);
    tern_status status = begin(capture);
    if (status)
        capture_free(capture);
    else
        atomic_fetch_add(&capture->stream->captures, 1);
    return status;
}

static cudaError_t instantiate(tern_cuda_capture *capture, cudaGraph_t graph, bool discard)
{
    cudaError_t error = discard ? cudaSuccess : cudaGraphInstantiate(&capture->exec, graph, 0);
    cudaGraphDestroy(graph);
    return error;
}

static cudaError_t end(tern_cuda_capture *capture, bool discard)
{
    cudaGraph_t graph = NULL;
    const cudaError_t error = tern_cuda_capture_end(capture, &graph);
    return error == cudaSuccess ? instantiate(capture, graph, discard) : error;
}

// Replays write to the memory that the graph leaves to its user: each later use of it is ordered
// with them, so tern_plugin_use may not skip any.
static void close_pool(tern_cuda_device *device, const tern_cuda_block_pool *pool)
{
    pthread_mutex_lock(&device->lock);
    tern_cuda_allocator_forget_last(device, pool);
    pthread_mutex_unlock(&device->lock);
}

void *tern_plugin_capture_end(int index, bool discard)
{
    tern_cuda_capture *capture = tern_cuda_current_capture_on(index);
    TERN_CHECK_PTR(capture, TERN_ERR_STATE, "cuda_graph_end: this thread does not capture cuda:%d",
                   index);
    (void)tern_cuda_set_current_device(index);
    cudaError_t error = end(capture, discard);
    close_pool(tern_cuda_device_get(index), &capture->pool);
    capture_stream_give(tern_cuda_device_get(index), capture->origin);
    capture->origin = NULL;
    atomic_fetch_sub(&capture->stream->captures, 1);
    if (!discard && !tern_cuda_check("cuda_graph_end", error))
        return capture;
    capture_free(capture);
    return NULL;
}

// ---- replay -------------------------------------------------------------------------------------

static cudaError_t wait_for_users(const tern_cuda_device *device, uint64_t users,
                                  tern_cuda_stream *stream)
{
    cudaError_t error = cudaSuccess;
    for (int slot = 0; slot < TERN_CUDA_STREAMS && error == cudaSuccess; slot++)
        if (users >> slot & 1 && device->streams[slot])
            error = tern_cuda_stream_wait_stream(stream, device->streams[slot]);
    return error;
}

// The replay waits for the last replay of any graph of the device, which has the same workspace,
// and for the streams that used this graph's results.
static cudaError_t launch(tern_cuda_device *device, tern_cuda_capture *capture,
                          tern_cuda_stream *stream)
{
    cudaError_t error = wait_for_users(device, capture->users | device->replayed, stream);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(capture->exec, tern_cuda_raw_stream(stream));
    if (error == cudaSuccess)
        capture->users = device->replayed = (uint64_t)1 << stream->slot;
    return error;
}

tern_status tern_plugin_graph_launch(void *graph)
{
    tern_cuda_capture *capture = graph;
    tern_cuda_device *device = tern_cuda_device_get(capture->index);
    TERN_TRY(tern_cuda_check("cuda_graph_replay", tern_cuda_set_current_device(capture->index)));
    pthread_mutex_lock(&device->lock);
    const cudaError_t error = launch(device, capture, tern_cuda_current_stream(capture->index));
    pthread_mutex_unlock(&device->lock);
    return tern_cuda_check("cuda_graph_replay", error);
}

cudaError_t tern_cuda_graph_result_use(tern_cuda_capture *capture, tern_cuda_stream *stream)
{
    const cudaError_t error =
        wait_for_users(tern_cuda_device_get(capture->index), capture->users, stream);
    capture->users |= (uint64_t)1 << stream->slot;
    return error;
}

void tern_plugin_graph_free(void *graph)
{
    tern_cuda_capture *capture = graph;
    if (!capture)
        return;
    tern_cuda_device_synchronize_to_free(tern_cuda_device_get(capture->index));
    capture_free(capture);
}
