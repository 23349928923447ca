// SPDX-License-Identifier: Apache-2.0
// How many multiplications with an addition an operation makes.
#include <string.h>
#include "train/summary/table.h"

// Each element of the result is a sum over the weight of one output channel, the first of its dims:
// in linear a row, in a convolution the kernel over the channels of a group.
static int64_t of_result(const tern_op_call *call, const tern_tensor *y)
{
    const tern_tensor *weight = tern_op_inputs(call)[1];
    const int64_t channels = weight->size[0];
    return channels ? y->numel * (weight->numel / channels) : 0;
}

// Each element of the input goes to the kernel over the output channels of its group.
static int64_t of_input(const tern_op_call *call, const tern_tensor *y)
{
    const tern_tensor *x = tern_op_inputs(call)[0], *weight = tern_op_inputs(call)[1];
    const int64_t channels = weight->size[0];
    (void)y;
    return channels ? x->numel * (weight->numel / channels) : 0;
}

static int64_t of_matmul(const tern_op_call *call, const tern_tensor *y)
{
    const tern_tensor *a = tern_op_inputs(call)[0];
    return y->numel * a->size[a->rank - 1];
}

// Logits are not kept, but made: (N, classes) of (N, features).
static int64_t of_logits(const tern_op_call *call, const tern_tensor *y)
{
    const tern_tensor *x = tern_op_inputs(call)[0], *weight = tern_op_inputs(call)[1];
    (void)y;
    return x->numel * weight->size[0];
}

typedef struct counted_op {
    const char *name;
    int64_t (*count)(const tern_op_call *call, const tern_tensor *y);
} counted_op;

static const counted_op counted[] = {
    {"linear", of_result},
    {"matmul", of_matmul},
    {"conv1d", of_result},
    {"conv2d", of_result},
    {"conv3d", of_result},
    {"conv_transpose1d", of_input},
    {"conv_transpose2d", of_input},
    {"conv_transpose3d", of_input},
    {"linear_cross_entropy", of_logits},
};

int64_t tern_summary_multiply_adds(const tern_op_call *call, const tern_tensor *y)
{
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (strcmp(counted[i].name, call->op->name) == 0)
            return counted[i].count(call, y);
    return 0;
}
