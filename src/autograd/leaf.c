// SPDX-License-Identifier: Apache-2.0
#include "autograd/leaf.h"

#include <tern/autograd.h>

#include "autograd/record.h"
#include "device/fault.h"
#include "tensor/capture.h"
#include "tensor/header.h"
#include "tensor/liveness.h"
#include "tensor/node.h"
#include "tensor/view.h"

// A gradient of the leaf's shape, contiguous, held by the leaf alone.
static tern_tensor *make_grad(const tern_tensor *leaf)
{
    tern_tensor *grad = tern_header_new("grad");
    if (!grad)
        return NULL;
    tern_header_shape(grad, tern_shape_get(leaf));
    grad->dtype = leaf->dtype;
    grad->storage = tern_header_storage("grad", grad, tern_dev(leaf), false);
    if (!grad->storage) {
        tern_tensor_release(grad);
        return NULL;
    }
    return grad;
}

static tern_status ensure_grad(tern_tensor *leaf)
{
    if (!leaf->grad)
        leaf->grad = make_grad(leaf);
    return leaf->grad ? TERN_OK : TERN_ERR_NOMEM;
}

// The gradient's tensor, made when there is none, for a kernel that writes to it or, where
// *accumulate is set, adds to it. From now on the gradient counts as present.
static tern_tensor *grad_target(tern_tensor *leaf, bool *accumulate)
{
    if (tern_capture_leaf(leaf, TERN_LEAF_GRAD_QUERIED) || ensure_grad(leaf))
        return NULL;
    *accumulate = leaf->grad_state == TERN_GRAD_PRESENT;
    leaf->grad_state = TERN_GRAD_PRESENT;
    tern_tensor_touched(leaf->grad);
    return leaf->grad;
}

tern_status tern_leaf_deliver(tern_tensor *leaf, tern_tensor *dx)
{
    bool accumulate;
    if (dx == leaf->grad)
        return TERN_OK;
    tern_tensor *grad = grad_target(leaf, &accumulate);
    if (!grad)
        return TERN_ERR_NOMEM;
    return accumulate ? tern_launch_binary(TERN_BINARY_ADD, 1, grad, grad, dx)
                      : tern_launch_copy(grad, dx);
}

// The gradient of an output that stands for a leaf is added to as a leaf's is: the same bits.
static tern_tensor *replica_target(const tern_edge *edge, const char *op, bool *accumulate)
{
    tern_node_out *out = &edge->node->out[edge->output];
    tern_tensor *before = out->grad;
    *accumulate = before != NULL;
    if (before && out->own)
        return before;
    tern_tensor *grad = tern_tensor_new(op, edge->dtype, edge->device, edge->shape);
    if (!grad || (before && tern_launch_copy(grad, before)))
        return NULL;
    out->grad = tern_tensor_retain(grad);
    out->own = true;
    tern_tensor_release(before);
    return grad;
}

static tern_tensor *new_gradient(const tern_node *node, const tern_edge *edge)
{
    return tern_tensor_new(node->name, edge->dtype, node->out[0].device, edge->shape);
}

tern_tensor *tern_node_grad_into(tern_node *node, int input, bool *accumulate)
{
    const tern_edge *edge = &node->in[input];
    if (edge->leaf)
        return grad_target(edge->leaf, accumulate);
    if (edge->node->partial)
        return replica_target(edge, node->name, accumulate);
    *accumulate = false;
    return new_gradient(node, edge);
}

tern_tensor *tern_node_grad_new(tern_node *node, int input)
{
    const tern_edge *edge = &node->in[input];
    bool accumulate;
    if (edge->leaf && edge->leaf->grad_state != TERN_GRAD_PRESENT)
        return grad_target(edge->leaf, &accumulate);
    return new_gradient(node, edge);
}

tern_tensor *tern_grad(const tern_tensor *t)
{
    if (tern_check_tensor("grad", "t", t) || tern_capture_leaf(t, TERN_LEAF_GRAD_QUERIED))
        return NULL;
    if (t->grad_state == TERN_GRAD_UNUSABLE)
        tern_error_raise(TERN_ERR_STATE,
                         "grad: the gradient of %s was left unusable by a failed backward; call "
                         "zero_grad",
                         tern_name(t));
    return t->grad_state == TERN_GRAD_PRESENT ? t->grad : NULL;
}

void tern_zero_grad(tern_tensor *t)
{
    if (tern_check_tensor("zero_grad", "t", t) || tern_capture_leaf(t, TERN_LEAF_GRAD_ZEROED))
        return;
    t->grad_state = TERN_GRAD_ABSENT;
    if (!tern_capturing(tern_dev(t))) // else replays do
        tern_fault_clear_raised(tern_dev(t));
}

bool tern_requires_grad(const tern_tensor *t)
{
    return !tern_check_tensor("requires_grad", "t", t) && t->requires_grad;
}

bool tern_is_leaf(const tern_tensor *t)
{
    return !tern_check_tensor("is_leaf", "t", t) && !t->node;
}

tern_tensor *tern_set_requires_grad(tern_tensor *t, bool requires_grad)
{
    if (tern_check_tensor("set_requires_grad", "t", t))
        return NULL;
    TERN_CHECK_PTR(!t->node, TERN_ERR_STATE,
                   "set_requires_grad: %s has a history; only leaves can be told, detach it first",
                   tern_tensor_string(t));
    TERN_CHECK_PTR(!requires_grad || tern_dtype_is_floating(t->dtype), TERN_ERR_DTYPE,
                   "set_requires_grad: %s cannot have a gradient: its dtype is not floating",
                   tern_tensor_string(t));
    if (tern_capture_leaf(t, TERN_LEAF_REQUIRES_SET))
        return NULL;
    t->requires_grad = requires_grad;
    return t;
}
