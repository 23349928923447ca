// SPDX-License-Identifier: Apache-2.0
// How often the largest logit is that of the label.
#include "ops/alias.h"
#include "tensor/liveness.h"

static tern_status check(const tern_tensor *input, const tern_tensor *target)
{
    TERN_TRY(tern_check_tensor("accuracy", "input", input));
    TERN_TRY(tern_check_tensor("accuracy", "target", target));
    TERN_CHECK(target->dtype == TERN_INT64 || target->dtype == TERN_INT32 ||
                   target->dtype == TERN_UINT8,
               TERN_ERR_DTYPE, "accuracy: target is %s, but must be labels: integers",
               tern_dtype_name(target->dtype));
    TERN_CHECK(input->rank > 0, TERN_ERR_SHAPE, "accuracy: input has no dimension of classes");
    const int classes = input->rank > 1;
    tern_shape expected = tern_shape_get(input);
    for (int i = classes; i + 1 < expected.rank; i++)
        expected.dim[i] = expected.dim[i + 1];
    expected.rank--;
    TERN_CHECK(tern_shape_equal(expected, tern_shape_get(target)), TERN_ERR_SHAPE,
               "accuracy: input %s and target %s do not fit: target must be %s",
               tern_shape_string(tern_shape_get(input)), tern_shape_string(tern_shape_get(target)),
               tern_shape_string(expected));
    return TERN_OK;
}

tern_tensor *tern_accuracy(tern_tensor *input, tern_tensor *target)
{
    if (check(input, target))
        return NULL;
    static const tern_op accuracy = {.name = "accuracy", .inputs = {"input", "target"}};
    tern_op_call call = {.op = &accuracy, .count = 2, .in = {input, target}};
    if (tern_op_begin(&call, 0))
        return NULL;
    tern_tensor *right = tern_eq(tern_argmax(call.in[0], input->rank > 1, false), call.in[1]);
    tern_tensor *share = right ? tern_mean_all(tern_to_dtype(right, TERN_FLOAT32)) : NULL;
    return tern_op_end(&call, share, NULL, 0);
}
