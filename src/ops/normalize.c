// SPDX-License-Identifier: Apache-2.0
// x over its p-norm along a dimension.
#include <math.h>
#include <tern/ops.h>

#include "base/error.h"
#include "tensor/liveness.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

tern_tensor *tern_normalize_with(const tern_normalize_options *options)
{
    if (!options)
        return (void)tern_null_error("normalize", "options"), NULL;
    tern_tensor *x = options->x;
    int dim = options->dim;
    if (tern_check_tensor("normalize", "x", x) || tern_check_dim("normalize", x->rank, &dim))
        return NULL;
    TERN_CHECK_PTR(tern_dtype_is_floating(x->dtype), TERN_ERR_DTYPE,
                   "normalize: x is %s, but must have a floating dtype", tern_dtype_name(x->dtype));
    TERN_CHECK_PTR(!isnan(options->p) && !isnan(options->eps), TERN_ERR_ARG,
                   "normalize: p is %g and eps is %g, but must be numbers", options->p,
                   options->eps);
    tern_tensor *norm = tern_norm(x, options->p, tern_axes(dim), true);
    return tern_div(x, tern_clamp(norm, options->eps, INFINITY));
}
