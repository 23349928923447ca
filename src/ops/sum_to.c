// SPDX-License-Identifier: Apache-2.0
// The reverse of broadcasting, for backwards.
#include "ops/sum_to.h"
#include "ops/launch.h"

tern_tensor *tern_sum_to(tern_tensor *t, tern_shape shape)
{
    if (tern_shape_equal(tern_shape_get(t), shape))
        return t;
    tern_shape keepdim = {.rank = t->rank};
    int extra = t->rank - shape.rank;
    for (int i = 0; i < t->rank; i++)
        keepdim.dim[i] = i < extra ? 1 : shape.dim[i - extra];
    tern_tensor *sum = tern_tensor_new("sum", t->dtype, tern_dev(t), shape);
    return sum && tern_launch_reduce(TERN_REDUCE_SUM, 0, sum, t, keepdim) == TERN_OK ? sum : NULL;
}
