// SPDX-License-Identifier: Apache-2.0
// y = op(x)
#include <math.h>
#include "base/error.h"
#include "cpu/elementwise/elementwise.h"
#include "cpu/span.h"
#include "device/comparison.h"

static float round_to(tern_dtype dtype, float number)
{
    return dtype == TERN_FLOAT16 ? half_to_float(float_to_half(number))
                                 : bfloat_to_float(float_to_bfloat(number));
}

tern_status TERN_ISA_NAME(unary)(const tern_exec *exec, tern_unary_op op, const tern_scalar p[2],
                                 const tern_strided *y, const tern_strided *x)
{
    (void)exec;
    elementwise e = {.outputs = 1, .inputs = 1, .predicate = tern_unary_gives_bool(op)};
    const tern_unary_op which = set_scalar_params(&e.params, op, x->dtype, p, round_to);
    e.block = NUMBER_SELECT(x->dtype, unary)(which);
    e.costly = is_costly(which);
    TERN_CHECK(e.block, TERN_ERR_DTYPE, "unary operation %d is not made for %s", (int)op,
               tern_dtype_name(x->dtype));
    TERN_ISA_NAME(elementwise)(&e, (const tern_strided *const[]){y, x});
    return TERN_OK;
}
