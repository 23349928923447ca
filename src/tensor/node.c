// SPDX-License-Identifier: Apache-2.0
#include "tensor/node.h"

#include <string.h>
#include "base/callback.h"
#include "base/mem.h"
#include "base/path.h"
#include "tensor/header.h"

static _Atomic uint64_t last_number;
static _Atomic uint64_t last_mark;

uint64_t tern_node_new_mark(void)
{
    return tern_fetch_add(&last_mark, 1, memory_order_relaxed) + 1;
}

static size_t node_size(int64_t inputs, int outputs)
{
    return sizeof(tern_node) + (size_t)inputs * sizeof(tern_edge) +
           (size_t)outputs * sizeof(tern_node_out);
}

tern_node *tern_node_new(int64_t inputs, int outputs)
{
    tern_node *node = tern_cache_alloc(node_size(inputs, outputs));
    if (!node)
        return NULL;
    memset(node, 0, sizeof *node);
    node->out = (tern_node_out *)(void *)&node->in[inputs];
    memset(node->out, 0, (size_t)outputs * sizeof *node->out);
    node->capacity = outputs;
    atomic_init(&node->refs, 1);
    node->number = tern_fetch_add(&last_number, 1, memory_order_relaxed) + 1;
    node->inputs = inputs;
    node->path = tern_path_current();
    return node;
}

void tern_node_release_saved(tern_node *node, int slot)
{
    tern_tensor *t = node->saved[slot];
    if (!t)
        return;
    node->saved[slot] = NULL;
    tern_fetch_add(&t->saves, -1, memory_order_relaxed);
    tern_tensor_release(t);
}

void tern_edge_release_leaf(tern_edge *edge)
{
    tern_tensor *leaf = edge->leaf;
    if (!leaf)
        return;
    edge->leaf = NULL;
    tern_fetch_add(&leaf->edges, -1, memory_order_relaxed);
    tern_tensor_release(leaf);
}

void tern_node_free_graph(tern_node *node)
{
    tern_free_fn *user_free = node->user_free;
    node->freed = true;
    node->user_free = NULL;
    tern_free_user(user_free, node->user);
    for (int i = 0; i < node->saved_count; i++)
        tern_node_release_saved(node, i);
    for (int64_t i = 0; i < node->inputs; i++) {
        tern_node *from = node->in[i].node;
        node->in[i].node = NULL;
        tern_edge_release_leaf(&node->in[i]);
        tern_node_release(from);
    }
}

// Nodes waiting to be freed by this thread: a chain of a million must not nest a million calls.
static _Thread_local tern_node *release_list;
static _Thread_local bool releasing;

void tern_node_die(tern_node *node)
{
    node->next = release_list;
    release_list = node;
    if (releasing)
        return;
    releasing = true;
    while (release_list) {
        tern_node *n = release_list;
        release_list = n->next;
        tern_node_free_graph(n);
        for (int i = 0; i < n->outputs; i++)
            tern_tensor_release(n->out[i].grad);
        tern_cache_free(n, node_size(n->inputs, n->capacity));
    }
    releasing = false;
}
