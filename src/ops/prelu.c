// SPDX-License-Identifier: Apache-2.0
// x where x > 0, else x times a slope: one that is learned (He et al. 2015), or drawn (Xu et al.
// 2015).
#include <math.h>

#include "device/draws.h"
#include "ops/launch.h"

// dx = dy where x > 0, else dy * slope
static tern_tensor *gradient(tern_tensor *dy, tern_tensor *x, tern_tensor *slope)
{
    tern_tensor *dx = tern_empty_like(dy);
    if (!dx || tern_launch_binary(TERN_BINARY_PRELU_SLOPE, 1, dx, x, slope) ||
        tern_launch_binary(TERN_BINARY_MUL, 1, dx, dx, dy))
        return NULL;
    return dx;
}

// ---- learned ------------------------------------------------------------------------------------

// The slopes (C) as (C, 1, ..), along dimension 1 of x; a single one as ().
static tern_tensor *along_channels(tern_tensor *weight, const tern_tensor *x)
{
    const bool single = weight->numel == 1;
    tern_shape shape = {.rank = single ? 0 : x->rank - 1, .dim = {weight->numel}};
    int64_t stride[TERN_MAX_RANK] = {single ? 1 : weight->stride[0]};
    for (int i = 1; i < shape.rank; i++)
        shape.dim[i] = stride[i] = 1;
    return tern_tensor_alias("prelu", weight, shape, stride, weight->offset);
}

static tern_status prelu_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *x = tern_node_saved(node, 0);
    tern_tensor *slopes = along_channels(tern_node_saved(node, 1), x);
    if (!slopes)
        return tern_failed();
    if (tern_node_needs(node, 0)) {
        dx[0] = gradient(dy[0], x, slopes);
        if (!dx[0])
            return tern_failed();
    }
    if (tern_node_needs(node, 1)) {
        tern_tensor *part = tern_empty_like(dy[0]);
        if (!part || tern_launch_binary(TERN_BINARY_PRELU_PARTIAL, 1, part, dy[0], x))
            return tern_failed();
        part = tern_sum_to(part, tern_shape_get(slopes));
        dx[1] = part ? tern_reshape(part, tern_node_input_shape(node, 1)) : NULL;
        if (!dx[1])
            return tern_failed();
    }
    return TERN_OK;
}

static tern_status check_slopes(const tern_tensor *x, const tern_tensor *weight)
{
    TERN_CHECK(weight->rank <= 1, TERN_ERR_SHAPE,
               "prelu: weight is %s, but must be one slope or one for each channel: (1) or (C)",
               tern_tensor_string(weight));
    if (weight->numel == 1)
        return TERN_OK;
    TERN_CHECK(x->rank > 1, TERN_ERR_SHAPE,
               "prelu: weight has %lld slopes, but x %s has no channels, which are dimension 1",
               (long long)weight->numel, tern_tensor_string(x));
    TERN_CHECK(x->size[1] == weight->numel, TERN_ERR_SHAPE,
               "prelu: weight has %lld slopes, but x %s has %lld channels",
               (long long)weight->numel, tern_tensor_string(x), (long long)x->size[1]);
    return TERN_OK;
}

tern_tensor *tern_prelu(tern_tensor *x, tern_tensor *weight)
{
    static const tern_op prelu = {"prelu", {"x", "weight"}, prelu_backward};
    tern_op_call call = {.op = &prelu, .count = 2, .in = {x, weight}};
    if (tern_op_begin(&call, TERN_OP_ONLY_FLOATING | TERN_OP_SAME_DTYPE) ||
        check_slopes(call.in[0], call.in[1]))
        return NULL;
    tern_tensor *slopes = along_channels(call.in[1], call.in[0]);
    tern_tensor *y = tern_tensor_new("prelu", call.dtype, call.device, call.shape);
    if (!slopes || !y || tern_launch_binary(TERN_BINARY_PRELU, 1, y, call.in[0], slopes))
        return NULL;
    return tern_op_end(&call, y, call.in, 2);
}

// ---- drawn --------------------------------------------------------------------------------------

static tern_status rrelu_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    dx[0] = gradient(dy[0], tern_node_saved(node, 0), tern_node_saved(node, 1));
    return dx[0] ? TERN_OK : tern_failed();
}

// One for each element.
static tern_tensor *draw_slopes(const tern_op_call *call, double lower, double upper)
{
    tern_tensor *slopes = tern_tensor_new("rrelu", call->dtype, call->device, call->shape);
    if (!slopes || slopes->numel == 0)
        return slopes;
    const tern_strided view = tern_view_flat(slopes);
    const tern_exec exec = tern_exec_of(call->device);
    const tern_draw_args args = {
        .low = lower, .high = upper, .offset = tern_draw_next(call->device)};
    return tern_kernels_of(call->device)->draw_uniform(&exec, &args, &view) ? NULL : slopes;
}

static tern_tensor *in_training(tern_tensor *x, double lower, double upper)
{
    static const tern_op op = {"rrelu", {"x"}, rrelu_backward};
    tern_op_call call = {.op = &op, .count = 1, .in = {x}};
    if (tern_op_begin(&call, TERN_OP_TO_FLOATING))
        return NULL;
    tern_tensor *slopes = draw_slopes(&call, lower, upper);
    tern_tensor *y = tern_tensor_new("rrelu", call.dtype, call.device, call.shape);
    if (!slopes || !y || tern_launch_binary(TERN_BINARY_PRELU, 1, y, call.in[0], slopes))
        return NULL;
    tern_tensor *saved[] = {call.in[0], slopes};
    return tern_op_end(&call, y, saved, 2);
}

static tern_tensor *rrelu(tern_tensor *x, double lower, double upper, bool training)
{
    static const tern_unary_function mean = {
        {"rrelu", {"x"}, tern_unary_backward}, TERN_UNARY_LEAKY_RELU, TERN_OP_TO_FLOATING, false};
    TERN_CHECK_PTR(lower <= upper && isfinite(lower) && isfinite(upper), TERN_ERR_ARG,
                   "rrelu: slopes are drawn from %g to %g, but lower must not be above upper, and "
                   "both finite",
                   lower, upper);
    return training ? in_training(x, lower, upper)
                    : tern_unary_run(&mean, x, (lower + upper) / 2, 0);
}

TERN_WITH_OPTIONS_OF(rrelu, rrelu, o->lower, o->upper, o->training)
