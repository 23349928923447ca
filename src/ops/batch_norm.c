// SPDX-License-Identifier: Apache-2.0
// Normalisation of channels by the statistics of a batch, or by running ones.
#include "ops/batch_norm.h"

#include <math.h>

#include "autograd/inplace.h"
#include "ops/alias.h"
#include "tensor/liveness.h"

enum { SAVED_X, SAVED_WEIGHT, SAVED_BIAS, SAVED_MEAN, SAVED_RSTD };

static tern_batch_norm_args arguments(const tern_batch_norm *p, tern_strided view[4])
{
    const tern_tensor *const t[] = {p->weight, p->bias, p->running_mean, p->running_var};
    for (int i = 0; i < 4; i++)
        if (t[i])
            view[i] = tern_view_flat(t[i]);
    return (tern_batch_norm_args){
        .x = tern_view_shaped(p->x, p->shape),
        .weight = t[0] ? &view[0] : NULL,
        .bias = t[1] ? &view[1] : NULL,
        .running_mean = t[2] ? &view[2] : NULL,
        .running_var = t[3] ? &view[3] : NULL,
        .batches = p->batches ? tern_view_data(p->batches) : NULL,
        .batch = p->batch,
        .relu = p->relu,
        .momentum = p->momentum,
        .eps = p->eps,
        .mean = tern_view_flat(p->mean),
        .rstd = tern_view_flat(p->rstd),
    };
}

tern_status tern_batch_norm_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    const tern_batch_norm p = {.x = tern_node_saved(node, SAVED_X),
                               .weight = tern_node_saved(node, SAVED_WEIGHT),
                               .bias = tern_node_saved(node, SAVED_BIAS),
                               .mean = tern_node_saved(node, SAVED_MEAN),
                               .rstd = tern_node_saved(node, SAVED_RSTD),
                               .shape = {3, {attrs->i[0], attrs->i[1], attrs->i[2]}},
                               .batch = attrs->i[3],
                               .relu = attrs->i[4]};
    tern_affine_grads grads;
    tern_tensor *dense = tern_make_contiguous(dy[0]);
    if (!dense || tern_affine_grads_make(node, p.shape, dx, &grads))
        return tern_failed();
    tern_strided view[4], dyv = tern_view_shaped(dense, p.shape);
    const tern_batch_norm_args args = arguments(&p, view);
    tern_exec exec = tern_exec_of(tern_dev(p.x));
    return tern_kernels_of(exec.device)->batch_norm_grad(&exec, &args, &grads.views, &dyv);
}

// ---- checks -------------------------------------------------------------------------------------

static tern_status check_channels(const tern_op_call *call)
{
    const tern_tensor *x = call->in[AFFINE_X];
    TERN_CHECK(x->rank >= 2, TERN_ERR_SHAPE, "%s: x %s is not (N, C, ..)", call->op->name,
               tern_shape_string(tern_shape_get(x)));
    return tern_affine_check_shape(call, tern_affine_row(x->size[1]),
                                   "it must have a value a channel, dimension 1 of x");
}

// A statistic that is there: alive, on x's device, and one that may be written where it changes.
static tern_status check_statistic(const tern_op_call *call, const char *name, tern_tensor *t,
                                   bool changes)
{
    const tern_tensor *x = call->in[AFFINE_X];
    const char *op = call->op->name;
    TERN_TRY(tern_check_tensor(op, name, t));
    TERN_CHECK(!changes || !t->requires_grad, TERN_ERR_STATE,
               "%s: %s requires a gradient, but is changed in place, which has none: tern_detach "
               "makes a view without",
               op, name);
    if (changes)
        TERN_TRY(tern_check_inplace(op, t));
    for (int i = 0; changes && i < AFFINE_INPUTS; i++)
        TERN_CHECK(!call->in[i] || !tern_shares_memory(t, call->in[i]), TERN_ERR_ARG,
                   "%s: %s, which changes, shares memory with %s", op, name, call->op->inputs[i]);
    TERN_CHECK(tern_device_equal(tern_dev(t), tern_dev(x)), TERN_ERR_DEVICE,
               "%s: %s is on %s and x on %s: move one with tern_to, or its module with "
               "tern_module_to",
               op, name, tern_device_string(tern_dev(t)), tern_device_string(tern_dev(x)));
    TERN_CHECK(t->contiguous, TERN_ERR_STATE, "%s: %s is not contiguous; make a copy by tern_clone",
               op, name);
    return TERN_OK;
}

static tern_status check_running(const tern_op_call *call, const char *name, tern_tensor *t,
                                 bool changes)
{
    const tern_tensor *x = call->in[AFFINE_X];
    const char *op = call->op->name;
    TERN_TRY(check_statistic(call, name, t, changes));
    TERN_CHECK(t->rank == 1 && t->size[0] == x->size[1], TERN_ERR_SHAPE,
               "%s: x %s has %lld channels, but %s is %s: it must have a value a channel", op,
               tern_shape_string(tern_shape_get(x)), (long long)x->size[1], name,
               tern_shape_string(tern_shape_get(t)));
    return tern_affine_check_dtype(op, x, name, t);
}

tern_status tern_batch_norm_check_running(const tern_op_call *call, tern_tensor *mean,
                                          tern_tensor *var, bool needed)
{
    const char *op = call->op->name;
    TERN_CHECK(!mean == !var, TERN_ERR_ARG, "%s: %s is given without %s", op,
               mean ? "running_mean" : "running_var", mean ? "running_var" : "running_mean");
    TERN_CHECK(mean || !needed, TERN_ERR_ARG,
               "%s: there are no running statistics to normalise by: give running_mean and "
               "running_var, or take the statistics of x",
               op);
    if (!mean)
        return tern_error_code(); // it may have failed
    TERN_TRY(check_running(call, "running_mean", mean, !needed));
    TERN_TRY(check_running(call, "running_var", var, !needed));
    TERN_CHECK(needed || !tern_shares_memory(mean, var), TERN_ERR_ARG,
               "%s: running_mean and running_var share memory", op);
    return TERN_OK;
}

static tern_status check_batches(const tern_op_call *call, tern_tensor *batches, bool changes)
{
    if (!batches)
        return tern_error_code(); // it may have failed
    TERN_TRY(tern_check_tensor("batch_norm", "num_batches_tracked", batches));
    TERN_CHECK(batches->dtype == TERN_INT64 && batches->rank == 0, TERN_ERR_DTYPE,
               "batch_norm: num_batches_tracked is %s, but must be int64 ()",
               tern_tensor_string(batches));
    return check_statistic(call, "num_batches_tracked", batches, changes);
}

static tern_status check_values(const tern_op_call *call, const tern_batch_norm_options *o)
{
    const tern_tensor *x = call->in[AFFINE_X];
    TERN_CHECK(!o->training || x->size[1] == 0 || x->numel != x->size[1], TERN_ERR_SHAPE,
               "batch_norm: x %s has one value a channel, which has no variance: training needs "
               "more (evaluation takes the running statistics)",
               tern_shape_string(tern_shape_get(x)));
    TERN_CHECK(!isinf(o->momentum) && (!isnan(o->momentum) || !o->running_mean || !o->training ||
                                       o->num_batches_tracked),
               TERN_ERR_ARG,
               "batch_norm: momentum is %g: it must be finite, or NAN for 1 / num_batches_tracked, "
               "which must be given then",
               o->momentum);
    return tern_norm_check_eps("batch_norm", o->eps);
}

static tern_status check(const tern_op_call *call, const tern_batch_norm_options *o)
{
    TERN_TRY(check_channels(call));
    TERN_TRY(tern_batch_norm_check_running(call, o->running_mean, o->running_var, !o->training));
    TERN_TRY(check_batches(call, o->num_batches_tracked, o->training));
    TERN_CHECK(o->activation <= TERN_ACT_RELU, TERN_ERR_ARG,
               "batch_norm: activation is %d, but TERN_ACT_RELU alone is applied in the same pass: "
               "call the other ones on the result",
               (int)o->activation);
    return check_values(call, o);
}

// ---- forward ------------------------------------------------------------------------------------

static tern_status allocate(const tern_op_call *call, tern_batch_norm *p)
{
    const tern_shape row = tern_affine_row(call->shape.dim[1]);
    const tern_dtype exact = tern_affine_exact(call->dtype);
    const char *op = call->op->name;
    p->shape = (tern_shape){3, {call->shape.dim[0], call->shape.dim[1], 1}};
    for (int i = 2; i < call->shape.rank; i++)
        p->shape.dim[2] *= call->shape.dim[i];
    p->x = tern_make_contiguous(call->in[AFFINE_X]);
    p->weight = call->in[AFFINE_WEIGHT] ? tern_make_contiguous(call->in[AFFINE_WEIGHT]) : NULL;
    p->bias = call->in[AFFINE_BIAS] ? tern_make_contiguous(call->in[AFFINE_BIAS]) : NULL;
    p->mean = tern_tensor_new(op, exact, call->device, row);
    p->rstd = tern_tensor_new(op, exact, call->device, row);
    p->y = tern_tensor_new(op, call->dtype, call->device, call->shape);
    return p->x && p->mean && p->rstd && p->y && !tern_error_pending() ? TERN_OK : tern_failed();
}

static tern_status launch(const tern_batch_norm *p)
{
    tern_strided view[4], y = tern_view_shaped(p->y, p->shape);
    const tern_batch_norm_args args = arguments(p, view);
    tern_exec exec = tern_exec_of(tern_dev(p->y));
    TERN_TRY(tern_kernels_of(exec.device)->batch_norm(&exec, &args, &y));
    tern_tensor *const changed[] = {p->running_mean, p->running_var, p->batches};
    for (int i = 0; p->batch && i < 3; i++)
        if (changed[i])
            tern_tensor_touched(changed[i]);
    return TERN_OK;
}

static tern_tensor *finish(tern_node *node, tern_op_call *call, const tern_batch_norm *p)
{
    const bool scaled = p->relu || (node && tern_node_needs(node, AFFINE_X));
    tern_tensor *const saved[] = {[SAVED_X] = p->x,
                                  [SAVED_WEIGHT] = scaled ? p->weight : NULL,
                                  [SAVED_BIAS] = p->relu ? p->bias : NULL,
                                  [SAVED_MEAN] = p->mean,
                                  [SAVED_RSTD] = p->rstd};
    call->attrs = (tern_op_attrs){
        .i = {p->shape.dim[0], p->shape.dim[1], p->shape.dim[2], p->batch, p->relu}};
    return tern_op_end_begun(node, call, p->y, saved, SAVED_RSTD + 1);
}

// The node is begun before the kernel runs: a call that fails leaves the running statistics as they
// were.
tern_tensor *tern_batch_norm_run(tern_op_call *call, tern_batch_norm *p)
{
    tern_node *node;
    if (allocate(call, p) || tern_node_begin(&node, call->op, call->in, call->count, 1))
        return NULL;
    if (launch(p) == TERN_OK)
        return finish(node, call, p);
    tern_node_end(node);
    return NULL;
}

tern_tensor *tern_batch_norm_with(const tern_batch_norm_options *options)
{
    static const tern_op op = {"batch_norm", {"x", "weight", "bias"}, tern_batch_norm_backward};
    if (!options)
        return (void)tern_null_error("batch_norm", "options"), NULL;
    tern_op_call call = {.op = &op, .in = {options->x, options->weight, options->bias}};
    if (tern_affine_begin(&call) || check(&call, options))
        return NULL;
    tern_batch_norm p = {.batch = options->training,
                         .relu = options->activation == TERN_ACT_RELU,
                         .momentum = options->momentum,
                         .eps = options->eps,
                         .running_mean = options->running_mean,
                         .running_var = options->running_var,
                         .batches = options->training ? options->num_batches_tracked : NULL};
    return tern_batch_norm_run(&call, &p);
}
