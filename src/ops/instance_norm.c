// SPDX-License-Identifier: Apache-2.0
// Normalisation of each channel of each sample: rows of (N C, S), by the statistics of each, or by
// running ones as in batch norm.
#include <math.h>

#include "ops/batch_norm.h"

static tern_status check(const tern_op_call *call, const tern_instance_norm_options *o)
{
    const tern_tensor *x = call->in[AFFINE_X];
    const char *shape = tern_shape_string(tern_shape_get(x));
    TERN_CHECK(x->rank >= 3, TERN_ERR_SHAPE, "instance_norm: x %s is not (N, C, L, ..)", shape);
    TERN_TRY(tern_affine_check_shape(call, tern_affine_row(x->size[1]),
                                     "it must have a value a channel, dimension 1 of x"));
    TERN_CHECK(!o->use_input_stats || x->numel == 0 || x->numel != x->size[0] * x->size[1],
               TERN_ERR_SHAPE,
               "instance_norm: x %s has one element a channel of a sample, which has no variance: "
               "it needs more",
               shape);
    TERN_CHECK(isfinite(o->momentum), TERN_ERR_ARG,
               "instance_norm: momentum is %g, but must be finite", o->momentum);
    TERN_TRY(
        tern_batch_norm_check_running(call, o->running_mean, o->running_var, !o->use_input_stats));
    return tern_norm_check_eps("instance_norm", o->eps);
}

static tern_tensor *by_running(const tern_instance_norm_options *o)
{
    static const tern_op op = {"instance_norm", {"x", "weight", "bias"}, tern_batch_norm_backward};
    tern_op_call call = {.op = &op, .in = {o->x, o->weight, o->bias}};
    tern_batch_norm p = {
        .eps = o->eps, .running_mean = o->running_mean, .running_var = o->running_var};
    return tern_affine_begin(&call) || check(&call, o) ? NULL : tern_batch_norm_run(&call, &p);
}

// (1 - momentum) running + momentum * the mean of `each` (N, C) over the samples, in running's
// dtype.
static tern_tensor *averaged(tern_tensor *running, tern_tensor *each, double momentum)
{
    tern_tensor *mean = tern_mean(each, tern_axes(0), false);
    tern_tensor *old = mean ? tern_to_dtype(running, tern_dtype_of(mean)) : NULL;
    return tern_to_dtype(
        tern_add(tern_mul_scalar(old, 1 - momentum), tern_mul_scalar(mean, momentum)),
        running->dtype);
}

// New values first: nothing has changed when one of them fails.
static tern_status update_running_stats(const tern_instance_norm_options *o, const tern_row_norm *p)
{
    const int64_t samples = o->x->size[0], channels = o->x->size[1];
    const tern_shape each = {2, {samples, channels}}, rows = {3, {samples, channels, p->n}};
    tern_tensor *x = tern_to_dtype(tern_detach(p->x), p->mean->dtype);
    tern_tensor *var = tern_var(tern_reshape(x, rows), tern_axes(2), 1, false);
    tern_tensor *new_mean = averaged(o->running_mean, tern_reshape(p->mean, each), o->momentum);
    tern_tensor *new_var = averaged(o->running_var, var, o->momentum);
    if (!new_mean || !new_var || !tern_copy_(o->running_mean, new_mean) ||
        !tern_copy_(o->running_var, new_var))
        return tern_failed();
    return TERN_OK;
}

tern_tensor *tern_instance_norm_with(const tern_instance_norm_options *o)
{
    static const tern_op op = {"instance_norm", {"x", "weight", "bias"}, tern_row_norm_backward};
    if (!o)
        return (void)tern_null_error("instance_norm", "options"), NULL;
    if (!o->use_input_stats)
        return by_running(o);
    tern_op_call call = {.op = &op, .in = {o->x, o->weight, o->bias}};
    if (tern_affine_begin(&call) || check(&call, o))
        return NULL;
    tern_row_norm p = {.inner = 1, .groups = call.shape.dim[1], .eps = o->eps};
    for (int i = 2; i < call.shape.rank; i++)
        p.inner *= call.shape.dim[i];
    p.rows = call.shape.dim[0] * call.shape.dim[1];
    p.n = p.inner;
    tern_tensor *y = tern_row_norm_run(&call, &p);
    tern_status status = TERN_OK;
    if (y && y->numel > 0 && o->running_mean)
        tern_no_grad {
            status = update_running_stats(o, &p);
        }
    return status ? NULL : y;
}
