// SPDX-License-Identifier: Apache-2.0
#include "autograd/record.h"

#include <tern/autograd.h>
#include "autograd/op.h"
#include "device/dtype.h"
#include "tensor/capture.h"
#include "tensor/header.h"

// A tensor whose memory was written through another view no longer is what its history says; and a
// view without history, from before a change that carries gradients, would lose them.
tern_status tern_check_history(const char *op, const char *role, const tern_tensor *t)
{
    bool knows = t->node ? t->history_version == t->storage->version
                         : !t->is_view || t->detached || t->history_version >= t->storage->recorded;
    TERN_CHECK(
        knows, TERN_ERR_STATE,
        "%s: %s (%s, made by %s) was changed in place through another view of its memory, so "
        "its gradient is unknown; clone it before the change",
        op, role, tern_tensor_string(t), t->op);
    return TERN_OK;
}

static tern_status check_input(const tern_op *op, const tern_tensor *t)
{
    TERN_TRY(tern_check_history(op->name, "an input", t));
    if (t->requires_grad)
        TERN_TRY(tern_capture_check_training(op->name, tern_dev(t)));
    bool may_learn = !t->node && (t->requires_grad || t->label[0]);
    return may_learn ? tern_capture_leaf(t, TERN_LEAF_REQUIRES_QUERIED) : TERN_OK;
}

static void set_edge(tern_edge *edge, tern_tensor *t)
{
    if (!t) {
        *edge = (tern_edge){0};
        return;
    }
    const bool learns = t->requires_grad;
    edge->node = learns && t->node ? tern_node_retain(t->node) : NULL;
    edge->output = learns ? t->output : 0;
    edge->leaf = learns && !t->node ? tern_tensor_retain(t) : NULL;
    if (edge->leaf)
        tern_fetch_add(&t->edges, 1, memory_order_relaxed);
    edge->shape = tern_shape_get(t);
    edge->dtype = t->dtype;
    edge->device = tern_dev(t);
}

tern_status tern_node_begin(tern_node **node, const tern_op *op, tern_tensor *const *inputs,
                            int count, int outputs)
{
    bool wanted = false;
    *node = NULL;
    if (!tern_grad_enabled())
        return TERN_OK;
    for (int i = 0; i < count; i++) {
        if (inputs[i])
            TERN_TRY(check_input(op, inputs[i]));
        wanted = wanted || (inputs[i] && inputs[i]->requires_grad);
    }
    if (!wanted)
        return TERN_OK;
    tern_node *n = tern_node_new(count, outputs);
    if (!n)
        return TERN_ERR_NOMEM;
    n->op = op;
    n->name = op->name;
    for (int i = 0; i < count; i++)
        set_edge(&n->in[i], inputs[i]);
    *node = n;
    return TERN_OK;
}

void tern_node_save(tern_node *node, int slot, tern_tensor *t)
{
    if (node->saved_count <= slot)
        node->saved_count = slot + 1;
    node->saved[slot] = tern_tensor_retain(t);
    if (!t)
        return;
    tern_fetch_add(&t->saves, 1, memory_order_relaxed);
    node->saved_version[slot] = t->storage->version;
}

static tern_status save_output(tern_node *node, int slot, tern_tensor *y)
{
    tern_tensor *alias = tern_header_alias(y->op, y, tern_shape_get(y), y->stride, y->offset);
    if (!alias)
        return TERN_ERR_NOMEM;
    tern_node_save(node, slot, alias);
    tern_tensor_release(alias);
    return TERN_OK;
}

const tern_op_attrs *tern_node_attrs(const tern_node *node)
{
    return &node->attrs;
}

void tern_node_output(tern_node *node, int index, tern_tensor *y)
{
    tern_node *before = y->node;
    y->node = tern_node_retain(node);
    y->output = index;
    y->requires_grad = true;
    y->history_version = y->storage->version;
    tern_node_out *out = &node->out[index];
    out->shape = tern_shape_get(y);
    out->dtype = y->dtype;
    out->device = tern_dev(y);
    if (node->outputs <= index)
        node->outputs = index + 1;
    tern_node_release(before);
}

void tern_node_end(tern_node *node)
{
    tern_node_release(node);
}

tern_shape tern_node_input_shape(const tern_node *node, int input)
{
    return node->in[input].shape;
}

tern_dtype tern_node_input_dtype(const tern_node *node, int input)
{
    return node->in[input].dtype;
}

// A leaf with a name that collects gradients.
static bool is_parameter(const tern_tensor *t)
{
    return t->label[0] && t->requires_grad && !t->node;
}

tern_status tern_node_check_saved(const tern_node *node)
{
    TERN_CHECK(!node->overwritten, TERN_ERR_STATE,
               "backward: a value that %s needs was changed in place, by what was computed from "
               "it; clone it before the change",
               node->name);
    TERN_CHECK(!node->leaf_overwritten, TERN_ERR_STATE,
               "backward: a leaf that %s passes a gradient on to was changed in place, by what was "
               "computed from it; clone it before the change",
               node->name);
    for (int i = 0; i < node->saved_count; i++) {
        const tern_tensor *t = node->saved[i];
        bool changed = t && t->storage->version != node->saved_version[i];
        TERN_CHECK(!changed || !is_parameter(t), TERN_ERR_STATE,
                   "backward: a value that %s needs (the parameter %s, %s) was changed in place "
                   "after the forward, as tern_optim_step does: run the backward before it, or the "
                   "forward again after it",
                   node->name, t->label, tern_tensor_string(t));
        TERN_CHECK(!changed, TERN_ERR_STATE,
                   "backward: a value that %s needs (%s, made by %s) was changed in place after "
                   "the forward; clone it before the change",
                   node->name, tern_tensor_string(t), t->label[0] ? t->label : t->op);
    }
    return TERN_OK;
}

// ---- calls --------------------------------------------------------------------------------------

static _Thread_local const tern_op_observer *observers;
static _Thread_local bool notifying;

const tern_op_observer *tern_op_observe(const tern_op_observer *first)
{
    const tern_op_observer *before = observers;
    observers = first;
    return before;
}

void tern_op_notify(const tern_op_call *call, tern_tensor *const *y, int outputs)
{
    if (!observers || notifying)
        return;
    notifying = true;
    for (const tern_op_observer *o = observers; o; o = o->next)
        o->ended(call, y, outputs, o->user);
    notifying = false;
}

static tern_status save(tern_node *node, tern_tensor *const *y, int recorded,
                        tern_tensor *const *saved, int saved_count)
{
    for (int i = 0; i < saved_count; i++) {
        int k = 0;
        while (k < recorded && saved[i] != y[k])
            k++;
        if (k < recorded)
            TERN_TRY(save_output(node, i, saved[i]));
        else
            tern_node_save(node, i, saved[i]);
    }
    return TERN_OK;
}

static tern_status record(tern_node *node, const tern_op_call *call, tern_tensor *const *y,
                          int recorded, tern_tensor *const *saved, int saved_count)
{
    tern_status status = save(node, y, recorded, saved, saved_count);
    node->attrs = call->attrs;
    for (int i = 0; i < recorded && !status; i++)
        tern_node_output(node, i, y[i]);
    tern_node_end(node);
    return status;
}

tern_tensor *tern_op_end_begun(tern_node *node, const tern_op_call *call, tern_tensor *y,
                               tern_tensor *const *saved, int saved_count)
{
    if (node && record(node, call, &y, 1, saved, saved_count))
        return NULL;
    tern_op_notify(call, &y, 1);
    return y;
}

tern_status tern_op_end_many(const tern_op_call *call, tern_tensor *const *y, int outputs,
                             int recorded, tern_tensor *const *saved, int saved_count)
{
    tern_node *node = NULL;
    for (int i = 0; i < outputs; i++)
        if (!y[i])
            return tern_error_code();
    if (call->op->backward && tern_is_floating(y[0]->dtype))
        TERN_TRY(tern_node_begin(&node, call->op, tern_op_inputs(call), call->count, recorded));
    if (node)
        TERN_TRY(record(node, call, y, recorded, saved, saved_count));
    tern_op_notify(call, y, outputs);
    return TERN_OK;
}

tern_tensor *tern_op_end(const tern_op_call *call, tern_tensor *y, tern_tensor *const *saved,
                         int saved_count)
{
    return tern_op_end_many(call, &y, 1, 1, saved, saved_count) ? NULL : y;
}
