// SPDX-License-Identifier: Apache-2.0
// The pointwise losses: a function of input and target element by element, then mean or sum of
// them, or each.
#include "ops/pointwise_loss.h"

#include <math.h>
#include "ops/launch.h"
#include "tensor/liveness.h"

// ---- backward -----------------------------------------------------------------------------------

// The views that arguments point to.
typedef struct loss_views {
    tern_strided third, weight;
} loss_views;

static tern_loss_args arguments(const tern_op_attrs *attrs, tern_tensor *const *in,
                                loss_views *views)
{
    tern_loss_args args = {.code = (tern_loss_code)attrs->i[0],
                           .reduction = (tern_reduction)attrs->i[1],
                           .mean_of = attrs->i[2],
                           .a = attrs->d[0],
                           .b = attrs->d[1],
                           .x = tern_view_flat(in[LOSS_INPUT]),
                           .t = tern_view_flat(in[LOSS_TARGET])};
    if (in[LOSS_THIRD]) {
        views->third = tern_view_flat(in[LOSS_THIRD]);
        args.v = &views->third;
    }
    if (in[LOSS_WEIGHT]) {
        views->weight = tern_view_flat(in[LOSS_WEIGHT]);
        args.weight = &views->weight;
    }
    return args;
}

tern_status tern_loss_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *in[LOSS_INPUTS];
    for (int i = 0; i < LOSS_INPUTS; i++)
        in[i] = tern_node_saved(node, i);
    tern_tensor *dense = tern_make_contiguous(dy[0]);
    if (!dense)
        return tern_failed();
    loss_views views;
    tern_loss_args args = arguments(tern_node_attrs(node), in, &views);
    tern_strided dyv = tern_view_flat(dense);
    for (int i = 0; i < LOSS_WEIGHT; i++) {
        if (!tern_node_needs(node, i))
            continue;
        dx[i] = tern_new_like(in[i]);
        if (!dx[i])
            return tern_failed();
        tern_strided dxv = tern_view_flat(dx[i]);
        tern_exec exec = tern_exec_of(tern_dev(in[i]));
        if (dx[i]->numel > 0)
            TERN_TRY(tern_kernels_of(exec.device)->loss_grad(&exec, &args, i, &dxv, &dyv));
    }
    return TERN_OK;
}

// ---- forward ------------------------------------------------------------------------------------

tern_status tern_loss_reduction(const char *op, tern_reduction reduction)
{
    TERN_CHECK(reduction != TERN_REDUCTION_BATCHMEAN, TERN_ERR_ARG,
               "%s: the reduction batchmean is kl_div's alone", op);
    TERN_CHECK(reduction >= TERN_REDUCTION_UNSPECIFIED && reduction <= TERN_REDUCTION_NONE,
               TERN_ERR_ARG, "%s: %d is no reduction", op, (int)reduction);
    return TERN_OK;
}

tern_tensor *tern_loss_reduce(tern_tensor *losses, tern_reduction reduction)
{
    if (!losses || reduction == TERN_REDUCTION_NONE)
        return losses;
    return reduction == TERN_REDUCTION_SUM ? tern_sum_all(losses) : tern_mean_all(losses);
}

tern_status tern_loss_above_0(const char *op, const char *name, double value)
{
    TERN_CHECK(value > 0, TERN_ERR_ARG, "%s: %s is %g, but must be above 0", op, name, value);
    return TERN_OK;
}

tern_status tern_loss_not_below_0(const char *op, const char *name, double value)
{
    TERN_CHECK(value >= 0, TERN_ERR_ARG, "%s: %s is %g, but must not be below 0", op, name, value);
    return TERN_OK;
}

static tern_status check(const tern_op_call *call)
{
    const tern_op *op = call->op;
    for (int i = LOSS_TARGET; i < LOSS_WEIGHT; i++)
        TERN_CHECK(!call->in[i] || tern_shape_equal(call->shape, tern_shape_get(call->in[i])),
                   TERN_ERR_SHAPE,
                   "%s: %s %s and %s %s must have one shape (tern_reshape gives one that of the "
                   "other)",
                   op->name, op->inputs[0], tern_shape_string(call->shape), op->inputs[i],
                   tern_shape_string(tern_shape_get(call->in[i])));
    return TERN_OK;
}

// The weights become of the input's shape, without history.
static tern_status expand_weights(tern_op_call *call, bool third)
{
    for (int i = third ? LOSS_THIRD : LOSS_WEIGHT; i < LOSS_INPUTS; i++) {
        if (!call->in[i])
            continue;
        tern_shape own = tern_shape_get(call->in[i]), shape = call->shape;
        bool fits = own.rank <= shape.rank;
        for (int d = 1; fits && d <= own.rank; d++)
            fits = own.dim[own.rank - d] == shape.dim[shape.rank - d] || own.dim[own.rank - d] == 1;
        TERN_CHECK(fits, TERN_ERR_SHAPE, "%s: %s %s does not broadcast to input %s", call->op->name,
                   call->op->inputs[i], tern_shape_string(own), tern_shape_string(shape));
        call->in[i] = tern_detach(tern_expand(call->in[i], shape));
        if (!call->in[i])
            return tern_failed();
    }
    return TERN_OK;
}

static tern_status launch(const tern_op_call *call, tern_tensor *const *saved, tern_tensor *y,
                          const char *rule)
{
    loss_views views;
    tern_loss_args args = arguments(&call->attrs, saved, &views);
    tern_strided to = tern_view_flat(y);
    tern_exec exec = tern_exec_of(call->device);
    if (rule)
        exec.location = tern_fault_location(call->op->name, rule, TERN_FAULT_INVALID);
    TERN_TRY(tern_kernels_of(call->device)->loss(&exec, &args, &to));
    return rule && call->device.type == TERN_CPU ? tern_fault_poll(call->device) : TERN_OK;
}

tern_tensor *tern_loss_run(const tern_loss_call *loss)
{
    const tern_reduction reduction =
        loss->reduction == TERN_REDUCTION_UNSPECIFIED ? TERN_REDUCTION_MEAN : loss->reduction;
    tern_tensor *saved[LOSS_INPUTS] = {NULL};
    tern_op_call call = {.op = loss->op, .count = LOSS_INPUTS};
    memcpy(call.in, loss->in, sizeof loss->in);
    const bool third = loss->op->inputs[LOSS_THIRD] && !loss->third_is_weight;
    if (tern_op_begin_present(&call, third ? 3 : 2, TERN_OP_SAME_DTYPE | TERN_OP_ONLY_FLOATING) ||
        tern_loss_reduction(loss->op->name, reduction) ||
        expand_weights(&call, loss->third_is_weight) || check(&call))
        return NULL;
    for (int i = 0; i < LOSS_INPUTS; i++)
        if (call.in[i] && !(saved[i] = tern_make_contiguous(call.in[i])))
            return NULL;
    tern_shape shape = reduction == TERN_REDUCTION_NONE ? call.shape : (tern_shape){0};
    tern_tensor *y = tern_tensor_new(loss->op->name, call.dtype, call.device, shape);
    call.attrs =
        (tern_op_attrs){.i = {loss->code, reduction, loss->mean_of}, .d = {loss->a, loss->b}};
    if (!y || launch(&call, saved, y, loss->rule))
        return NULL;
    return tern_op_end(&call, y, saved, LOSS_INPUTS);
}

// ---- the public functions -----------------------------------------------------------------------

#define OP(function, ...) static const tern_op op = {#function, {__VA_ARGS__}, tern_loss_backward}

#define WITHOUT_OPTIONS(function, code_)                                                           \
    tern_tensor *tern_##function(tern_tensor *input, tern_tensor *target,                          \
                                 tern_reduction reduction)                                         \
    {                                                                                              \
        OP(function, "input", "target");                                                           \
        return tern_loss_run(&(tern_loss_call){                                                    \
            .op = &op, .code = TERN_LOSS_##code_, .in = {input, target}, .reduction = reduction}); \
    }
WITHOUT_OPTIONS(mse_loss, MSE)
WITHOUT_OPTIONS(l1_loss, L1)
WITHOUT_OPTIONS(soft_margin_loss, SOFT_MARGIN)

// tern_FUNCTION_with(o), o of a family: the names of its inputs, a check of the options, the call.
#define OF(function, family, inputs_, check, ...)                                                  \
    tern_tensor *tern_##function##_with(const tern_##family##_options *o)                          \
    {                                                                                              \
        OP(function, TERN_ARGUMENTS_ inputs_);                                                     \
        if (!o)                                                                                    \
            return (void)tern_null_error(op.name, "options"), NULL;                                \
        if (check)                                                                                 \
            return NULL;                                                                           \
        return tern_loss_run(                                                                      \
            &(tern_loss_call){.op = &op, .reduction = o->reduction, __VA_ARGS__});                 \
    }
#define PAIR           ("input", "target", NULL, "weight")
#define ABOVE_0(field) tern_loss_above_0(op.name, #field, o->field)

OF(smooth_l1_loss, smooth_l1_loss, PAIR, tern_loss_not_below_0(op.name, "beta", o->beta),
   .code = TERN_LOSS_SMOOTH_L1, .in = {o->input, o->target}, .a = o->beta)
OF(huber_loss, huber_loss, PAIR, ABOVE_0(delta), .code = TERN_LOSS_HUBER,
   .in = {o->input, o->target}, .a = o->delta)
OF(binary_cross_entropy, weighted_loss, PAIR, false, .code = TERN_LOSS_BCE,
   .rule = "every probability must be from 0 to 1", .in = {o->input, o->target, NULL, o->weight})
OF(binary_cross_entropy_with_logits, bce_with_logits, ("input", "target", "pos_weight", "weight"),
   false, .code = o->pos_weight ? TERN_LOSS_BCE_LOGITS_POSITIVE : TERN_LOSS_BCE_LOGITS,
   .in = {o->input, o->target, o->pos_weight, o->weight}, .third_is_weight = true)
OF(poisson_nll_loss, poisson_nll_loss, PAIR, ABOVE_0(eps),
   .code = o->log_input ? TERN_LOSS_POISSON_NLL_LOG : TERN_LOSS_POISSON_NLL,
   .in = {o->input, o->target}, .a = o->eps, .b = o->full)
OF(hinge_embedding_loss, hinge_embedding_loss, PAIR, false, .code = TERN_LOSS_HINGE_EMBEDDING,
   .rule = "target must be 1 or -1", .in = {o->input, o->target}, .a = o->margin)
OF(margin_ranking_loss, margin_loss, ("input1", "input2", "target"), false,
   .code = TERN_LOSS_MARGIN_RANKING, .rule = "target must be 1 or -1",
   .in = {o->input1, o->input2, o->target}, .a = o->margin)

tern_tensor *tern_kl_div_with(const tern_kl_div_options *o)
{
    OP(kl_div, "input", "target");
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    const bool batchmean = o->reduction == TERN_REDUCTION_BATCHMEAN;
    if (batchmean && tern_check_tensor(op.name, "input", o->input))
        return NULL;
    TERN_CHECK_PTR(!batchmean || o->input->rank > 0, TERN_ERR_SHAPE,
                   "kl_div: input has no dimensions, so there is no batch that batchmean counts");
    return tern_loss_run(
        &(tern_loss_call){.op = &op,
                          .code = o->log_target ? TERN_LOSS_KL_DIV_LOG : TERN_LOSS_KL_DIV,
                          .rule = o->log_target ? NULL : "target must be 0 or more",
                          .in = {o->input, o->target},
                          .reduction = batchmean ? TERN_REDUCTION_MEAN : o->reduction,
                          .mean_of = batchmean ? o->input->size[0] : 0});
}

// The variance in the input's shape, of which the last dimension may be of size 1, or missing.
static tern_tensor *expand_variance(tern_tensor *var, tern_tensor *input)
{
    tern_shape shape = tern_shape_get(input), own = tern_shape_get(var);
    if (tern_shape_equal(shape, own) || shape.rank == 0)
        return var;
    tern_shape without = shape, one = shape;
    without.rank--;
    one.dim[one.rank - 1] = 1;
    TERN_CHECK_PTR(tern_shape_equal(own, without) || tern_shape_equal(own, one), TERN_ERR_SHAPE,
                   "gaussian_nll_loss: input %s and var %s: it must be of the input's shape, but "
                   "for a last size of 1, or without that",
                   tern_shape_string(shape), tern_shape_string(own));
    return tern_expand(tern_reshape(var, one), shape);
}

tern_tensor *tern_gaussian_nll_loss_with(const tern_gaussian_nll_loss_options *o)
{
    OP(gaussian_nll_loss, "input", "target", "var");
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    if (tern_check_tensor(op.name, "input", o->input) ||
        tern_check_tensor(op.name, "var", o->var) || ABOVE_0(eps))
        return NULL;
    return tern_loss_run(
        &(tern_loss_call){.op = &op,
                          .code = TERN_LOSS_GAUSSIAN_NLL,
                          .rule = "var must be 0 or more",
                          .in = {o->input, o->target, expand_variance(o->var, o->input)},
                          .a = o->eps,
                          .b = o->full ? 0.9189385332046727 : 0, // log(2 pi) / 2
                          .reduction = o->reduction});
}

// The losses of the classes of a sample have their mean, the samples the reduction.
tern_tensor *tern_multilabel_soft_margin_loss_with(const tern_weighted_loss_options *o)
{
    OP(multilabel_soft_margin_loss, "input", "target", NULL, "weight");
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    if (tern_check_tensor(op.name, "input", o->input))
        return NULL;
    TERN_CHECK_PTR(o->input->rank > 0, TERN_ERR_SHAPE,
                   "multilabel_soft_margin_loss: input has no dimensions; it must be (.., C)");
    const bool sum = o->reduction == TERN_REDUCTION_SUM;
    tern_tensor *loss =
        tern_loss_run(&(tern_loss_call){.op = &op,
                                        .code = TERN_LOSS_BCE_LOGITS,
                                        .in = {o->input, o->target, NULL, o->weight},
                                        .reduction = sum ? TERN_REDUCTION_MEAN : o->reduction,
                                        .mean_of = sum ? o->input->size[o->input->rank - 1] : 0});
    return o->reduction == TERN_REDUCTION_NONE && loss ? tern_mean(loss, tern_axes(-1), false)
                                                       : loss;
}
