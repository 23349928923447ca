// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/graph.h"

#include <stdlib.h>
#include "base/error.h"
#include "base/mem.h"
#include "cuda/host/blas.h"
#include "cuda/host/check.h"
#include "cuda/host/current_device.h"
#include "cuda/host/current_stream.h"
#include "cuda/host/device.h"
#include "cuda/host/fence.h"
#include "cuda/host/heap.h"
#include "cuda/host/wait.h"
#include "cuda/host/workspace.h"

bool tern_plugin_capturing(int index)
{
    return tern_cuda_capture_of(index) && tern_cuda_stream_captured(tern_cuda_stream_of(index));
}

// ---- capture ------------------------------------------------------------------------------------

static tern_status recorder_new(tern_cuda_recorder **made)
{
    tern_cuda_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return tern_cuda_check("cuda_graph_begin", cudaErrorMemoryAllocation);
    const cudaError_t error = cudaStreamCreateWithFlags(&recorder->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        *made = recorder;
    else
        free(recorder);
    return tern_cuda_check("cuda_graph_begin", error);
}

static tern_status recorder_take(tern_cuda_device *device, tern_cuda_recorder **taken)
{
    pthread_mutex_lock(&device->streams_lock);
    *taken = device->recorders;
    if (*taken)
        device->recorders = (*taken)->next;
    pthread_mutex_unlock(&device->streams_lock);
    return *taken ? TERN_OK : recorder_new(taken);
}

static void recorder_give(tern_cuda_device *device, tern_cuda_recorder *recorder)
{
    if (!recorder)
        return;
    pthread_mutex_lock(&device->streams_lock);
    recorder->next = device->recorders;
    device->recorders = recorder;
    pthread_mutex_unlock(&device->streams_lock);
}

void tern_cuda_recorders_end(tern_cuda_device *device)
{
    while (device->recorders) {
        tern_cuda_recorder *recorder = device->recorders;
        device->recorders = recorder->next;
        if (recorder->blas)
            cublasDestroy(recorder->blas);
        cudaStreamDestroy(recorder->stream);
        cudaGetLastError();
        free(recorder);
    }
}

// What a first use would make is made before: that is not for a graph.
static tern_status prepare(tern_cuda_capture *capture)
{
    void *workspace;
    TERN_TRY(tern_cuda_check("cuda_graph_begin", tern_cuda_enter(capture->index)));
    TERN_TRY(recorder_take(tern_cuda_device_of(capture->index), &capture->recorder));
    TERN_TRY(tern_cuda_workspace_of_graphs(capture->index, &workspace));
    return tern_cuda_blas_bind(capture->index, &capture->recorder->blas, capture->recorder->stream,
                               workspace);
}

// What was queued so far is what the captured work begins with, on any stream.
static tern_status begin(tern_cuda_capture *capture)
{
    TERN_TRY(prepare(capture));
    cudaError_t error = tern_cuda_device_wait(tern_cuda_device_of(capture->index));
    if (error == cudaSuccess)
        error = tern_cuda_capture_begin(capture);
    return tern_cuda_check("cuda_graph_begin", error);
}

// Memory that was taken goes back to the streams.
static void capture_free(tern_cuda_capture *capture)
{
    tern_cuda_device *device = tern_cuda_device_of(capture->index);
    tern_cuda_relax();
    if (capture->exec && cudaGraphExecDestroy(capture->exec) != cudaSuccess)
        cudaGetLastError();
    tern_cuda_unrelax();
    recorder_give(device, capture->recorder);
    pthread_mutex_lock(&device->lock);
    tern_cuda_heap_release(device, &capture->pool);
    pthread_mutex_unlock(&device->lock);
    atomic_fetch_sub(&device->graphs, 1);
    if (!tern_cuda_heap_keeps())
        tern_cuda_workspace_trim(device);
    tern_mem_free(capture, sizeof *capture);
}

tern_status tern_plugin_capture_begin(int index)
{
    const tern_cuda_capture *open = tern_cuda_capture_of_thread();
    TERN_CHECK(!open, TERN_ERR_STATE, "cuda_graph_begin: this thread captures cuda:%d already",
               open->index);
    tern_cuda_capture *capture = tern_mem_alloc(sizeof *capture);
    if (!capture)
        return TERN_ERR_NOMEM;
    *capture = (tern_cuda_capture){
        .index = index, .stream = tern_cuda_stream_of(index), .pool.graph = capture};
    atomic_fetch_add(&tern_cuda_device_of(index)->graphs, 1);
    tern_status status = begin(capture);
    if (status)
        capture_free(capture);
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

// What the graph leaves to its user is used on streams that its replays wait for, and that wait for
// them: tern_plugin_use has to look at each use.
static void close_pool(tern_cuda_device *device, const tern_cuda_pool *pool)
{
    pthread_mutex_lock(&device->lock);
    tern_cuda_heap_forget_last(device, pool);
    pthread_mutex_unlock(&device->lock);
}

void *tern_plugin_capture_end(int index, bool discard)
{
    tern_cuda_capture *capture = tern_cuda_capture_of(index);
    TERN_CHECK_PTR(capture, TERN_ERR_STATE, "cuda_graph_end: this thread does not capture cuda:%d",
                   index);
    (void)tern_cuda_enter(index);
    cudaError_t error = end(capture, discard);
    close_pool(tern_cuda_device_of(index), &capture->pool);
    recorder_give(tern_cuda_device_of(index), capture->recorder);
    capture->recorder = NULL;
    if (!discard && !tern_cuda_check("cuda_graph_end", error))
        return capture;
    capture_free(capture);
    return NULL;
}

// ---- graphs -------------------------------------------------------------------------------------

static cudaError_t order_behind(const tern_cuda_device *device, uint64_t slots,
                                tern_cuda_stream *stream)
{
    cudaError_t error = cudaSuccess;
    for (int slot = 0; slot < TERN_CUDA_STREAMS && error == cudaSuccess; slot++)
        if (slots >> slot & 1 && device->streams[slot])
            error = tern_cuda_stream_order(device->streams[slot], stream);
    return error;
}

// Behind the last replay of any graph, whose workspace this one uses, and behind those who used
// what this graph made.
static cudaError_t launch(tern_cuda_device *device, tern_cuda_capture *capture,
                          tern_cuda_stream *stream)
{
    cudaError_t error = order_behind(device, capture->users | device->replayed, stream);
    if (error == cudaSuccess)
        error = cudaGraphLaunch(capture->exec, tern_cuda_raw_stream(stream));
    if (error == cudaSuccess)
        capture->users = device->replayed = (uint64_t)1 << stream->slot;
    return error;
}

tern_status tern_plugin_graph_launch(void *graph)
{
    tern_cuda_capture *capture = graph;
    tern_cuda_device *device = tern_cuda_device_of(capture->index);
    TERN_TRY(tern_cuda_check("cuda_graph_replay", tern_cuda_enter(capture->index)));
    pthread_mutex_lock(&device->lock);
    const cudaError_t error = launch(device, capture, tern_cuda_stream_of(capture->index));
    pthread_mutex_unlock(&device->lock);
    return tern_cuda_check("cuda_graph_replay", error);
}

cudaError_t tern_cuda_graph_result_use(tern_cuda_capture *capture, tern_cuda_stream *stream)
{
    const cudaError_t error =
        order_behind(tern_cuda_device_of(capture->index), capture->users, stream);
    capture->users |= (uint64_t)1 << stream->slot;
    return error;
}

void tern_plugin_graph_free(void *graph)
{
    tern_cuda_capture *capture = graph;
    if (!capture)
        return;
    (void)tern_cuda_device_wait(tern_cuda_device_of(capture->index));
    capture_free(capture);
}
