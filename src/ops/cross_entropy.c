// SPDX-License-Identifier: Apache-2.0
// Cross-entropy of raw logits: log-softmax, weights, smoothing and reduction in one pass; and
// negative log-likelihood, which is that of logarithms of probabilities.
#include "ops/cross_entropy.h"
#include "ops/pointwise_loss.h"

// What a call works on, contiguous once it was checked.
typedef struct problem {
    tern_op_call call; // input, target, weight
    tern_entropy e;
    tern_tensor *x, *lse, *total, *loss;
} problem;

// ---- what fits ----------------------------------------------------------------------------------

// The class dimension: the only one, or the second.
static int class_dim(const tern_entropy *e)
{
    return e->shape.rank > 1 ? 1 : 0;
}

tern_shape tern_entropy_losses(const tern_entropy *e)
{
    tern_shape shape = {0};
    for (int i = 0; i < e->shape.rank; i++)
        if (i != class_dim(e))
            shape.dim[shape.rank++] = e->shape.dim[i];
    return shape;
}

static tern_status check_labels(const tern_entropy *e)
{
    const tern_tensor *target = e->target;
    tern_shape samples = tern_entropy_losses(e), labels = tern_shape_get(target);
    bool floating = tern_dtype_is_floating(target->dtype);
    TERN_CHECK(target->dtype == TERN_INT64 || (floating && !e->log_probabilities), TERN_ERR_DTYPE,
               "%s: target is %s: labels must be int64 (tern_to_dtype makes them so)%s%s", e->op,
               tern_tensor_string(target), e->log_probabilities ? "" : ", probabilities ",
               e->log_probabilities ? "" : tern_dtype_name(e->dtype));
    TERN_CHECK(!floating, TERN_ERR_SHAPE,
               "%s: %s %s and target %s: probabilities need the same shape (labels are int64)",
               e->op, e->logits, tern_shape_string(e->shape), tern_shape_string(labels));
    TERN_CHECK(tern_shape_equal(samples, labels), TERN_ERR_SHAPE,
               "%s: %s %s and target %s: labels of this input are %s", e->op, e->logits,
               tern_shape_string(e->shape), tern_shape_string(labels), tern_shape_string(samples));
    return TERN_OK;
}

static tern_status check_probabilities(const tern_entropy *e)
{
    TERN_CHECK(
        e->target->dtype == e->dtype, TERN_ERR_DTYPE,
        "%s: input is %s and the probabilities in target are %s: convert one with tern_to_dtype",
        e->op, tern_dtype_name(e->dtype), tern_dtype_name(e->target->dtype));
    TERN_CHECK(!e->ignores, TERN_ERR_ARG,
               "%s: ignore_index is %lld, but target holds probabilities, not labels", e->op,
               (long long)e->ignore_index);
    return TERN_OK;
}

static tern_status check_options(const tern_entropy *e)
{
    const tern_tensor *weight = e->weight;
    TERN_CHECK(e->label_smoothing >= 0 && e->label_smoothing <= 1, TERN_ERR_ARG,
               "%s: label_smoothing is %g, but must be 0 to 1", e->op, e->label_smoothing);
    TERN_TRY(tern_loss_reduction(e->op, e->reduction));
    TERN_CHECK(!weight || weight->dtype == e->dtype, TERN_ERR_DTYPE,
               "%s: input is %s and weight is %s: convert one with tern_to_dtype", e->op,
               tern_dtype_name(e->dtype), tern_dtype_name(weight->dtype));
    TERN_CHECK(!weight || (weight->rank == 1 && weight->size[0] == e->classes), TERN_ERR_SHAPE,
               "%s: %s %s has %lld classes and weight is %s", e->op, e->logits,
               tern_shape_string(e->shape), (long long)e->classes,
               tern_shape_string(tern_shape_get(weight)));
    return TERN_OK;
}

tern_status tern_entropy_check(tern_entropy *e)
{
    e->classes = e->shape.dim[class_dim(e)];
    TERN_CHECK(e->classes > 0, TERN_ERR_SHAPE, "%s: %s %s has no classes", e->op, e->logits,
               tern_shape_string(e->shape));
    e->batch = e->shape.rank > 1 ? e->shape.dim[0] : 1;
    e->space = 1;
    for (int i = 2; i < e->shape.rank; i++)
        e->space *= e->shape.dim[i];
    e->probabilities = !e->log_probabilities && tern_dtype_is_floating(e->target->dtype) &&
                       tern_shape_equal(e->shape, tern_shape_get(e->target));
    TERN_TRY(check_options(e));
    if (e->reduction == TERN_REDUCTION_UNSPECIFIED)
        e->reduction = TERN_REDUCTION_MEAN;
    return e->probabilities ? check_probabilities(e) : check_labels(e);
}

static tern_status check(problem *p)
{
    const tern_tensor *input = p->call.in[0];
    TERN_CHECK(tern_dtype_is_floating(input->dtype), TERN_ERR_DTYPE,
               "%s: input is %s, but %s have a floating dtype", p->e.op, tern_tensor_string(input),
               p->e.log_probabilities ? "logarithms of probabilities" : "raw logits");
    TERN_CHECK(input->rank > 0, TERN_ERR_SHAPE,
               "%s: input has no dimensions; it must be (N, C), (N, C, ..) or (C)", p->e.op);
    p->e.shape = tern_shape_get(input);
    p->e.dtype = input->dtype;
    p->e.target = p->call.in[1];
    p->e.weight = p->call.in[2];
    return tern_entropy_check(&p->e);
}

// ---- forward ------------------------------------------------------------------------------------

static tern_status allocate(problem *p)
{
    tern_device device = p->call.device;
    tern_dtype exact = p->x->dtype == TERN_FLOAT64 ? TERN_FLOAT64 : TERN_FLOAT32;
    tern_shape rows = {2, {p->e.batch, p->e.space}};
    bool each = p->e.reduction == TERN_REDUCTION_NONE;
    p->lse = tern_tensor_new("cross_entropy", exact, device, rows);
    p->total = tern_tensor_new("cross_entropy", exact, device, (tern_shape){0});
    p->loss = tern_tensor_new("cross_entropy", p->x->dtype, device,
                              each ? tern_entropy_losses(&p->e) : (tern_shape){0});
    return p->lse && p->total && p->loss ? TERN_OK : tern_failed();
}

tern_cross_entropy_args tern_entropy_args(const tern_entropy *e, tern_strided *weight)
{
    if (e->weight)
        *weight = tern_view_of(e->weight);
    return (tern_cross_entropy_args){
        .weight = e->weight ? weight : NULL,
        .probabilities = e->probabilities,
        .log_probabilities = e->log_probabilities,
        .ignore_index = e->ignore_index,
        .label_smoothing = e->label_smoothing,
        .reduction = e->reduction,
    };
}

static tern_cross_entropy_args arguments(const problem *p, tern_strided *weight)
{
    const tern_entropy *e = &p->e;
    tern_shape logits = {3, {e->batch, e->classes, e->space}}, rows = {2, {e->batch, e->space}};
    tern_cross_entropy_args args = tern_entropy_args(e, weight);
    args.x = tern_view_shaped(p->x, logits);
    args.target = tern_view_shaped(p->e.target, e->probabilities ? logits : rows);
    args.lse = tern_view_of(p->lse);
    args.total = tern_view_flat(p->total);
    args.loss = e->reduction == TERN_REDUCTION_NONE ? tern_view_shaped(p->loss, rows)
                                                    : tern_view_flat(p->loss);
    return args;
}

static tern_status launch(const problem *p)
{
    tern_strided weight;
    tern_cross_entropy_args args = arguments(p, &weight);
    tern_exec exec = tern_exec_of(p->call.device);
    if (!p->e.probabilities)
        exec.location = tern_fault_location(p->e.op, "label of sample", p->e.classes);
    TERN_TRY(tern_kernels_of(p->call.device)->cross_entropy(&exec, &args));
    return p->call.device.type == TERN_CPU ? tern_fault_poll(p->call.device) : TERN_OK;
}

// ---- backward -----------------------------------------------------------------------------------

enum { SAVED_X, SAVED_TARGET, SAVED_WEIGHT, SAVED_LSE, SAVED_TOTAL };

static void restore(tern_node *node, problem *p)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    *p = (problem){.x = tern_node_saved(node, SAVED_X),
                   .lse = tern_node_saved(node, SAVED_LSE),
                   .total = tern_node_saved(node, SAVED_TOTAL),
                   .e = {.target = tern_node_saved(node, SAVED_TARGET),
                         .weight = tern_node_saved(node, SAVED_WEIGHT),
                         .batch = attrs->i[0],
                         .classes = attrs->i[1],
                         .space = attrs->i[2],
                         .probabilities = attrs->i[3],
                         .ignore_index = attrs->i[4],
                         .reduction = (tern_reduction)attrs->i[5],
                         .log_probabilities = attrs->i[6],
                         .label_smoothing = attrs->d[0]}};
}

static tern_status input_gradient(problem *p, tern_tensor **dx)
{
    dx[0] = tern_empty_like(p->x);
    if (!dx[0])
        return tern_failed();
    if (p->x->numel == 0)
        return TERN_OK;
    tern_strided weight;
    tern_cross_entropy_args args = arguments(p, &weight);
    tern_strided dxv =
        tern_view_shaped(dx[0], (tern_shape){3, {p->e.batch, p->e.classes, p->e.space}});
    tern_exec exec = tern_exec_of(tern_dev(p->x));
    return tern_kernels_of(exec.device)->cross_entropy_grad(&exec, &args, &dxv, &args.loss);
}

// Of the probabilities: -w log p (1 - smoothing) dloss, over N S for the mean.
static tern_status target_gradient(problem *p, tern_tensor **dx)
{
    tern_shape logits = {3, {p->e.batch, p->e.classes, p->e.space}};
    tern_shape one = {3, {1, 1, 1}}, rows = {3, {p->e.batch, 1, p->e.space}};
    bool each = p->e.reduction == TERN_REDUCTION_NONE;
    double scale = p->e.label_smoothing - 1;
    if (p->e.reduction == TERN_REDUCTION_MEAN)
        scale /= (double)(p->e.batch * p->e.space);
    tern_tensor *slope = tern_log_softmax(tern_reshape(p->x, logits), 1);
    if (p->e.weight)
        slope = tern_mul(slope, tern_reshape(p->e.weight, (tern_shape){3, {1, p->e.classes, 1}}));
    slope = tern_mul(slope, tern_mul_scalar(tern_reshape(p->loss, each ? rows : one), scale));
    dx[1] = slope ? tern_reshape(slope, tern_shape_get(p->e.target)) : NULL;
    return dx[1] ? TERN_OK : tern_failed();
}

static tern_status cross_entropy_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    problem p;
    restore(node, &p);
    p.loss = tern_make_contiguous(dy[0]); // from here on dloss, shaped as it
    if (!p.loss)
        return tern_failed();
    if (tern_node_needs(node, 0))
        TERN_TRY(input_gradient(&p, dx));
    return tern_node_needs(node, 1) ? target_gradient(&p, dx) : TERN_OK;
}

static tern_tensor *end(problem *p)
{
    p->call.count = 2; // no gradient flows to the weight
    p->call.attrs =
        (tern_op_attrs){.d = {p->e.label_smoothing},
                        .i = {p->e.batch, p->e.classes, p->e.space, p->e.probabilities,
                              p->e.ignore_index, p->e.reduction, p->e.log_probabilities}};
    tern_tensor *saved[] = {[SAVED_X] = p->x,
                            [SAVED_TARGET] = p->e.target,
                            [SAVED_WEIGHT] = p->e.weight,
                            [SAVED_LSE] = p->lse,
                            [SAVED_TOTAL] = p->total};
    return tern_op_end(&p->call, p->loss, saved, 5);
}

static tern_tensor *run(problem *p)
{
    p->call.count = 3;
    p->e.op = p->call.op->name;
    p->e.logits = "input";
    if (tern_op_begin_present(&p->call, 2, TERN_OP_PLAIN) || check(p))
        return NULL;
    p->x = tern_make_contiguous(p->call.in[0]);
    p->e.target = tern_make_contiguous(p->call.in[1]);
    p->e.weight = p->call.in[2] ? tern_make_contiguous(p->call.in[2]) : NULL;
    if (!p->x || !p->e.target || (p->call.in[2] && !p->e.weight))
        return NULL;
    return allocate(p) || launch(p) ? NULL : end(p);
}

tern_tensor *tern_cross_entropy_with(const tern_cross_entropy_options *o)
{
    static const tern_op op = {
        "cross_entropy", {"input", "target", "weight"}, cross_entropy_backward};
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    return run(&(problem){.call = {.op = &op, .in = {o->input, o->target, o->weight}},
                          .e = {.ignores = o->ignore_index >= 0,
                                .ignore_index = o->ignore_index,
                                .label_smoothing = o->label_smoothing,
                                .reduction = o->reduction}});
}

tern_tensor *tern_nll_loss_with(const tern_nll_loss_options *o)
{
    static const tern_op op = {"nll_loss", {"input", "target", "weight"}, cross_entropy_backward};
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    return run(&(problem){.call = {.op = &op, .in = {o->input, o->target, o->weight}},
                          .e = {.log_probabilities = true,
                                .ignore_index = o->ignore_index,
                                .reduction = o->reduction}});
}
