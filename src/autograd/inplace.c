// SPDX-License-Identifier: Apache-2.0
#include "autograd/inplace.h"

#include <tern/autograd.h>

#include "autograd/op.h"
#include "autograd/record.h"
#include "device/capture.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

tern_status tern_check_inplace(const char *op, const tern_tensor *t)
{
    TERN_TRY(tern_check_tensor(op, "t", t));
    TERN_TRY(tern_capture_check(op, tern_dev(t)));
    for (int i = 0; i < t->rank; i++)
        TERN_CHECK(t->stride[i] != 0 || t->size[i] <= 1 || t->numel == 0, TERN_ERR_STATE,
                   "%s: %s is expanded: several of its elements share one place; clone it first",
                   op, tern_tensor_string(t));
    if (!tern_grad_enabled() || !t->requires_grad)
        return TERN_OK;
    TERN_CHECK(t->node, TERN_ERR_STATE,
               "%s: %s is a leaf that requires a gradient; change it under tern_no_grad", op,
               t->label[0] ? t->label : tern_tensor_string(t));
    TERN_CHECK(!t->is_view, TERN_ERR_STATE,
               "%s: %s is a view of a tensor with history; clone it before the change", op,
               tern_tensor_string(t));
    return TERN_OK;
}

static tern_node *append(tern_node *last, tern_node *node, uint64_t mark)
{
    if (!node || node->mark == mark)
        return last;
    node->mark = mark;
    node->next = NULL;
    last->next = node;
    return node;
}

static void forget_saved(tern_node *node, int slot)
{
    tern_node_release_saved(node, slot);
    node->overwritten = true;
}

// The leaf has a history now, which leads through this edge: no gradient can stop there.
static void forget_leaf(tern_node *node, tern_edge *edge)
{
    tern_edge_release_leaf(edge);
    node->leaf_overwritten = true;
}

static bool is_held(const tern_tensor *t)
{
    return atomic_load(&t->saves) > 0 || atomic_load(&t->edges) > 0;
}

// Lets go of `t` wherever `root`, its history from now on, leads: a tensor and a node that hold
// each other would never be freed. No backward can use the old values: they were changed. Nodes
// that keep `t` and are not found belong to other graphs.
static void forget_overwritten(tern_node *root, tern_tensor *t)
{
    uint64_t mark = tern_node_new_mark();
    tern_node *last = root;
    root->mark = mark;
    root->next = NULL;
    for (tern_node *node = root; node && is_held(t); node = node->next) {
        for (int i = 0; i < node->saved_count; i++) {
            if (node->saved[i] == t)
                forget_saved(node, i);
            else if (node->saved[i])
                last = append(last, node->saved[i]->node, mark);
        }
        for (int64_t i = 0; i < node->inputs; i++) {
            if (node->in[i].leaf == t)
                forget_leaf(node, &node->in[i]);
            last = append(last, node->in[i].node, mark);
        }
    }
}

// t takes over the history of `node` (NULL: none) and its version moves on.
static void take_history(tern_tensor *t, tern_node *node)
{
    tern_tensor_touched(t);
    tern_tensor_retain(t); // the graph alone may have held it
    if (node) {
        forget_overwritten(node, t);
        tern_node_output(node, 0, t);
        t->storage->recorded = t->history_version;
    }
    tern_node_end(node);
    tern_tensor_release(t);
}

tern_status tern_op_begin_inplace(const tern_op_call *call, tern_node **node)
{
    TERN_TRY(tern_node_begin(node, call->op, tern_op_inputs(call), call->count, 1));
    if (*node)
        (*node)->attrs = call->attrs;
    return TERN_OK;
}

tern_tensor *tern_op_end_inplace(const tern_op_call *call, tern_tensor *t, tern_node *node,
                                 tern_status status)
{
    if (status) {
        tern_node_end(node);
        return NULL;
    }
    take_history(t, node);
    tern_op_notify(call, &t, 1);
    return t;
}
