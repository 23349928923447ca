// SPDX-License-Identifier: Apache-2.0
// dx = dy * op'(s)
#include "base/error.h"
#include "cpu/elementwise/elementwise.h"

tern_status TERN_ISA_NAME(unary_grad)(const tern_exec *exec, tern_unary_op op, const double p[2],
                                      const tern_strided *dx, const tern_strided *dy,
                                      const tern_strided *s)
{
    (void)exec;
    unary_blocks *blocks = REAL_SELECT(s->dtype, unary_grad);
    const tern_unary_op which = p ? usual_power(op, p[0]) : op;
    elementwise e = {.block = blocks(which), .outputs = 1, .inputs = 2, .costly = is_costly(which)};
    TERN_CHECK(e.block && tern_dtype_is_floating(s->dtype), TERN_ERR_DTYPE,
               "the gradient of unary operation %d is not made for %s", (int)op,
               tern_dtype_name(s->dtype));
    for (int i = 0; p && i < 2; i++)
        e.params.floating[i] = p[i];
    TERN_ISA_NAME(elementwise)(&e, (const tern_strided *const[]){dx, dy, s});
    return TERN_OK;
}
