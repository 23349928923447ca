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

#define FRONT(name, code)                                                                          \
    tern_tensor *tern_##name(tern_tensor *a, tern_tensor *b)                                       \
    {                                                                                              \
        static const tern_op op = {#name, {"a", "b"}, NULL};                                       \
        return run(&op, code, a, b);                                                               \
    }

FRONT(eq, TERN_BINARY_EQ)
FRONT(ne, TERN_BINARY_NE)
FRONT(lt, TERN_BINARY_LT)
FRONT(le, TERN_BINARY_LE)
FRONT(gt, TERN_BINARY_GT)
FRONT(ge, TERN_BINARY_GE)
FRONT(logical_and, TERN_BINARY_AND)
FRONT(logical_or, TERN_BINARY_OR)
