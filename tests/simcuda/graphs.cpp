// SPDX-License-Identifier: Apache-2.0
// Graphs: instances of what was captured, replayed in any order that its edges allow.
#include <algorithm>

#include "capture.h"

struct CUgraphExec_st {
    std::shared_ptr<const CUgraph_st> graph; // a launch that is under way keeps it
};

namespace sim
{

static std::vector<cudaGraphExec_t> &execs = *new std::vector<cudaGraphExec_t>;

static bool is_exec(cudaGraphExec_t exec)
{
    return std::find(execs.begin(), execs.end(), exec) != execs.end();
}

// TERN_SIM_ORDER picks among the nodes that nothing holds back: a missing edge shows.
static void replay(const CUgraph_st &graph)
{
    std::vector<size_t> waits_for(graph.nodes.size()), ready;
    std::vector<std::vector<size_t>> followers(graph.nodes.size());
    for (size_t node = 0; node < graph.nodes.size(); node++) {
        waits_for[node] = graph.nodes[node].after.size();
        for (size_t before : graph.nodes[node].after)
            followers[before].push_back(node);
        if (!waits_for[node])
            ready.push_back(node);
    }
    while (!ready.empty()) {
        auto next = ready.begin() + (ptrdiff_t)walk_over(ready.size()).first;
        size_t node = *next;
        ready.erase(next);
        graph.nodes[node].work();
        for (size_t follower : followers[node])
            if (!--waits_for[follower])
                ready.insert(std::lower_bound(ready.begin(), ready.end(), follower), follower);
    }
}

static tern_sim_graph_shape shape; // of the graph that was instantiated last

static void count_node(tern_sim_graph_shape &of, Kind kind)
{
    of.nodes++;
    of.kernels += kind == Kind::kernel;
    of.products += kind == Kind::product;
    of.copies += kind == Kind::copy;
}

static tern_sim_graph_shape shape_of(const CUgraph_st &graph)
{
    tern_sim_graph_shape of = {};
    std::vector<int> length; // of the longest path that ends with the node
    for (const Node &node : graph.nodes) {
        int before = 0;
        for (size_t n : node.after)
            before = std::max(before, length[n]);
        length.push_back(before + 1);
        of.longest_path = std::max(of.longest_path, before + 1);
        count_node(of, node.kind);
    }
    return of;
}

} // namespace sim

using namespace sim;

void tern_sim_last_graph(tern_sim_graph_shape *of)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    *of = shape;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    Call call(TERN_SIM_GRAPH_INSTANTIATE, current_device());
    TERN_SIM_TRY(call.error);
    if (!graph)
        return remember(cudaErrorInvalidValue);
    counts().instantiations++;
    shape = shape_of(*graph);
    *exec = new CUgraphExec_st{std::make_shared<CUgraph_st>(*graph)};
    execs.push_back(*exec);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle)
{
    Call call(TERN_SIM_GRAPH_LAUNCH, current_device());
    TERN_SIM_TRY(call.error);
    if (!is_exec(exec))
        broken_rule("cudaGraphLaunch of %p, which does not exist or was destroyed", (void *)exec);
    StreamRef stream = stream_of(handle);
    TERN_SIM_TRY(refuse_work(stream));
    counts().graph_launches++;
    std::shared_ptr<const CUgraph_st> graph = exec->graph;
    return remember(submit(stream, Kind::other, [graph] { replay(*graph); }));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    Call call;
    delete graph;
    return call.error;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    Call call;
    TERN_SIM_TRY(refuse_unsafe());
    if (!is_exec(exec))
        broken_rule("cudaGraphExecDestroy of %p, which does not exist or was destroyed",
                    (void *)exec);
    execs.erase(std::find(execs.begin(), execs.end(), exec));
    delete exec;
    return call.error;
}

// With nodes == NULL: how many there are. The nodes themselves have no interface here.
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    Call call;
    if (!graph || nodes)
        return remember(graph ? cudaErrorNotSupported : cudaErrorInvalidValue);
    *count = graph->nodes.size();
    return cudaSuccess;
}
