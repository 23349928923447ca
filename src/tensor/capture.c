// SPDX-License-Identifier: Apache-2.0
// Graphs: work that is captured once and replayed as a whole.
#include "tensor/capture.h"
#include "base/fork.h"
#include "base/mem.h"
#include "tensor/op.h"
#include "tensor/plugin.h"

struct tern_cuda_graph {
    tern_device device;
    void *graph; // the backend's
    tern_replay_hook *hooks;
    int64_t count, capacity;
};

static _Thread_local tern_cuda_graph *capture; // in progress

bool tern_capturing(tern_device device)
{
    return capture && tern_device_equal(capture->device, device);
}

tern_status tern_capture_hook(tern_replay_hook hook)
{
    TERN_TRY(tern_mem_grow((void **)&capture->hooks, &capture->capacity, capture->count + 1,
                           sizeof *capture->hooks));
    capture->hooks[capture->count++] = hook;
    return TERN_OK;
}

static const tern_cuda_table *table(void)
{
    return tern_cuda_backend()->cuda;
}

tern_status tern_cuda_graph_begin(int index)
{
    tern_device device = tern_cuda(index);
    TERN_TRY(tern_fork_check());
    TERN_TRY(tern_device_resolve("cuda_graph_begin", &device));
    if (tern_error_pending())
        return tern_error_code();
    TERN_CHECK(!capture, TERN_ERR_STATE, "cuda_graph_begin: this thread captures on %s already",
               tern_device_string(capture->device));
    tern_draw_advance(device); // the captured draws count from 0
    tern_cuda_graph *graph = tern_mem_alloc(sizeof *graph);
    if (!graph)
        return TERN_ERR_NOMEM;
    graph->device = device;
    tern_status status = table()->capture_begin(device.index);
    if (status)
        tern_mem_free(graph, sizeof *graph);
    else
        capture = graph;
    return status;
}

static void free_host_side(tern_cuda_graph *graph)
{
    for (int64_t i = 0; i < graph->count; i++)
        graph->hooks[i].drop(graph->hooks[i].user);
    tern_mem_free(graph->hooks, (size_t)graph->capacity * sizeof *graph->hooks);
    tern_mem_free(graph, sizeof *graph);
}

tern_cuda_graph *tern_cuda_graph_end(void)
{
    tern_cuda_graph *graph = capture;
    TERN_CHECK_PTR(graph, TERN_ERR_STATE, "cuda_graph_end: this thread captures nothing");
    capture = NULL;
    graph->graph = table()->capture_end(graph->device.index, tern_error_pending());
    if (graph->graph)
        return graph;
    free_host_side(graph);
    return NULL;
}

tern_status tern_cuda_graph_replay(tern_cuda_graph *graph)
{
    if (!graph)
        return tern_null_error("cuda_graph_replay", "graph");
    TERN_TRY(tern_fork_check());
    if (tern_error_pending())
        return tern_error_code();
    TERN_CHECK(!tern_capturing(graph->device), TERN_ERR_STATE,
               "cuda_graph_replay: %s is being captured, and a graph cannot become part of another",
               tern_device_string(graph->device));
    for (int64_t i = 0; i < graph->count; i++)
        TERN_TRY(graph->hooks[i].run(graph->hooks[i].user));
    return table()->graph_launch(graph->graph);
}

void tern_cuda_graph_free(tern_cuda_graph *graph)
{
    if (!graph)
        return;
    table()->graph_free(graph->graph);
    free_host_side(graph);
}
