// SPDX-License-Identifier: Apache-2.0
// Operations of an input, a weight and maybe a bias that apply an activation on their way. Their
// call's attrs i[0] and i[1] and all saved slots are taken here.
#ifndef TERN_SRC_OPS_LINEAR_CONV_H
#define TERN_SRC_OPS_LINEAR_CONV_H

#include "ops/launch.h"

// The inputs, and the slots in which they are saved.
enum { TERN_LINEAR_CONV_X, TERN_LINEAR_CONV_WEIGHT, TERN_LINEAR_CONV_BIAS };
#define TERN_LINEAR_CONV_ATTRS 2 // the first of the operation's own

// TERN_ERR_ARG for an activation that does not exist.
tern_status tern_linear_conv_check(const char *op, tern_activation activation);

static inline tern_tensor *tern_linear_conv_bias(const tern_op_call *call)
{
    return call->count > TERN_LINEAR_CONV_BIAS ? call->in[TERN_LINEAR_CONV_BIAS] : NULL;
}

// Ends the call: z has bias and, where that is the activation, relu in it.
tern_tensor *tern_linear_conv_end(tern_op_call *call, tern_activation activation, tern_tensor *z);

// In a backward: dz = dy * activation', contiguous.
tern_tensor *tern_linear_conv_dz(tern_node *node, tern_tensor *dy);
// The bias' gradient, where it is needed: the sum of dz over all dims but one.
tern_status tern_linear_conv_bias_grad(tern_node *node, tern_tensor *dz, int dim, tern_tensor **dx);

#endif
