// SPDX-License-Identifier: Apache-2.0
// Comparisons and logic of two tensors: they give bool and are not differentiable.
#include "ops/launch.h"

static tern_tensor *run(const char *name, tern_binary_op op, tern_tensor *a, tern_tensor *b)
{
    tern_operands in = {.op = name, .count = 2, .name = {"a", "b"}, .at = {a, b}};
    if (tern_op_prepare(&in, TERN_PREPARE_BROADCAST | TERN_PREPARE_PROMOTE))
        return NULL;
    tern_tensor *y = tern_tensor_new(name, TERN_BOOL, in.device, in.shape);
    return y && tern_launch_binary(op, 1, y, in.at[0], in.at[1]) == TERN_OK ? y : NULL;
}

tern_tensor *tern_eq(tern_tensor *a, tern_tensor *b)
{
    return run("eq", TERN_BINARY_EQ, a, b);
}

tern_tensor *tern_ne(tern_tensor *a, tern_tensor *b)
{
    return run("ne", TERN_BINARY_NE, a, b);
}

tern_tensor *tern_lt(tern_tensor *a, tern_tensor *b)
{
    return run("lt", TERN_BINARY_LT, a, b);
}

tern_tensor *tern_le(tern_tensor *a, tern_tensor *b)
{
    return run("le", TERN_BINARY_LE, a, b);
}

tern_tensor *tern_gt(tern_tensor *a, tern_tensor *b)
{
    return run("gt", TERN_BINARY_GT, a, b);
}

tern_tensor *tern_ge(tern_tensor *a, tern_tensor *b)
{
    return run("ge", TERN_BINARY_GE, a, b);
}

tern_tensor *tern_logical_and(tern_tensor *a, tern_tensor *b)
{
    return run("logical_and", TERN_BINARY_AND, a, b);
}

tern_tensor *tern_logical_or(tern_tensor *a, tern_tensor *b)
{
    return run("logical_or", TERN_BINARY_OR, a, b);
}
