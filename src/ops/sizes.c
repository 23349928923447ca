// SPDX-License-Identifier: Apache-2.0
#include "ops/sizes.h"
#include "base/error.h"
#include "tensor/tensor.h"

tern_status tern_sizes_shape(const char *op, const char *what, tern_sizes sizes, int dims,
                             tern_shape *shape)
{
    const int64_t given[] = {sizes.first, sizes.second, sizes.third};
    shape->rank = dims;
    for (int i = 0; i < 3; i++) {
        const bool left_out = given[i] == TERN_SAME_AS_FIRST;
        if (i < dims)
            shape->dim[i] = left_out ? sizes.first : given[i];
        else
            TERN_CHECK(left_out || given[i] == 0, TERN_ERR_ARG,
                       "%s: %s is %s, but there %s %d dimension%s", op, what,
                       tern_shape_string(tern_shape_make(i + 1, given)), dims == 1 ? "is" : "are",
                       dims, dims == 1 ? "" : "s");
    }
    return TERN_OK;
}

tern_status tern_sizes_check(const char *op, const char *what, tern_shape sizes, int64_t min)
{
    for (int i = 0; i < sizes.rank; i++)
        TERN_CHECK(sizes.dim[i] >= min && sizes.dim[i] <= TERN_SIZE_MAX, TERN_ERR_ARG,
                   "%s: %s is %s, but must be %lld%s", op, what, tern_shape_string(sizes),
                   (long long)(sizes.dim[i] < min ? min : TERN_SIZE_MAX),
                   sizes.dim[i] < min ? " or more" : " or less");
    return TERN_OK;
}
