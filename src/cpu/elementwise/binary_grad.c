// SPDX-License-Identifier: Apache-2.0
// The gradients of y = op(a, b) in a and b, in one pass.
#include "base/error.h"
#include "cpu/elementwise/elementwise.h"

tern_status TERN_ISA_NAME(binary_grad)(const tern_exec *exec, tern_binary_op op,
                                       const tern_strided *const dx[2], const tern_strided *dy,
                                       const tern_strided *a, const tern_strided *b)
{
    (void)exec;
    binary_grad_blocks *blocks = REAL_SELECT(a->dtype, binary_grad);
    const elementwise e = {.block = blocks(op), .outputs = 2, .inputs = 3};
    TERN_CHECK(e.block && tern_dtype_is_floating(a->dtype), TERN_ERR_DTYPE,
               "the gradients of binary operation %d are not made for %s", (int)op,
               tern_dtype_name(a->dtype));
    TERN_ISA_NAME(elementwise)(&e, (const tern_strided *const[]){dx[0], dx[1], dy, a, b});
    return TERN_OK;
}
