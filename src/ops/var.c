// SPDX-License-Identifier: Apache-2.0
// Variance and standard deviation over any axes.
#include <math.h>

#include "ops/launch.h"

typedef struct spread {
    tern_op_call call;
    tern_tensor *x, *mean, *y;
    tern_reduction_shape reduced;
} spread;

static tern_status launch_var(double correction, spread *s)
{
    if (s->y->numel == 0)
        return TERN_OK;
    tern_strided x = tern_view_of(s->x), mean = {0};
    tern_strided var = tern_view_shaped(s->y, s->reduced.keepdim);
    if (s->mean)
        mean = tern_view_of(s->mean);
    tern_views_reduce(&x, (tern_strided *const[]){&var, &mean}, s->mean ? 2 : 1);
    tern_device device = tern_dev(s->x);
    tern_exec exec = tern_exec_of(device);
    return tern_kernels_of(device)->var(&exec, correction, &var, s->mean ? &mean : NULL, &x);
}

// Checks and launches; the mean is only made when a backward will want it.
static tern_status begin(const tern_op *op, tern_tensor *x, tern_axis_list axes, int64_t correction,
                         bool keepdim, spread *s)
{
    *s = (spread){.call = {.op = op, .count = 1, .in = {x}}};
    TERN_TRY(tern_op_begin(&s->call, TERN_OP_ONLY_FLOATING));
    s->x = s->call.in[0];
    TERN_TRY(tern_reduction_shape_make(op->name, s->x, axes, keepdim, &s->reduced));
    bool record = s->x->requires_grad && tern_grad_enabled();
    if (record)
        s->mean = tern_tensor_new("mean", s->call.dtype, s->call.device, s->reduced.keepdim);
    s->y = tern_tensor_new(op->name, s->call.dtype, s->call.device, s->reduced.result);
    if (!s->y || (record && !s->mean))
        return tern_failed();
    return launch_var((double)correction, s);
}

// dx = dvar 2 (x - mean) / (n - correction)
static tern_tensor *gradient(tern_node *node, tern_tensor *dvar)
{
    tern_tensor *x = tern_node_saved(node, 0), *mean = tern_node_saved(node, 1);
    double freedom = tern_node_attrs(node)->d[0];
    double scale = freedom > 0 ? 2 / freedom : INFINITY;
    tern_tensor *share = tern_reshape(tern_mul_scalar(dvar, scale), tern_shape_get(mean));
    return tern_mul(share, tern_sub(x, mean));
}

static tern_status var_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    dx[0] = gradient(node, dy[0]);
    return dx[0] ? TERN_OK : tern_failed();
}

// d sqrt(var) = dvar / (2 std), 0 where the deviation is 0
static tern_status std_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *y = tern_node_saved(node, 2);
    tern_tensor *dvar = tern_div(dy[0], tern_mul_scalar(y, 2));
    dvar = tern_masked_fill(dvar, tern_eq_scalar(y, 0), 0);
    dx[0] = dvar ? gradient(node, dvar) : NULL;
    return dx[0] ? TERN_OK : tern_failed();
}

static tern_tensor *end(spread *s, int64_t correction, int saved_count)
{
    s->call.attrs.d[0] = (double)s->reduced.count - (double)correction;
    tern_tensor *saved[] = {s->x, s->mean, s->y};
    return tern_op_end(&s->call, s->y, saved, saved_count);
}

tern_tensor *tern_var(tern_tensor *x, tern_axis_list axes, int64_t correction, bool keepdim)
{
    static const tern_op var = {"var", {"x"}, var_backward};
    spread s;
    if (begin(&var, x, axes, correction, keepdim, &s))
        return NULL;
    return end(&s, correction, 2);
}

tern_tensor *tern_std(tern_tensor *x, tern_axis_list axes, int64_t correction, bool keepdim)
{
    static const tern_op std = {"std", {"x"}, std_backward};
    spread s;
    if (begin(&std, x, axes, correction, keepdim, &s) ||
        tern_launch_unary(TERN_UNARY_SQRT, 0, 0, s.y, s.y))
        return NULL;
    return end(&s, correction, 3);
}
