// SPDX-License-Identifier: Apache-2.0
// The graph: a node is one recorded operation, held by the tensors it made.
#ifndef TERN_SRC_TENSOR_NODE_H
#define TERN_SRC_TENSOR_NODE_H

#include "tensor/op.h"

// One input of a node: made by another node, or a leaf, or neither (needs no gradient).
typedef struct tern_edge {
    tern_node *node;
    int output; // of that node
    tern_tensor *leaf;
    tern_shape shape;
    tern_dtype dtype;
    tern_device device;
} tern_edge;

typedef struct tern_node_output_facts {
    tern_shape shape;
    tern_dtype dtype;
    tern_device device;
} tern_node_output_facts;

struct tern_node {
    _Atomic int32_t refs;
    uint64_t number; // grows over the process: an input's node has a smaller one
    const tern_node_class *node_class;
    const tern_function *function; // a user's operation, else NULL
    bool freed;                    // by a backward
    bool overwritten;              // a value that it kept is gone: see tern_inplace_done
    uint64_t mark;                 // of the last walk over the graph that reached it
    int outputs;
    tern_node_output_facts out[TERN_NODE_OUTPUTS];
    tern_tensor *grad[TERN_NODE_OUTPUTS]; // what has arrived in a running backward
    tern_tensor *saved[TERN_NODE_SAVED];
    uint64_t saved_version[TERN_NODE_SAVED];
    tern_node_data data;
    void *user; // of a user's operation
    tern_free_fn *user_free;
    tern_node *next; // in a list of nodes to be freed or looked at
    int64_t inputs;
    tern_edge in[]; // `inputs` of them
};

static inline const char *tern_node_name(const tern_node *node)
{
    return node->function ? node->function->name : node->node_class->name;
}

tern_node *tern_node_hold(tern_node *node);

// Lets go of the saved tensors and the edges; the node can no longer be run.
void tern_node_free_graph(tern_node *node);

// A mark that no node has.
uint64_t tern_node_new_mark(void);

// TERN_ERR_STATE when a saved tensor was changed in place since.
tern_status tern_node_check_saved(const tern_node *node);

#endif
