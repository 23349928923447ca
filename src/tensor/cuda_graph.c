// SPDX-License-Identifier: Apache-2.0
// The functions of <tern/cuda_graph.h>: work that is captured once and replayed as a whole.
#include <tern/cuda_graph.h>
#include "base/error.h"
#include "base/fork.h"
#include "base/mem.h"
#include "device/draws.h"
#include "device/plugin.h"
#include "tensor/capture.h"
#include "tensor/scope.h"

struct tern_cuda_graph {
    tern_device device;
    tern_tensor_capture *capture;
    void *graph; // the backend's
};

static _Thread_local tern_cuda_graph *current; // that the thread captures into

static const tern_cuda_table *table(void)
{
    return tern_cuda_backend()->cuda;
}

static tern_status begin(tern_cuda_graph *graph)
{
    TERN_TRY(table()->capture_begin(graph->device.index));
    graph->capture = tern_tensor_capture_begin(graph->device);
    if (graph->capture)
        return TERN_OK;
    (void)table()->capture_end(graph->device.index, true);
    return TERN_ERR_NOMEM;
}

// A capture that the calling thread leaves open, where it ends itself: it counts as failed.
static void end_left_open(void)
{
    tern_cuda_graph *graph = current;
    current = NULL;
    if (!graph || tern_forked())
        return;
    (void)tern_tensor_capture_end(graph->capture);
    (void)table()->capture_end(graph->device.index, true);
    tern_cuda_graph_free(graph);
}

tern_status tern_cuda_graph_begin(int index)
{
    tern_device device = tern_cuda(index);
    TERN_TRY(tern_fork_check());
    TERN_TRY(tern_device_resolve("cuda_graph_begin", &device));
    if (tern_error_pending())
        return tern_error_code();
    TERN_CHECK(!current, TERN_ERR_STATE, "cuda_graph_begin: this thread captures on %s already",
               tern_device_string(current->device));
    TERN_TRY(tern_scope_ensure_root());
    tern_scope_before_thread_end(end_left_open);
    tern_cuda_graph *graph = tern_mem_alloc(sizeof *graph);
    if (!graph)
        return TERN_ERR_NOMEM;
    graph->device = device;
    tern_status status = begin(graph);
    if (status)
        tern_mem_free(graph, sizeof *graph);
    else
        current = graph;
    return status;
}

// Draws that no captured step of an optimizer has moved the base on by; then the graph is complete.
static tern_status end(tern_cuda_graph *graph)
{
    const tern_status drawn = tern_draw_advance(graph->device);
    const tern_status status = tern_tensor_capture_end(graph->capture);
    const bool discard = drawn || status || tern_error_pending();
    graph->graph = table()->capture_end(graph->device.index, discard);
    return graph->graph ? TERN_OK : tern_error_code();
}

tern_cuda_graph *tern_cuda_graph_end(void)
{
    tern_cuda_graph *graph = current;
    TERN_CHECK_PTR(graph, TERN_ERR_STATE, "cuda_graph_end: this thread captures nothing");
    current = NULL;
    if (!end(graph))
        return graph;
    tern_cuda_graph_free(graph);
    return NULL;
}

tern_status tern_cuda_graph_replay(tern_cuda_graph *graph)
{
    if (!graph)
        return tern_null_error("cuda_graph_replay", "graph");
    TERN_TRY(tern_fork_check());
    if (tern_error_pending())
        return tern_error_code();
    TERN_TRY(tern_tensor_capture_check_replay(graph->capture));
    TERN_TRY(tern_tensor_capture_before_replay(graph->capture));
    const tern_status status = table()->graph_launch(graph->graph);
    tern_tensor_capture_after_replay(graph->capture, !status);
    return status;
}

void tern_cuda_graph_free(tern_cuda_graph *graph)
{
    if (!graph)
        return;
    table()->graph_free(graph->graph); // waits: then nothing uses what is let go of here
    tern_tensor_capture_free(graph->capture);
    tern_mem_free(graph, sizeof *graph);
}
