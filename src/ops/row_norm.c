// SPDX-License-Identifier: Apache-2.0
// Normalisation of rows: layer, root mean square and group norm; instance_norm.c has another.
#include "ops/row_norm.h"

#include <float.h>
#include <math.h>

#include "tensor/factory.h"

enum { SAVED_X, SAVED_WEIGHT, SAVED_MEAN, SAVED_RSTD };

static tern_norm_args arguments(const tern_row_norm *p, tern_strided *weight, tern_strided *bias)
{
    if (p->weight)
        *weight = tern_view_flat(p->weight);
    if (p->bias)
        *bias = tern_view_flat(p->bias);
    return (tern_norm_args){
        .x = tern_view_shaped(p->x, (tern_shape){2, {p->rows, p->n}}),
        .weight = p->weight ? weight : NULL,
        .bias = p->bias ? bias : NULL,
        .groups = p->groups,
        .inner = p->inner,
        .eps = p->eps,
        .rms = p->rms,
        .mean = p->mean ? tern_view_flat(p->mean) : (tern_strided){0},
        .rstd = tern_view_flat(p->rstd),
    };
}

tern_status tern_row_norm_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    const tern_row_norm p = {.x = tern_node_saved(node, SAVED_X),
                             .weight = tern_node_saved(node, SAVED_WEIGHT),
                             .mean = tern_node_saved(node, SAVED_MEAN),
                             .rstd = tern_node_saved(node, SAVED_RSTD),
                             .rows = attrs->i[0],
                             .n = attrs->i[1],
                             .groups = attrs->i[2],
                             .inner = attrs->i[3],
                             .rms = attrs->i[4]};
    const tern_shape shape = {2, {p.rows, p.n}};
    tern_affine_grads grads;
    tern_tensor *dense = tern_make_contiguous(dy[0]);
    if (!dense || tern_affine_grads_make(node, shape, dx, &grads))
        return tern_failed();
    if (p.x->numel == 0) {
        for (int i = AFFINE_WEIGHT; i < AFFINE_INPUTS; i++)
            if (dx[i] && !tern_filled(dx[i], 0))
                return tern_failed();
        return TERN_OK;
    }
    tern_strided weight, bias, dyv = tern_view_shaped(dense, shape);
    const tern_norm_args args = arguments(&p, &weight, &bias);
    tern_exec exec = tern_exec_of(tern_dev(p.x));
    return tern_kernels_of(exec.device)->norm_grad(&exec, &args, &grads.views, &dyv);
}

static tern_status allocate(const tern_op_call *call, tern_row_norm *p)
{
    const tern_dtype exact = tern_affine_exact(call->dtype);
    const tern_shape rows = tern_affine_row(p->rows);
    const char *op = call->op->name;
    p->x = tern_make_contiguous(call->in[AFFINE_X]);
    p->weight = call->in[AFFINE_WEIGHT] ? tern_make_contiguous(call->in[AFFINE_WEIGHT]) : NULL;
    p->bias = call->in[AFFINE_BIAS] ? tern_make_contiguous(call->in[AFFINE_BIAS]) : NULL;
    p->mean = p->rms ? NULL : tern_tensor_new(op, exact, call->device, rows);
    p->rstd = tern_tensor_new(op, exact, call->device, rows);
    p->y = tern_tensor_new(op, call->dtype, call->device, call->shape);
    return p->x && p->rstd && p->y && !tern_error_pending() ? TERN_OK : tern_failed();
}

static tern_status launch(const tern_row_norm *p)
{
    tern_strided weight, bias, y = tern_view_shaped(p->y, (tern_shape){2, {p->rows, p->n}});
    if (p->y->numel == 0)
        return TERN_OK;
    const tern_norm_args args = arguments(p, &weight, &bias);
    tern_exec exec = tern_exec_of(tern_dev(p->y));
    return tern_kernels_of(exec.device)->norm(&exec, &args, &y);
}

tern_tensor *tern_row_norm_run(tern_op_call *call, tern_row_norm *p)
{
    if (allocate(call, p) || launch(p))
        return NULL;
    call->attrs.i[0] = p->rows;
    call->attrs.i[1] = p->n;
    call->attrs.i[2] = p->groups;
    call->attrs.i[3] = p->inner;
    call->attrs.i[4] = p->rms;
    tern_tensor *saved[] = {[SAVED_X] = p->x,
                            [SAVED_WEIGHT] = call->in[AFFINE_X]->requires_grad ? p->weight : NULL,
                            [SAVED_MEAN] = p->mean,
                            [SAVED_RSTD] = p->rstd};
    return tern_op_end(call, p->y, saved, 4);
}

tern_status tern_norm_check_eps(const char *op, double eps)
{
    TERN_CHECK(eps >= 0 && isfinite(eps), TERN_ERR_ARG,
               "%s: eps is %g, but must be 0 or more, and finite", op, eps);
    return TERN_OK;
}

// ---- over the last dimensions -------------------------------------------------------------------

tern_status tern_norm_check_shape(const char *op, tern_shape shape)
{
    bool sizes = shape.rank > 0 && shape.rank <= TERN_MAX_RANK;
    for (int i = 0; sizes && i < shape.rank; i++)
        sizes = shape.dim[i] >= 0;
    TERN_CHECK(sizes, TERN_ERR_ARG,
               "%s: normalized_shape must have 1 to %d sizes, none of them negative", op,
               TERN_MAX_RANK);
    return TERN_OK;
}

static tern_status check_last(const tern_op_call *call, tern_shape last)
{
    const tern_tensor *x = call->in[AFFINE_X];
    bool fits = x->rank >= last.rank;
    for (int i = 1; fits && i <= last.rank; i++)
        fits = x->size[x->rank - i] == last.dim[last.rank - i];
    TERN_CHECK(fits, TERN_ERR_SHAPE,
               "%s: x %s does not end in normalized_shape %s: its last sizes must be these",
               call->op->name, tern_shape_string(tern_shape_get(x)), tern_shape_string(last));
    return tern_affine_check_shape(call, last, "it must have normalized_shape");
}

static tern_tensor *over_last(const tern_op *op, tern_tensor *const *in, tern_shape last,
                              double eps, bool rms)
{
    tern_op_call call = {.op = op, .in = {in[0], in[1], in[2]}};
    if (tern_affine_begin(&call) || tern_norm_check_shape(op->name, last) ||
        check_last(&call, last) || tern_norm_check_eps(op->name, eps))
        return NULL;
    tern_row_norm p = {.rows = 1, .n = 1, .groups = 1, .inner = 1, .eps = eps, .rms = rms};
    for (int i = 0; i < call.shape.rank; i++)
        *(i < call.shape.rank - last.rank ? &p.rows : &p.n) *= call.shape.dim[i];
    return tern_row_norm_run(&call, &p);
}

tern_tensor *tern_layer_norm_with(const tern_layer_norm_options *options)
{
    static const tern_op op = {"layer_norm", {"x", "weight", "bias"}, tern_row_norm_backward};
    if (!options)
        return (void)tern_null_error("layer_norm", "options"), NULL;
    tern_tensor *const in[] = {options->x, options->weight, options->bias};
    return over_last(&op, in, options->normalized_shape, options->eps, false);
}

tern_tensor *tern_rms_norm_with(const tern_rms_norm_options *options)
{
    static const tern_op op = {"rms_norm", {"x", "weight", ""}, tern_row_norm_backward};
    if (!options)
        return (void)tern_null_error("rms_norm", "options"), NULL;
    double eps = options->eps;
    if (isnan(eps)) // of the type that is computed in
        eps = options->x && options->x->dtype == TERN_FLOAT64 ? DBL_EPSILON : (double)FLT_EPSILON;
    tern_tensor *const in[] = {options->x, options->weight, NULL};
    return over_last(&op, in, options->normalized_shape, eps, true);
}

// ---- groups of channels -------------------------------------------------------------------------

static tern_status check_groups(const tern_op_call *call, int64_t groups)
{
    const tern_tensor *x = call->in[AFFINE_X];
    const char *shape = tern_shape_string(tern_shape_get(x));
    TERN_CHECK(x->rank >= 2, TERN_ERR_SHAPE, "group_norm: x %s is not (N, C, ..)", shape);
    TERN_CHECK(x->size[1] > 0, TERN_ERR_SHAPE, "group_norm: x %s has no channels", shape);
    TERN_CHECK(groups > 0 && x->size[1] % groups == 0, TERN_ERR_ARG,
               "group_norm: x %s has %lld channels, which %lld groups do not divide", shape,
               (long long)x->size[1], (long long)groups);
    TERN_CHECK(x->numel != groups, TERN_ERR_SHAPE,
               "group_norm: x %s has one element in each of %lld groups: its variance is 0, and "
               "nothing of x would be left",
               shape, (long long)groups);
    return tern_affine_check_shape(call, tern_affine_row(x->size[1]),
                                   "it must have a value a "
                                   "channel, dimension 1 of x");
}

tern_tensor *tern_group_norm_with(const tern_group_norm_options *options)
{
    static const tern_op op = {"group_norm", {"x", "weight", "bias"}, tern_row_norm_backward};
    if (!options)
        return (void)tern_null_error("group_norm", "options"), NULL;
    tern_op_call call = {.op = &op, .in = {options->x, options->weight, options->bias}};
    const int64_t groups = options->num_groups;
    if (tern_affine_begin(&call) || check_groups(&call, groups) ||
        tern_norm_check_eps("group_norm", options->eps))
        return NULL;
    tern_row_norm p = {.groups = groups, .inner = 1, .eps = options->eps};
    for (int i = 2; i < call.shape.rank; i++)
        p.inner *= call.shape.dim[i];
    p.rows = call.shape.dim[0] * groups;
    p.n = call.shape.dim[1] / groups * p.inner;
    return tern_row_norm_run(&call, &p);
}
