// SPDX-License-Identifier: Apache-2.0
// What a graph keeps for its backward.
#include "base/mem.h"
#include "tensor/node.h"
#include "train/summary/table.h"

// Nodes that were reached, in the order in which their inputs are looked at.
typedef struct graph {
    tern_pointer_map nodes, storages;
    const tern_node **list;
    int64_t count, capacity;
    int64_t nbytes; // of storages that were not known before
} graph;

static tern_status reach(graph *g, const tern_node *node)
{
    int64_t known = g->nodes.count, number;
    if (!node)
        return TERN_OK;
    TERN_TRY(tern_pointer_map_add(&g->nodes, node, &number));
    if (number < known)
        return TERN_OK;
    TERN_TRY(tern_mem_grow((void **)&g->list, &g->capacity, g->count + 1, sizeof(void *)));
    g->list[g->count++] = node;
    return TERN_OK;
}

// Views share their memory, and parts of one allocation stay with it.
static tern_status keep(graph *g, const tern_tensor *t)
{
    int64_t known = g->storages.count, number;
    if (!t)
        return TERN_OK;
    const tern_storage *storage = t->storage;
    while (storage->whole)
        storage = storage->whole;
    TERN_TRY(tern_pointer_map_add(&g->storages, storage, &number));
    g->nbytes += number < known ? 0 : storage->nbytes;
    return TERN_OK;
}

static tern_status keep_module(graph *g, const tern_module *module)
{
    const tern_module_private *private_ = module->private_;
    for (int64_t i = 0; i < private_->parameters.count; i++)
        TERN_TRY(keep(g, private_->parameters.at[i].tensor));
    for (int64_t i = 0; i < private_->buffers.count; i++)
        TERN_TRY(keep(g, private_->buffers.at[i].tensor));
    return TERN_OK;
}

static tern_status look_at(graph *g, const tern_node *node)
{
    for (int i = 0; i < node->saved_count; i++)
        TERN_TRY(keep(g, node->saved[i]));
    for (int64_t i = 0; i < node->inputs; i++)
        TERN_TRY(reach(g, node->in[i].node));
    return TERN_OK;
}

static tern_status count(graph *g, const summary_table *t, const tern_tensors *results)
{
    for (int64_t i = 0; i < t->count; i++)
        TERN_TRY(keep_module(g, t->rows[i].module));
    g->nbytes = 0;
    for (int i = 0; i < results->count; i++)
        TERN_TRY(reach(g, results->at[i]->node));
    for (int64_t i = 0; i < g->count; i++)
        TERN_TRY(look_at(g, g->list[i]));
    return TERN_OK;
}

tern_status tern_summary_saved_bytes(const summary_table *table, const tern_tensors *results,
                                     int64_t *nbytes)
{
    graph g = {.nbytes = 0};
    const tern_status status = count(&g, table, results);
    *nbytes = g.nbytes;
    tern_mem_free((void *)g.list, (size_t)g.capacity * sizeof(void *));
    tern_pointer_map_free(&g.nodes);
    tern_pointer_map_free(&g.storages);
    return status;
}
