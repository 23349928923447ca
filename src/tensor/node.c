// SPDX-License-Identifier: Apache-2.0
#include "tensor/node.h"

#include <string.h>
#include "base/callback.h"
#include "base/mem.h"
#include "tensor/capture.h"
#include "tensor/header.h"

static _Atomic uint64_t last_number;
static _Atomic uint64_t last_mark;

uint64_t tern_node_new_mark(void)
{
    return atomic_fetch_add(&last_mark, 1) + 1;
}

static size_t node_size(int64_t inputs)
{
    return sizeof(tern_node) + (size_t)inputs * sizeof(tern_edge);
}

// A tensor whose memory was written through another view no longer is what its history says; and a
// view without history, from before a change that carries gradients, would lose them.
static tern_status check_history(const tern_node_class *node_class, const tern_tensor *t)
{
    bool knows = t->node ? t->history_version == t->storage->version
                         : !t->is_view || t->detached || t->history_version >= t->storage->recorded;
    TERN_CHECK(knows, TERN_ERR_STATE,
               "%s: an input (%s, made by %s) was changed in place through another view of its "
               "memory, so its gradient is unknown; clone it before the change",
               node_class->name, tern_tensor_string(t), t->op);
    return TERN_OK;
}

static tern_status check_input(const tern_node_class *node_class, const tern_tensor *t)
{
    TERN_TRY(check_history(node_class, t));
    if (t->requires_grad)
        TERN_TRY(tern_capture_check_training(node_class->name, tern_dev(t)));
    bool may_learn = !t->node && (t->requires_grad || t->label[0]);
    return may_learn ? tern_capture_leaf(t, TERN_LEAF_REQUIRES_ASKED) : TERN_OK;
}

static void set_edge(tern_edge *edge, tern_tensor *t)
{
    *edge = (tern_edge){0};
    if (!t)
        return;
    edge->shape = tern_shape_get(t);
    edge->dtype = t->dtype;
    edge->device = tern_dev(t);
    if (!t->requires_grad)
        return;
    edge->output = t->output;
    edge->node = t->node ? tern_node_hold(t->node) : NULL;
    edge->leaf = t->node ? NULL : tern_hold(t);
}

tern_status tern_node_begin(tern_node **node, const tern_node_class *node_class,
                            tern_tensor *const *inputs, int count)
{
    bool wanted = false;
    *node = NULL;
    if (!tern_grad_enabled())
        return TERN_OK;
    for (int i = 0; i < count; i++) {
        if (inputs[i])
            TERN_TRY(check_input(node_class, inputs[i]));
        wanted = wanted || (inputs[i] && inputs[i]->requires_grad);
    }
    if (!wanted)
        return TERN_OK;
    tern_node *n = tern_cache_alloc(node_size(count));
    if (!n)
        return TERN_ERR_NOMEM;
    memset(n, 0, sizeof *n);
    atomic_init(&n->refs, 1);
    n->number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    n->node_class = node_class;
    n->inputs = count;
    for (int i = 0; i < count; i++)
        set_edge(&n->in[i], inputs[i]);
    *node = n;
    return TERN_OK;
}

tern_node *tern_node_hold(tern_node *node)
{
    atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

static void drop_saved(tern_node *node, int slot)
{
    tern_tensor *t = node->saved[slot];
    if (!t)
        return;
    node->saved[slot] = NULL;
    atomic_fetch_sub_explicit(&t->saves, 1, memory_order_relaxed);
    tern_drop(t);
}

void tern_node_free_graph(tern_node *node)
{
    tern_free_fn *user_free = node->user_free;
    node->freed = true;
    node->user_free = NULL;
    tern_free_user(user_free, node->user);
    for (int i = 0; i < TERN_NODE_SAVED; i++)
        drop_saved(node, i);
    for (int64_t i = 0; i < node->inputs; i++) {
        tern_node *from = node->in[i].node;
        tern_tensor *leaf = node->in[i].leaf;
        node->in[i].node = NULL;
        node->in[i].leaf = NULL;
        tern_drop(leaf);
        tern_node_drop(from);
    }
}

// Nodes waiting to be freed by this thread: a chain of a million must not nest a million calls.
static _Thread_local tern_node *drop_list;
static _Thread_local bool dropping;

void tern_node_drop(tern_node *node)
{
    if (!node || atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) != 1)
        return;
    node->next = drop_list;
    drop_list = node;
    if (dropping)
        return;
    dropping = true;
    while (drop_list) {
        tern_node *n = drop_list;
        drop_list = n->next;
        tern_node_free_graph(n);
        for (int i = 0; i < TERN_NODE_OUTPUTS; i++)
            tern_drop(n->grad[i]);
        tern_cache_free(n, node_size(n->inputs));
    }
    dropping = false;
}

void tern_node_save(tern_node *node, int slot, tern_tensor *t)
{
    node->saved[slot] = tern_hold(t);
    if (!t)
        return;
    atomic_fetch_add_explicit(&t->saves, 1, memory_order_relaxed);
    node->saved_version[slot] = t->storage->version;
}

tern_status tern_node_save_output(tern_node *node, int slot, tern_tensor *y)
{
    tern_tensor *alias = tern_header_alias(y->op, y, tern_shape_get(y), y->stride, y->offset);
    if (!alias)
        return TERN_ERR_NOMEM;
    tern_node_save(node, slot, alias);
    tern_drop(alias);
    return TERN_OK;
}

tern_node_data *tern_node_data_of(tern_node *node)
{
    return &node->data;
}

void tern_node_output(tern_node *node, int index, tern_tensor *y)
{
    tern_node *before = y->node;
    y->node = tern_node_hold(node);
    y->output = index;
    y->requires_grad = true;
    y->history_version = y->storage->version;
    node->out[index] = (tern_node_output_facts){tern_shape_get(y), y->dtype, tern_dev(y)};
    if (node->outputs <= index)
        node->outputs = index + 1;
    tern_node_drop(before);
}

void tern_node_end(tern_node *node)
{
    tern_node_drop(node);
}

bool tern_node_needs(const tern_node *node, int input)
{
    return node->in[input].node || node->in[input].leaf;
}

tern_tensor *tern_node_saved(const tern_node *node, int slot)
{
    return node->saved[slot];
}

tern_shape tern_node_input_shape(const tern_node *node, int input)
{
    return node->in[input].shape;
}

tern_dtype tern_node_input_dtype(const tern_node *node, int input)
{
    return node->in[input].dtype;
}

tern_status tern_node_check_saved(const tern_node *node)
{
    TERN_CHECK(!node->overwritten, TERN_ERR_STATE,
               "backward: a value that %s needs was changed in place, by what was computed from "
               "it; clone it before the change",
               tern_node_name(node));
    for (int i = 0; i < TERN_NODE_SAVED; i++) {
        const tern_tensor *t = node->saved[i];
        TERN_CHECK(!t || t->storage->version == node->saved_version[i], TERN_ERR_STATE,
                   "backward: a value that %s needs (%s, made by %s) was changed in place after "
                   "the forward; clone it before the change",
                   tern_node_name(node), tern_tensor_string(t), t->label[0] ? t->label : t->op);
    }
    return TERN_OK;
}

tern_tensor *tern_record_op(const tern_node_class *node_class, tern_tensor *y,
                            tern_tensor *const *inputs, int count, tern_tensor *const *saved,
                            int saved_count, const tern_node_data *data)
{
    tern_node *node;
    if (tern_node_begin(&node, node_class, inputs, count))
        return NULL;
    if (!node)
        return y;
    for (int i = 0; i < saved_count; i++) {
        if (saved[i] != y)
            tern_node_save(node, i, saved[i]);
        else if (tern_node_save_output(node, i, y)) {
            tern_node_end(node);
            return NULL;
        }
    }
    if (data)
        node->data = *data;
    tern_node_output(node, 0, y);
    tern_node_end(node);
    return y;
}

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

// Lets go of `t` wherever `root`, its history from now on, leads: a tensor and a node that hold
// each other would never be freed. No backward can use the old values: they were changed. Nodes
// that keep `t` and are not found belong to other graphs.
static void forget_overwritten(tern_node *root, tern_tensor *t)
{
    uint64_t mark = tern_node_new_mark();
    tern_node *last = root;
    root->mark = mark;
    root->next = NULL;
    for (tern_node *node = root; node && atomic_load(&t->saves) > 0; node = node->next) {
        for (int i = 0; i < TERN_NODE_SAVED; i++) {
            if (node->saved[i] == t) {
                drop_saved(node, i);
                node->overwritten = true;
            } else if (node->saved[i]) {
                last = append(last, node->saved[i]->node, mark);
            }
        }
        for (int64_t i = 0; i < node->inputs; i++)
            last = append(last, node->in[i].node, mark);
    }
}

void tern_inplace_done(tern_tensor *t, tern_node *node)
{
    tern_tensor_touched(t);
    tern_hold(t); // the graph alone may have held it
    if (node) {
        forget_overwritten(node, t);
        tern_node_output(node, 0, t);
        t->storage->recorded = t->history_version;
    }
    tern_node_end(node);
    tern_drop(t);
}
