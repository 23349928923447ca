// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/cuda_graph.h, for the site.
#include "examples.h"

static void show_cuda_graph_end(void)
{
    if (!tern_cuda_is_available())
        return;
    tern_tensor *x = tern_ones(tern_dims(4), .device = tern_cuda(0));
    expect(!tern_cuda_graph_begin(0));
    expect(!tern_mul_(x, x));
    // [tern_cuda_graph_end]
    tern_cuda_graph *graph = tern_cuda_graph_end(); // of the calls since tern_cuda_graph_begin
    tern_status status = tern_cuda_graph_replay(graph);
    // [/tern_cuda_graph_end]
    expect(!status);
    tern_cuda_graph_free(graph);
}

int cuda_graph_examples(void)
{
    show_cuda_graph_end();
    return failures;
}
