// SPDX-License-Identifier: Apache-2.0
// Which dtype two operands meet in.
#include "ops/promote.h"
#include <tern/ops.h>
#include "tensor/liveness.h"
#include "tensor/tensor.h"

// bool < uint8 < int32 < int64 < floating; float16 with bfloat16 meet in float32.
static int rank_of(tern_dtype dtype)
{
    switch (dtype) {
    case TERN_DTYPE_UNSPECIFIED:
        return 0;
    case TERN_BOOL:
        return 1;
    case TERN_UINT8:
        return 2;
    case TERN_INT32:
        return 3;
    case TERN_INT64:
        return 4;
    case TERN_FLOAT16:
    case TERN_BFLOAT16:
        return 5;
    case TERN_FLOAT32:
        return 6;
    case TERN_FLOAT64:
        return 7;
    }
    return 0;
}

tern_dtype tern_promote_dtypes(tern_dtype a, tern_dtype b)
{
    int ra = rank_of(a), rb = rank_of(b);
    if (ra == rb && a != b)
        return TERN_FLOAT32;
    return ra >= rb ? a : b;
}

// bool, integer, floating: a 0-dim tensor widens one with dimensions only across these.
static int category_of(tern_dtype dtype)
{
    return tern_dtype_is_floating(dtype) ? 3 : dtype == TERN_BOOL ? 1 : 2;
}

tern_dtype tern_promote_standing(tern_dtype array, tern_dtype scalar)
{
    if (array == TERN_DTYPE_UNSPECIFIED || scalar == TERN_DTYPE_UNSPECIFIED)
        return array ? array : scalar;
    if (category_of(array) >= category_of(scalar))
        return array;
    return tern_promote_dtypes(array, scalar);
}

tern_dtype tern_promote(const tern_tensor *a, const tern_tensor *b)
{
    if (tern_check_tensor("promote", "a", a) || tern_check_tensor("promote", "b", b))
        return TERN_DTYPE_UNSPECIFIED;
    if ((a->rank == 0) == (b->rank == 0))
        return tern_promote_dtypes(a->dtype, b->dtype);
    return a->rank ? tern_promote_standing(a->dtype, b->dtype)
                   : tern_promote_standing(b->dtype, a->dtype);
}
