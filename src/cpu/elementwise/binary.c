// SPDX-License-Identifier: Apache-2.0
// y = op(a, b)
#include "base/error.h"
#include "cpu/elementwise/elementwise.h"

tern_status TERN_ISA_NAME(binary)(const tern_exec *exec, tern_binary_op op, double alpha,
                                  const tern_strided *y, const tern_strided *a,
                                  const tern_strided *b)
{
    (void)exec;
    elementwise e = {.outputs = 1, .inputs = 2, .predicate = tern_binary_gives_bool(op)};
    const tern_binary_op which = set_factor(&e.params, op, a->dtype, alpha);
    binary_blocks *find = NUMBER_SELECT(a->dtype, binary);
    e.costly = which == TERN_BINARY_POW;
    e.block = find(which, EACH);
    e.one[0] = find(which, ONE_A);
    e.one[1] = find(which, ONE_B);
    TERN_CHECK(e.block, TERN_ERR_DTYPE, "binary operation %d is not made for %s", (int)op,
               tern_dtype_name(a->dtype));
    TERN_ISA_NAME(elementwise)(&e, (const tern_strided *const[]){y, a, b});
    return TERN_OK;
}
