// SPDX-License-Identifier: Apache-2.0
// Cross-entropy of raw logits: log-softmax, weights, smoothing and reduction in one pass; and
// negative log-likelihood, which is that of logarithms of probabilities.
#include "ops/launch.h"
#include "ops/pointwise_loss.h"

// What a call works on: logits (N, C, S), labels (N, S) or probabilities (N, C, S), weight (C) or
// NULL.
typedef struct problem {
    tern_op_call call; // input, target, weight
    tern_tensor *x, *target, *weight;
    tern_tensor *lse, *total, *loss;
    int64_t batch, classes, space;
    tern_cross_entropy_options options;
    bool probabilities;     // in the target
    bool log_probabilities; // in the input
} problem;

// The class dimension: the only one, or the second.
static int class_dim(const tern_tensor *input)
{
    return input->rank > 1 ? 1 : 0;
}

static tern_shape without_classes(const tern_tensor *input)
{
    tern_shape shape = {0};
    for (int i = 0; i < input->rank; i++)
        if (i != class_dim(input))
            shape.dim[shape.rank++] = input->size[i];
    return shape;
}

static tern_status check_labels(const problem *p)
{
    const tern_tensor *input = p->call.in[0], *target = p->call.in[1];
    const char *op = p->call.op->name;
    tern_shape samples = without_classes(input), labels = tern_shape_get(target);
    bool floating = tern_dtype_is_floating(target->dtype);
    TERN_CHECK(target->dtype == TERN_INT64 || (floating && !p->log_probabilities), TERN_ERR_DTYPE,
               "%s: target is %s: labels must be int64 (tern_to_dtype makes them so)%s%s", op,
               tern_tensor_string(target), p->log_probabilities ? "" : ", probabilities ",
               p->log_probabilities ? "" : tern_dtype_name(input->dtype));
    TERN_CHECK(!floating, TERN_ERR_SHAPE,
               "%s: input %s and target %s: probabilities need the input's shape (labels are "
               "int64)",
               op, tern_shape_string(tern_shape_get(input)), tern_shape_string(labels));
    TERN_CHECK(tern_shape_equal(samples, labels), TERN_ERR_SHAPE,
               "%s: input %s and target %s: labels of this input are %s", op,
               tern_shape_string(tern_shape_get(input)), tern_shape_string(labels),
               tern_shape_string(samples));
    return TERN_OK;
}

static tern_status check_probabilities(const problem *p)
{
    const tern_tensor *input = p->call.in[0], *target = p->call.in[1];
    TERN_CHECK(
        target->dtype == input->dtype, TERN_ERR_DTYPE,
        "cross_entropy: input is %s and the probabilities in target are %s: convert one with "
        "tern_to_dtype",
        tern_dtype_name(input->dtype), tern_dtype_name(target->dtype));
    TERN_CHECK(p->options.ignore_index < 0, TERN_ERR_ARG,
               "cross_entropy: ignore_index is %lld, but target holds probabilities, not labels",
               (long long)p->options.ignore_index);
    return TERN_OK;
}

static tern_status check_options(const problem *p)
{
    const tern_cross_entropy_options *o = &p->options;
    const tern_tensor *input = p->call.in[0], *weight = p->weight;
    const char *op = p->call.op->name;
    TERN_CHECK(o->label_smoothing >= 0 && o->label_smoothing <= 1, TERN_ERR_ARG,
               "%s: label_smoothing is %g, but must be 0 to 1", op, o->label_smoothing);
    TERN_TRY(tern_loss_reduction(op, o->reduction));
    TERN_CHECK(!weight || weight->dtype == input->dtype, TERN_ERR_DTYPE,
               "%s: input is %s and weight is %s: convert one with tern_to_dtype", op,
               tern_dtype_name(input->dtype), tern_dtype_name(weight->dtype));
    TERN_CHECK(!weight || (weight->rank == 1 && weight->size[0] == p->classes), TERN_ERR_SHAPE,
               "%s: input %s has %lld classes and weight is %s", op,
               tern_shape_string(tern_shape_get(input)), (long long)p->classes,
               tern_shape_string(tern_shape_get(weight)));
    return TERN_OK;
}

static tern_status check(problem *p)
{
    const tern_tensor *input = p->call.in[0], *target = p->call.in[1];
    const char *op = p->call.op->name;
    TERN_CHECK(tern_dtype_is_floating(input->dtype), TERN_ERR_DTYPE,
               "%s: input is %s, but %s have a floating dtype", op, tern_tensor_string(input),
               p->log_probabilities ? "logarithms of probabilities" : "raw logits");
    TERN_CHECK(input->rank > 0, TERN_ERR_SHAPE,
               "%s: input has no dimensions; it must be (N, C), (N, C, ..) or (C)", op);
    p->classes = input->size[class_dim(input)];
    TERN_CHECK(p->classes > 0, TERN_ERR_SHAPE, "%s: input %s has no classes", op,
               tern_shape_string(tern_shape_get(input)));
    p->batch = input->rank > 1 ? input->size[0] : 1;
    p->space = 1;
    for (int i = 2; i < input->rank; i++)
        p->space *= input->size[i];
    p->probabilities = !p->log_probabilities && tern_dtype_is_floating(target->dtype) &&
                       tern_shape_equal(tern_shape_get(input), tern_shape_get(target));
    TERN_TRY(check_options(p));
    return p->probabilities ? check_probabilities(p) : check_labels(p);
}

static tern_status allocate(problem *p)
{
    tern_device device = p->call.device;
    tern_dtype exact = p->x->dtype == TERN_FLOAT64 ? TERN_FLOAT64 : TERN_FLOAT32;
    tern_shape rows = {2, {p->batch, p->space}};
    bool each = p->options.reduction == TERN_REDUCTION_NONE;
    p->lse = tern_tensor_new("cross_entropy", exact, device, rows);
    p->total = tern_tensor_new("cross_entropy", exact, device, (tern_shape){0});
    p->loss = tern_tensor_new("cross_entropy", p->x->dtype, device,
                              each ? without_classes(p->call.in[0]) : (tern_shape){0});
    return p->lse && p->total && p->loss ? TERN_OK : tern_failed();
}

static tern_cross_entropy_args arguments(const problem *p, const tern_strided *weight)
{
    tern_shape logits = {3, {p->batch, p->classes, p->space}}, rows = {2, {p->batch, p->space}};
    bool each = p->options.reduction == TERN_REDUCTION_NONE;
    return (tern_cross_entropy_args){
        .x = tern_view_shaped(p->x, logits),
        .target = tern_view_shaped(p->target, p->probabilities ? logits : rows),
        .weight = p->weight ? weight : NULL,
        .probabilities = p->probabilities,
        .log_probabilities = p->log_probabilities,
        .ignore_index = p->options.ignore_index,
        .label_smoothing = p->options.label_smoothing,
        .reduction = p->options.reduction,
        .lse = tern_view_of(p->lse),
        .total = tern_view_flat(p->total),
        .loss = each ? tern_view_shaped(p->loss, rows) : tern_view_flat(p->loss),
    };
}

static tern_status launch(const problem *p)
{
    tern_strided weight = p->weight ? tern_view_of(p->weight) : (tern_strided){0};
    tern_cross_entropy_args args = arguments(p, &weight);
    tern_exec exec = tern_exec_of(p->call.device);
    if (!p->probabilities)
        exec.location = tern_fault_location(p->call.op->name, "label of sample", p->classes);
    TERN_TRY(tern_kernels_of(p->call.device)->cross_entropy(&exec, &args));
    return p->call.device.type == TERN_CPU ? tern_fault_poll(p->call.device) : TERN_OK;
}

// ---- backward -----------------------------------------------------------------------------------

enum { SAVED_X, SAVED_TARGET, SAVED_WEIGHT, SAVED_LSE, SAVED_TOTAL };

static void restore(tern_node *node, problem *p)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    *p = (problem){.x = tern_node_saved(node, SAVED_X),
                   .target = tern_node_saved(node, SAVED_TARGET),
                   .weight = tern_node_saved(node, SAVED_WEIGHT),
                   .lse = tern_node_saved(node, SAVED_LSE),
                   .total = tern_node_saved(node, SAVED_TOTAL),
                   .batch = attrs->i[0],
                   .classes = attrs->i[1],
                   .space = attrs->i[2],
                   .probabilities = attrs->i[3],
                   .log_probabilities = attrs->i[6],
                   .options = {.ignore_index = attrs->i[4],
                               .reduction = (tern_reduction)attrs->i[5],
                               .label_smoothing = attrs->d[0]}};
}

static tern_status input_gradient(problem *p, tern_tensor **dx)
{
    dx[0] = tern_empty_like(p->x);
    if (!dx[0])
        return tern_failed();
    if (p->x->numel == 0)
        return TERN_OK;
    tern_strided weight = p->weight ? tern_view_of(p->weight) : (tern_strided){0};
    tern_cross_entropy_args args = arguments(p, &weight);
    tern_strided dxv = tern_view_shaped(dx[0], (tern_shape){3, {p->batch, p->classes, p->space}});
    tern_exec exec = tern_exec_of(tern_dev(p->x));
    return tern_kernels_of(exec.device)->cross_entropy_grad(&exec, &args, &dxv, &args.loss);
}

// Of the probabilities: -w log p (1 - smoothing) dloss, over N S for the mean.
static tern_status target_gradient(problem *p, tern_tensor **dx)
{
    tern_shape logits = {3, {p->batch, p->classes, p->space}};
    tern_shape one = {3, {1, 1, 1}}, rows = {3, {p->batch, 1, p->space}};
    bool each = p->options.reduction == TERN_REDUCTION_NONE;
    double scale = p->options.label_smoothing - 1;
    if (p->options.reduction == TERN_REDUCTION_MEAN)
        scale /= (double)(p->batch * p->space);
    tern_tensor *slope = tern_log_softmax(tern_reshape(p->x, logits), 1);
    if (p->weight)
        slope = tern_mul(slope, tern_reshape(p->weight, (tern_shape){3, {1, p->classes, 1}}));
    slope = tern_mul(slope, tern_mul_scalar(tern_reshape(p->loss, each ? rows : one), scale));
    dx[1] = slope ? tern_reshape(slope, tern_shape_get(p->target)) : NULL;
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
        (tern_op_attrs){.d = {p->options.label_smoothing},
                        .i = {p->batch, p->classes, p->space, p->probabilities,
                              p->options.ignore_index, p->options.reduction, p->log_probabilities}};
    tern_tensor *saved[] = {[SAVED_X] = p->x,
                            [SAVED_TARGET] = p->target,
                            [SAVED_WEIGHT] = p->weight,
                            [SAVED_LSE] = p->lse,
                            [SAVED_TOTAL] = p->total};
    return tern_op_end(&p->call, p->loss, saved, 5);
}

static tern_tensor *run(problem *p)
{
    if (p->options.reduction == TERN_REDUCTION_UNSPECIFIED)
        p->options.reduction = TERN_REDUCTION_MEAN;
    p->call.count = 3;
    p->call.in[0] = p->options.input;
    p->call.in[1] = p->options.target;
    p->call.in[2] = p->options.weight;
    if (tern_op_begin_present(&p->call, 2, TERN_OP_PLAIN))
        return NULL;
    p->weight = p->call.in[2];
    if (check(p))
        return NULL;
    p->x = tern_make_contiguous(p->call.in[0]);
    p->target = tern_make_contiguous(p->call.in[1]);
    if (!p->x || !p->target || (p->weight && !(p->weight = tern_make_contiguous(p->weight))))
        return NULL;
    return allocate(p) || launch(p) ? NULL : end(p);
}

tern_tensor *tern_cross_entropy_with(const tern_cross_entropy_options *options)
{
    static const tern_op op = {
        "cross_entropy", {"input", "target", "weight"}, cross_entropy_backward};
    if (!options)
        return (void)tern_null_error(op.name, "options"), NULL;
    return run(&(problem){.call = {.op = &op}, .options = *options});
}

tern_tensor *tern_nll_loss_with(const tern_nll_loss_options *options)
{
    static const tern_op op = {"nll_loss", {"input", "target", "weight"}, cross_entropy_backward};
    if (!options)
        return (void)tern_null_error(op.name, "options"), NULL;
    return run(&(problem){.call = {.op = &op},
                          .log_probabilities = true,
                          .options = {.input = options->input,
                                      .target = options->target,
                                      .weight = options->weight,
                                      .ignore_index = options->ignore_index,
                                      .reduction = options->reduction}});
}
