// SPDX-License-Identifier: Apache-2.0
#include "autograd/op.h"

#include "autograd/inplace.h"
#include "autograd/record.h"

static _Thread_local const tern_op_observer *observers;

const tern_op_observer *tern_op_observe(const tern_op_observer *first)
{
    const tern_op_observer *before = observers;
    observers = first;
    return before;
}

static void tell(const tern_op_call *call, tern_tensor *const *y, int outputs)
{
    for (const tern_op_observer *o = observers; o; o = o->next)
        o->ended(call, y, outputs, o->user);
}

static tern_status save(tern_node *node, tern_tensor *const *y, int recorded,
                        tern_tensor *const *saved, int saved_count)
{
    for (int i = 0; i < saved_count; i++) {
        bool is_output = false;
        for (int k = 0; k < recorded; k++)
            is_output = is_output || saved[i] == y[k];
        if (is_output)
            TERN_TRY(tern_node_save_output(node, i, saved[i]));
        else
            tern_node_save(node, i, saved[i]);
    }
    return TERN_OK;
}

static tern_status record(const tern_op_call *call, tern_tensor *const *y, int recorded,
                          tern_tensor *const *saved, int saved_count)
{
    tern_node *node;
    TERN_TRY(tern_node_begin(&node, call->op, tern_op_inputs(call), call->count));
    if (!node)
        return TERN_OK;
    tern_status status = save(node, y, recorded, saved, saved_count);
    node->attrs = call->attrs;
    for (int i = 0; i < recorded && !status; i++)
        tern_node_output(node, i, y[i]);
    tern_node_end(node);
    return status;
}

tern_status tern_op_end_many(const tern_op_call *call, tern_tensor *const *y, int outputs,
                             int recorded, tern_tensor *const *saved, int saved_count)
{
    for (int i = 0; i < outputs; i++)
        if (!y[i])
            return tern_error_code();
    if (call->op->backward && tern_dtype_is_floating(y[0]->dtype))
        TERN_TRY(record(call, y, recorded, saved, saved_count));
    if (observers)
        tell(call, y, outputs);
    return TERN_OK;
}

tern_tensor *tern_op_end(const tern_op_call *call, tern_tensor *y, tern_tensor *const *saved,
                         int saved_count)
{
    return tern_op_end_many(call, &y, 1, 1, saved, saved_count) ? NULL : y;
}

tern_status tern_op_begin_inplace(const tern_op_call *call, tern_node **node)
{
    TERN_TRY(tern_node_begin(node, call->op, tern_op_inputs(call), call->count));
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
    tern_inplace_done(t, node);
    if (observers)
        tell(call, &t, 1);
    return t;
}
