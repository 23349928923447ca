// SPDX-License-Identifier: Apache-2.0
// Backward: marks what the loss reaches, then runs the nodes by descending number.
#include "autograd/engine.h"
#include <string.h>
#include <tern/autograd.h>
#include "autograd/leaf.h"
#include "autograd/record.h"
#include "base/callback.h"
#include "base/mem.h"
#include "base/path.h"
#include "tensor/capture.h"
#include "tensor/header.h"
#include "tensor/liveness.h"
#include "tensor/node.h"
#include "tensor/scope.h"
#include "tensor/view.h"

// One backward's work lists, kept by the thread for the next one.
typedef struct engine {
    tern_node **nodes; // all that were reached, each held; the first `heap` of them form a max-heap
    int64_t count, heap, capacity;
    tern_tensor **leaves; // each held
    int64_t leaf_count, leaf_capacity;
    tern_tensor **dx, **dy; // of the node that runs
    int64_t dx_capacity, dy_capacity;
    uint64_t mark;
    bool busy;
} engine;

static _Thread_local engine kept;

static void engine_free(engine *e)
{
    tern_mem_free(e->nodes, (size_t)e->capacity * sizeof *e->nodes);
    tern_mem_free(e->leaves, (size_t)e->leaf_capacity * sizeof *e->leaves);
    tern_mem_free(e->dx, (size_t)e->dx_capacity * sizeof *e->dx);
    tern_mem_free(e->dy, (size_t)e->dy_capacity * sizeof *e->dy);
    *e = (engine){0};
}

void tern_engine_shutdown(void)
{
    engine_free(&kept);
}

// Errors from now on are those of this operation and of the module that it ran in.
static void begin_node(const tern_node *node)
{
    tern_path_set(node->path);
    tern_backward_of_thread = node->name;
}

static tern_status mark_node(engine *e, tern_node *node)
{
    if (node->mark == e->mark)
        return TERN_OK;
    begin_node(node);
    TERN_CHECK(!node->freed, TERN_ERR_STATE,
               "backward: the graph of %s was freed by an earlier backward; give that one "
               ".retain_graph = true",
               node->name);
    TERN_TRY(tern_capture_check_training("backward", node->out[0].device));
    TERN_TRY(tern_mem_grow((void **)&e->nodes, &e->capacity, e->count + 1, sizeof *e->nodes));
    node->mark = e->mark;
    e->nodes[e->count++] = tern_node_retain(node);
    return TERN_OK;
}

static tern_status mark_leaf(engine *e, const tern_edge *edge)
{
    tern_tensor *leaf = edge->leaf;
    TERN_CHECK(leaf->dtype == edge->dtype && tern_same_device(tern_dev(leaf), edge->device),
               TERN_ERR_STATE,
               "backward: %s moved to %s on %s after the forward; run the forward again",
               leaf->label[0] ? leaf->label : leaf->op, tern_dtype_name(leaf->dtype),
               tern_device_string(tern_dev(leaf)));
    TERN_TRY(tern_capture_check_training("backward", edge->device));
    if (leaf->collected)
        return TERN_OK;
    TERN_CHECK(
        leaf->grad_state != TERN_GRAD_UNUSABLE, TERN_ERR_STATE,
        "backward: the gradient of %s was left unusable by a failed backward; call zero_grad",
        leaf->label[0] ? leaf->label : leaf->op);
    TERN_TRY(tern_mem_grow((void **)&e->leaves, &e->leaf_capacity, e->leaf_count + 1,
                           sizeof *e->leaves));
    leaf->collected = true;
    e->leaves[e->leaf_count++] = tern_tensor_retain(leaf);
    return TERN_OK;
}

// Everything that `root` depends on, breadth first: the list is its own queue.
static tern_status mark_all(engine *e, tern_node *root)
{
    TERN_TRY(mark_node(e, root));
    for (int64_t i = 0; i < e->count; i++) {
        const tern_node *node = e->nodes[i];
        if (node->inputs > e->dx_capacity)
            TERN_TRY(tern_mem_grow((void **)&e->dx, &e->dx_capacity, node->inputs, sizeof *e->dx));
        if (node->outputs > e->dy_capacity)
            TERN_TRY(tern_mem_grow((void **)&e->dy, &e->dy_capacity, node->outputs, sizeof *e->dy));
        for (int64_t k = 0; k < node->inputs; k++) {
            if (node->in[k].node)
                TERN_TRY(mark_node(e, node->in[k].node));
            if (!node->in[k].leaf)
                continue;
            begin_node(node);
            TERN_TRY(mark_leaf(e, &node->in[k]));
        }
    }
    return TERN_OK;
}

static void sift_down(tern_node **heap, int64_t count, int64_t i)
{
    for (;;) {
        int64_t child = 2 * i + 1;
        if (child >= count)
            return;
        if (child + 1 < count && heap[child + 1]->number > heap[child]->number)
            child++;
        if (heap[i]->number >= heap[child]->number)
            return;
        tern_node *swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
        i = child;
    }
}

// The node with the largest number; it stays in the list, behind the heap.
static tern_node *pop_node(engine *e)
{
    tern_node *top = e->nodes[0];
    e->heap--;
    e->nodes[0] = e->nodes[e->heap];
    e->nodes[e->heap] = top;
    sift_down(e->nodes, e->heap, 0);
    return top;
}

static tern_status check_gradient(const tern_node *node, int input, const tern_tensor *dx)
{
    const tern_edge *edge = &node->in[input];
    TERN_CHECK(dx || tern_error_pending(), TERN_ERR_STATE,
               "backward of %s: it set no gradient for input %d", node->name, input);
    TERN_TRY(tern_check_tensor(node->name, "gradient", dx));
    bool same_shape = dx->rank == edge->shape.rank;
    for (int i = 0; same_shape && i < dx->rank; i++)
        same_shape = dx->size[i] == edge->shape.dim[i];
    TERN_CHECK(same_shape && dx->dtype == edge->dtype, same_shape ? TERN_ERR_DTYPE : TERN_ERR_SHAPE,
               "backward of %s: the gradient of input %d is %s, but must be %s %s", node->name,
               input, tern_tensor_string(dx), tern_dtype_name(edge->dtype),
               tern_shape_string(edge->shape));
    return TERN_OK;
}

static tern_status deliver_to_node(tern_node *node, int output, tern_tensor *dx)
{
    tern_tensor *before = node->out[output].grad;
    if (before == dx && node->out[output].own) // a kernel wrote it there
        return TERN_OK;
    if (!before) {
        node->out[output].grad = tern_tensor_retain(dx);
        return TERN_OK;
    }
    tern_tensor *sum = tern_tensor_new("backward", dx->dtype, tern_dev(dx), tern_shape_get(dx));
    if (!sum)
        return tern_error_code();
    TERN_TRY(tern_launch_binary(TERN_BINARY_ADD, 1, sum, before, dx));
    node->out[output].grad = tern_tensor_retain(sum);
    node->out[output].own = node->partial; // of a plain one it may be handed on as it is
    tern_tensor_release(before);
    return TERN_OK;
}

static tern_status deliver(tern_node *node, tern_tensor **dx)
{
    for (int i = 0; i < node->inputs; i++) {
        tern_edge *edge = &node->in[i];
        if (!tern_node_needs(node, i) || (!dx[i] && node->partial))
            continue;
        TERN_TRY(check_gradient(node, i, dx[i]));
        if (edge->leaf)
            TERN_TRY(tern_leaf_deliver(edge->leaf, dx[i]));
        else
            TERN_TRY(deliver_to_node(edge->node, edge->output, dx[i]));
    }
    return TERN_OK;
}

// The gradients of the outputs; zeros where none arrived, unless the node is partial.
static tern_status collect_outputs(const tern_node *node, tern_tensor **dy)
{
    for (int i = 0; i < node->outputs; i++) {
        const tern_node_out *out = &node->out[i];
        dy[i] = out->grad;
        if (dy[i] || node->partial)
            continue;
        dy[i] = tern_zeros(out->shape, .dtype = out->dtype, .device = out->device);
        if (!dy[i])
            return tern_error_code();
    }
    return TERN_OK;
}

static tern_status run_node(engine *e, tern_node *node)
{
    bool arrived = false;
    for (int i = 0; i < node->outputs; i++)
        arrived = arrived || node->out[i].grad;
    if (!arrived)
        return TERN_OK;
    TERN_TRY(tern_node_check_saved(node));
    TERN_TRY(collect_outputs(node, e->dy));
    memset(e->dx, 0, (size_t)node->inputs * sizeof *e->dx);
    TERN_TRY(node->op->backward(node, e->dy, e->dx));
    return deliver(node, e->dx);
}

static void release_grads(tern_node *node)
{
    for (int i = 0; i < node->outputs; i++) {
        tern_tensor_release(node->out[i].grad);
        node->out[i].grad = NULL;
        node->out[i].own = false;
    }
}

static tern_status run_all(engine *e, bool retain_graph)
{
    e->heap = e->count;
    for (int64_t i = e->heap / 2 - 1; i >= 0; i--)
        sift_down(e->nodes, e->heap, i);
    while (e->heap > 0) {
        tern_node *node = pop_node(e);
        begin_node(node);
        tern_scope scope = tern_scope_open();
        if (!scope)
            return TERN_ERR_NOMEM;
        tern_status status = run_node(e, node);
        release_grads(node);
        if (!retain_graph)
            tern_node_free_graph(node);
        tern_scope_close(scope);
        TERN_TRY(status);
    }
    return TERN_OK;
}

// Lets go of what the lists hold; a failed run frees the graph and leaves the gradients unusable.
static void engine_clear(engine *e, bool failed)
{
    for (int64_t i = 0; i < e->count; i++) {
        release_grads(e->nodes[i]);
        if (failed)
            tern_node_free_graph(e->nodes[i]);
    }
    for (int64_t i = 0; i < e->leaf_count; i++) {
        e->leaves[i]->collected = false;
        if (failed)
            e->leaves[i]->grad_state = TERN_GRAD_UNUSABLE;
        tern_tensor_release(e->leaves[i]);
    }
    for (int64_t i = 0; i < e->count; i++)
        tern_node_release(e->nodes[i]);
    e->count = e->leaf_count = 0;
}

// Frees the graph and leaves the gradients unusable, like a run that failed, without a list: there
// may be no memory for one. The nodes that are left to do are linked where dying ones are.
static void invalidate_graph(tern_node *root)
{
    uint64_t mark = tern_node_new_mark();
    tern_node *left = tern_node_retain(root);
    root->mark = mark;
    root->next = NULL;
    while (left) {
        tern_node *node = left;
        left = node->next;
        for (int64_t i = 0; i < node->inputs; i++) {
            tern_node *from = node->in[i].node;
            if (node->in[i].leaf)
                node->in[i].leaf->grad_state = TERN_GRAD_UNUSABLE;
            if (!from || from->mark == mark)
                continue;
            from->mark = mark;
            from->next = left;
            left = tern_node_retain(from);
        }
        tern_node_free_graph(node);
        tern_node_release(node);
    }
}

void tern_engine_invalidate(tern_tensor *loss)
{
    if (loss->node)
        invalidate_graph(loss->node);
    else
        loss->grad_state = TERN_GRAD_UNUSABLE;
}

static bool shares_a_leafs_gradient(const engine *e, const tern_tensor *t)
{
    for (int64_t i = 0; i < e->leaf_count; i++) {
        const tern_tensor *grad = e->leaves[i]->grad;
        if (grad && grad->storage == t->storage)
            return true;
    }
    return false;
}

// Kernels write to the gradients of leaves while they read the loss's: a copy where they share
// memory.
static tern_tensor *apart_from_leaves(const engine *e, tern_tensor *gradient)
{
    if (!shares_a_leafs_gradient(e, gradient))
        return gradient;
    tern_tensor *copy =
        tern_tensor_new("backward", gradient->dtype, tern_dev(gradient), tern_shape_get(gradient));
    return copy && !tern_launch_copy(copy, gradient) ? copy : NULL;
}

static tern_status run_from(engine *e, tern_tensor *loss, tern_tensor *gradient, bool retain_graph)
{
    const uint32_t path = tern_path_current();
    const char *operation = tern_backward_of_thread;
    e->mark = tern_node_new_mark();
    tern_status status = mark_all(e, loss->node);
    bool started = status == TERN_OK;
    if (started) {
        gradient = apart_from_leaves(e, gradient);
        status =
            !gradient ? tern_error_code() : deliver_to_node(loss->node, loss->output, gradient);
        if (!status)
            status = run_all(e, retain_graph);
    }
    tern_path_set(path);
    tern_backward_of_thread = operation;
    engine_clear(e, started && status != TERN_OK);
    return status;
}

tern_status tern_engine_run(tern_tensor *loss, tern_tensor *gradient, bool retain_graph)
{
    engine own = {0}; // for a backward inside a backward
    engine *e = kept.busy ? &own : &kept;
    bool before = tern_set_grad_enabled(false);
    e->busy = true;
    tern_scope_at_thread_end(tern_engine_shutdown); // a backward opens a scope, so that it runs
    tern_callback_begin();
    tern_status status = run_from(e, loss, gradient, retain_graph);
    tern_callback_end();
    e->busy = false;
    if (e == &own)
        engine_free(&own);
    tern_set_grad_enabled(before);
    return status;
}
