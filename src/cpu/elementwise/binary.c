// SPDX-License-Identifier: Apache-2.0
// y = op(a, b)
#include "base/error.h"
#include "cpu/elementwise/elementwise.h"

static block_fn *const *const tables[COMPUTE_COUNT] = {
    [COMPUTE_FLOAT] = TERN_ISA_NAME(binary_float),
    [COMPUTE_DOUBLE] = TERN_ISA_NAME(binary_double),
    [COMPUTE_INT64] = TERN_ISA_NAME(binary_int64),
};

tern_status TERN_ISA_NAME(binary)(const tern_exec *exec, tern_binary_op op, double alpha,
                                  const tern_strided *y, const tern_strided *a,
                                  const tern_strided *b)
{
    (void)exec;
    elementwise e = {
        .block = tables[compute_type_of(a->dtype)][op],
        .inputs = 2,
        .predicate = op >= TERN_BINARY_EQ,
    };
    TERN_CHECK(e.block, TERN_ERR_DTYPE, "binary operation %d is not made for %s", (int)op,
               tern_dtype_name(a->dtype));
    e.params.floating[0] = alpha;
    // The sum of two truths is "or": a factor must not turn it back to 0.
    e.params.integer[0] = a->dtype == TERN_BOOL ? alpha != 0 : truncate_to_int64(alpha);
    TERN_ISA_NAME(elementwise)(&e, (const tern_strided *const[]){y, a, b});
    return TERN_OK;
}
