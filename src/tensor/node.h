// SPDX-License-Identifier: Apache-2.0
// The graph: a node is one recorded operation, held by the tensors it made.
#ifndef TERN_SRC_TENSOR_NODE_H
#define TERN_SRC_TENSOR_NODE_H

#include "base/one_thread.h"
#include "tensor/tensor.h"

#define TERN_OP_INPUTS 8 // more where a call lists them itself
#define TERN_OP_SAVED  10

// Gradients of the inputs from those of the outputs: dy[o] is never NULL (zeros where nothing
// arrived), unless the node is partial; sets dx[i] for every input that tern_node_needs says.
// Runs without recording, in a scope of its own.
typedef tern_status tern_op_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx);

// What an operation is; static storage.
typedef struct tern_op {
    const char *name;                   // in messages: "linear"
    const char *inputs[TERN_OP_INPUTS]; // likewise: "x", "weight", "bias"
    tern_op_backward *backward;         // NULL: not differentiable
} tern_op;

// The numbers of a call, as the operation wants them.
typedef union tern_op_attrs {
    struct {
        int64_t i[16];
        double d[4];
    };
    unsigned char bytes[160];
} tern_op_attrs;

// One input of a node: made by another node, or a leaf, or neither (needs no gradient).
typedef struct tern_edge {
    tern_node *node;
    int output; // of that node
    tern_tensor *leaf;
    tern_shape shape;
    tern_dtype dtype;
    tern_device device;
} tern_edge;

typedef struct tern_node_out {
    tern_shape shape;
    tern_dtype dtype;
    tern_device device;
    tern_tensor *grad; // what has arrived in a running backward
    bool own;          // nobody else has that tensor: kernels may add to it
} tern_node_out;

struct tern_node {
    _Atomic int32_t refs;
    uint64_t number; // grows over the process: an input's node has a smaller one
    const tern_op *op;
    const struct tern_function *function; // a user's operation, else NULL
    const char *name;                     // the operation's, or that of the user's
    bool freed;                           // by a backward
    bool partial;     // each input has an output: dy[o] is NULL where nothing arrived, dx[i] may be
    bool overwritten; // a value that it kept is gone: by a change in place
    bool leaf_overwritten; // an edge's leaf is gone likewise
    uint64_t mark;         // of the last walk over the graph that reached it
    int outputs, capacity; // that there are, and for how many there is memory
    tern_node_out *out;    // behind `in`
    tern_tensor *saved[TERN_OP_SAVED];
    uint64_t saved_version[TERN_OP_SAVED];
    int saved_count; // slots that were used
    tern_op_attrs attrs;
    void *user; // of a user's operation
    tern_free_fn *user_free;
    tern_node *next; // in a list of nodes to be freed or looked at
    uint32_t path;   // of the module whose forward made it
    int64_t inputs;
    tern_edge in[]; // `inputs` of them
};

// Zeroed but for its number, with room for so many edges and outputs; one reference, the caller's.
// NULL raises.
tern_node *tern_node_new(int64_t inputs, int outputs);

static inline tern_node *tern_node_retain(tern_node *node)
{
    tern_refs_retain(&node->refs);
    return node;
}

// When the last reference is gone. Releasing a long chain does not recurse.
void tern_node_die(tern_node *node);

static inline void tern_node_release(tern_node *node) // NULL is fine
{
    if (node && tern_refs_release(&node->refs))
        tern_node_die(node);
}

// Lets go of the saved tensors and the edges; the node can no longer be run.
void tern_node_free_graph(tern_node *node);

// Lets go of one saved tensor.
void tern_node_release_saved(tern_node *node, int slot);

// Lets go of an edge's leaf.
void tern_edge_release_leaf(tern_edge *edge);

// A mark that no node has.
uint64_t tern_node_new_mark(void);

#endif
