// SPDX-License-Identifier: Apache-2.0
// Operations of an input, a weight and maybe a bias that apply an activation on their way. Their
// call's attrs i[0] and i[1] and all saved slots are taken here.
#ifndef TERN_SRC_OPS_LINEAR_CONV_H
#define TERN_SRC_OPS_LINEAR_CONV_H

#include "ops/launch.h"

// The inputs, and the slots in which they are saved.
enum { TERN_FUSED_X, TERN_FUSED_WEIGHT, TERN_FUSED_BIAS };
#define TERN_FUSED_ATTRS 2 // the first of the operation's own

// TERN_ERR_ARG for an activation that does not exist.
tern_status tern_fused_check(const char *op, tern_activation activation);

static inline tern_tensor *tern_fused_bias(const tern_op_call *call)
{
    return call->count > TERN_FUSED_BIAS ? call->in[TERN_FUSED_BIAS] : NULL;
}

// Ends the call: z has bias and, where that is the activation, relu in it.
tern_tensor *tern_fused_end(tern_op_call *call, tern_activation activation, tern_tensor *z);

// In a backward: dz = dy * activation', contiguous.
tern_tensor *tern_fused_before(tern_node *node, tern_tensor *dy);
// The bias' gradient, where it is needed: the sum of dz over all dims but one.
tern_status tern_fused_bias_gradient(tern_node *node, tern_tensor *dz, int dim, tern_tensor **dx);

#endif
