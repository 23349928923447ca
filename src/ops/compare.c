// SPDX-License-Identifier: Apache-2.0
// Comparisons and logic of two tensors: they give bool and are not differentiable.
#include "ops/launch.h"

static tern_tensor *run(const tern_op *op, tern_binary_op code, tern_tensor *a, tern_tensor *b)
{
    tern_op_call call = {.op = op, .count = 2, .in = {a, b}};
    if (tern_op_begin(&call, TERN_OP_BROADCAST | TERN_OP_PROMOTE))
        return NULL;
    tern_tensor *y = tern_tensor_new(op->name, TERN_BOOL, call.device, call.shape);
    if (!y || tern_launch_binary(code, 1, y, call.in[0], call.in[1]))
        return NULL;
    return tern_op_end(&call, y, NULL, 0);
}

#define FUNCTION(name, code)                                                                       \
    tern_tensor *tern_##name(tern_tensor *a, tern_tensor *b)                                       \
    {                                                                                              \
        static const tern_op op = {#name, {"a", "b"}, NULL};                                       \
        return run(&op, code, a, b);                                                               \
    }

FUNCTION(eq, TERN_BINARY_EQ)
FUNCTION(ne, TERN_BINARY_NE)
FUNCTION(lt, TERN_BINARY_LT)
FUNCTION(le, TERN_BINARY_LE)
FUNCTION(gt, TERN_BINARY_GT)
FUNCTION(ge, TERN_BINARY_GE)
FUNCTION(logical_and, TERN_BINARY_AND)
FUNCTION(logical_or, TERN_BINARY_OR)
