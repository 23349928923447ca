// SPDX-License-Identifier: Apache-2.0
// Losses of margins between the scores of a sample's own classes and those of the others.
#include "ops/launch.h"
#include "ops/pointwise_loss.h"

typedef struct margin_options {
    tern_tensor *weight; // (C) or NULL
    int64_t p;
    double margin;
    bool lists; // the target has classes up to a -1
} margin_options;

static tern_class_margin_args arguments(tern_tensor *const *in, const margin_options *o,
                                        tern_strided *weight)
{
    const tern_tensor *x = in[0];
    const int64_t classes = x->size[x->rank - 1], samples = x->rank > 1 ? x->size[0] : 1;
    tern_shape scores = {2, {samples, classes}}, one = {2, {samples, 1}};
    if (in[2])
        *weight = tern_view_flat(in[2]);
    return (tern_class_margin_args){.x = tern_view_shaped(x, scores),
                                    .target = tern_view_shaped(in[1], o->lists ? scores : one),
                                    .weight = in[2] ? weight : NULL,
                                    .lists = o->lists,
                                    .p = (int)o->p,
                                    .margin = o->margin};
}

static tern_status margin_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    const margin_options o = {.p = attrs->i[0], .lists = attrs->i[1], .margin = attrs->d[0]};
    tern_tensor *in[] = {tern_node_saved(node, 0), tern_node_saved(node, 1),
                         tern_node_saved(node, 2)};
    tern_tensor *dloss = tern_make_contiguous(dy[0]);
    dx[0] = tern_new_like(in[0]);
    if (!dloss || !dx[0])
        return tern_failed();
    if (dx[0]->numel == 0)
        return TERN_OK;
    tern_strided weight;
    const tern_class_margin_args args = arguments(in, &o, &weight);
    tern_strided dxv = tern_view_shaped(dx[0], (tern_shape){2, {args.x.size[0], args.x.size[1]}});
    tern_strided dlossv = tern_view_flat(dloss);
    tern_exec exec = tern_exec_of(tern_dev(in[0]));
    return tern_kernels_of(exec.device)->class_margin_grad(&exec, &args, &dxv, &dlossv);
}

static tern_status check(const tern_op_call *call, const margin_options *o)
{
    const tern_tensor *input = call->in[0], *target = call->in[1], *weight = call->in[2];
    const char *op = call->op->name;
    tern_shape shape = tern_shape_get(input), wanted = shape;
    TERN_CHECK(tern_dtype_is_floating(input->dtype), TERN_ERR_DTYPE,
               "%s: input is %s, but must have a floating dtype", op,
               tern_dtype_name(input->dtype));
    TERN_CHECK((input->rank == 1 || input->rank == 2) && shape.dim[shape.rank - 1] > 0,
               TERN_ERR_SHAPE, "%s: input is %s, but must be (N, C) or (C), of some classes", op,
               tern_shape_string(shape));
    TERN_CHECK(target->dtype == TERN_INT64, TERN_ERR_DTYPE,
               "%s: target is %s, but classes are int64 (tern_to_dtype makes them so)", op,
               tern_dtype_name(target->dtype));
    wanted.rank -= o->lists ? 0 : 1;
    TERN_CHECK(tern_shape_equal(tern_shape_get(target), wanted), TERN_ERR_SHAPE,
               "%s: input %s and target %s: the classes of this input are %s", op,
               tern_shape_string(shape), tern_shape_string(tern_shape_get(target)),
               tern_shape_string(wanted));
    TERN_CHECK(!weight || weight->dtype == input->dtype, TERN_ERR_DTYPE,
               "%s: input is %s and weight is %s: convert one with tern_to_dtype", op,
               tern_dtype_name(input->dtype), tern_dtype_name(weight->dtype));
    TERN_CHECK(!weight || (weight->rank == 1 && weight->size[0] == shape.dim[shape.rank - 1]),
               TERN_ERR_SHAPE, "%s: input %s has %lld classes and weight is %s", op,
               tern_shape_string(shape), (long long)shape.dim[shape.rank - 1],
               tern_shape_string(tern_shape_get(weight)));
    return TERN_OK;
}

// The losses of the samples.
static tern_tensor *run(const tern_op *op, tern_tensor *input, tern_tensor *target,
                        const margin_options *o)
{
    tern_op_call call = {.op = op, .count = 3, .in = {input, target, o->weight}};
    if (tern_op_begin_present(&call, 2, TERN_OP_PLAIN) || check(&call, o))
        return NULL;
    tern_tensor *saved[3] = {NULL};
    for (int i = 0; i < 3; i++)
        if (call.in[i] && !(saved[i] = tern_make_contiguous(call.in[i])))
            return NULL;
    tern_shape samples = {input->rank - 1, {input->rank > 1 ? input->size[0] : 0}};
    tern_tensor *loss = tern_tensor_new(op->name, call.dtype, call.device, samples);
    if (!loss)
        return NULL;
    tern_strided weight, lossv = tern_view_flat(loss);
    const tern_class_margin_args args = arguments(saved, o, &weight);
    tern_exec exec = tern_exec_of(call.device);
    exec.location =
        tern_fault_location(op->name, o->lists ? "target" : "label of sample", args.x.size[1]);
    if (tern_kernels_of(call.device)->class_margin(&exec, &args, &lossv) ||
        (call.device.type == TERN_CPU && tern_fault_poll(call.device)))
        return NULL;
    call.count = 1; // no gradient flows to the weight
    call.attrs = (tern_op_attrs){.i = {o->p, o->lists}, .d = {o->margin}};
    return tern_op_end(&call, loss, saved, 3);
}

tern_status tern_loss_check_power(const char *op, int64_t p)
{
    TERN_CHECK(p == 1 || p == 2, TERN_ERR_ARG, "%s: p is %lld, but must be 1 or 2", op,
               (long long)p);
    return TERN_OK;
}

tern_tensor *tern_multi_margin_loss_with(const tern_multi_margin_loss_options *o)
{
    static const tern_op op = {"multi_margin_loss", {"input", "target", "weight"}, margin_backward};
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    if (tern_loss_check_power(op.name, o->p) || tern_loss_reduction(op.name, o->reduction))
        return NULL;
    const margin_options options = {.weight = o->weight, .p = o->p, .margin = o->margin};
    return tern_loss_reduce(run(&op, o->input, o->target, &options), o->reduction);
}

tern_tensor *tern_multilabel_margin_loss(tern_tensor *input, tern_tensor *target,
                                         tern_reduction reduction)
{
    static const tern_op op = {"multilabel_margin_loss", {"input", "target"}, margin_backward};
    if (tern_loss_reduction(op.name, reduction))
        return NULL;
    const margin_options options = {.p = 1, .margin = 1, .lists = true};
    return tern_loss_reduce(run(&op, input, target, &options), reduction);
}
