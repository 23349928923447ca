// SPDX-License-Identifier: Apache-2.0
// The p-norm over any axes: (sum |x|^p)^(1/p).
#include <math.h>

#include "ops/launch.h"

static tern_tensor *sign_of(tern_tensor *x)
{
    tern_tensor *sign = tern_empty_like(x);
    return sign && tern_launch_unary(TERN_UNARY_SIGN, 0, 0, sign, x) == TERN_OK ? sign : NULL;
}

// Equal extremes share. NaN is one when the norm is NaN.
static tern_tensor *extreme_slope(tern_tensor *x, tern_tensor *norm)
{
    tern_tensor *both_nan = tern_logical_and(tern_ne(x, x), tern_ne(norm, norm));
    tern_tensor *hit =
        tern_to_dtype(tern_logical_or(both_nan, tern_eq(tern_abs(x), norm)), x->dtype);
    if (!hit)
        return NULL;
    return tern_mul(sign_of(x), tern_div(hit, tern_sum_to(hit, tern_shape_get(norm))));
}

// sign(x) (|x| / norm)^(p - 1), and 0 where the norm is 0; below p = 1 also 0 where x is 0
static tern_tensor *power_slope(tern_tensor *x, tern_tensor *norm, double p)
{
    tern_tensor *slope = tern_mul(sign_of(x), tern_pow_scalar(tern_abs(x), p - 1));
    if (p < 1)
        slope = tern_masked_fill(slope, tern_eq_scalar(x, 0), 0);
    tern_tensor *scale = tern_masked_fill(tern_pow_scalar(norm, 1 - p), tern_eq_scalar(norm, 0), 0);
    return tern_mul(slope, scale);
}

static tern_tensor *slope_of(tern_tensor *x, tern_tensor *norm, double p)
{
    if (p == 0)
        return tern_zeros_like(x);
    if (p == 1)
        return sign_of(x);
    if (p == 2)
        return tern_masked_fill(tern_div(x, norm), tern_eq_scalar(norm, 0), 0);
    return isinf(p) ? extreme_slope(x, norm) : power_slope(x, norm, p);
}

static tern_status norm_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    tern_shape keepdim = tern_node_input_shape(node, 0);
    for (int i = 0; i < keepdim.rank; i++)
        keepdim.dim[i] = attrs->i[i];
    tern_tensor *norm = tern_reshape(tern_node_saved(node, 1), keepdim);
    tern_tensor *share = tern_reshape(dy[0], keepdim);
    if (!norm || !share)
        return tern_failed();
    dx[0] = tern_mul(slope_of(tern_node_saved(node, 0), norm, attrs->d[0]), share);
    return dx[0] ? TERN_OK : tern_failed();
}

static tern_status check(double p, const tern_tensor *x, const tern_reduction_shape *reduced)
{
    TERN_CHECK(!isnan(p), TERN_ERR_ARG, "norm: p is NaN");
    TERN_CHECK(reduced->count > 0 || (p >= 0 && !isinf(p)), TERN_ERR_SHAPE,
               "norm: x %s has no elements along the axes, so there is no norm for p = %g",
               tern_shape_string(tern_shape_get(x)), p);
    return TERN_OK;
}

tern_tensor *tern_norm(tern_tensor *x, double p, tern_axis_list axes, bool keepdim)
{
    static const tern_op norm = {"norm", {"x"}, norm_backward};
    tern_op_call call = {.op = &norm, .count = 1, .in = {x}, .attrs.d = {p}};
    tern_reduction_shape reduced;
    if (tern_op_begin(&call, TERN_OP_ONLY_FLOATING) ||
        tern_reduction_shape_make("norm", call.in[0], axes, keepdim, &reduced) ||
        check(p, call.in[0], &reduced))
        return NULL;
    tern_tensor *y = tern_tensor_new("norm", call.dtype, call.device, reduced.result);
    if (!y || tern_launch_reduce(TERN_REDUCE_NORM, p, y, call.in[0], reduced.keepdim))
        return NULL;
    for (int i = 0; i < reduced.keepdim.rank; i++)
        call.attrs.i[i] = reduced.keepdim.dim[i];
    tern_tensor *saved[] = {call.in[0], y};
    return tern_op_end(&call, y, saved, 2);
}
