// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification: what a sequence of labels costs, wherever in the input its
// labels are.
#include "ops/launch.h"
#include "ops/pointwise_loss.h"
#include "tensor/liveness.h"

enum { INPUT, LABELS, INPUT_LENGTHS, TARGET_LENGTHS };
enum { SAVED_X, SAVED_LABELS, SAVED_PLAN, SAVED_ALPHA, SAVED_NLL, SAVED };

// What a call works on: (T, N, C), the labels (N, S) or all in one row, and the lengths.
typedef struct problem {
    const tern_ctc_loss_options *options;
    tern_tensor *x, *labels, *input_lengths, *target_lengths;
    tern_tensor *plan;
    int64_t times, samples, classes, max_labels;
} problem;

// ---- lengths ------------------------------------------------------------------------------------

static tern_status check_lengths(const problem *p, const char *name, tern_tensor **lengths)
{
    const tern_tensor *t = *lengths;
    TERN_CHECK(t->dtype == TERN_INT64, TERN_ERR_DTYPE, "ctc_loss: %s is %s, but must be int64",
               name, tern_dtype_name(t->dtype));
    TERN_CHECK(t->rank < 2 && t->numel == p->samples, TERN_ERR_SHAPE,
               "ctc_loss: %s is %s, but must have one length for each of %lld samples", name,
               tern_shape_string(tern_shape_get(t)), (long long)p->samples);
    *lengths = tern_make_contiguous(tern_to(*lengths, (tern_device){TERN_CPU, 0}));
    return *lengths ? TERN_OK : tern_failed();
}

static tern_status check_length(const char *name, int64_t sample, int64_t length, int64_t max)
{
    TERN_CHECK(length >= 0 && length <= max, TERN_ERR_ARG,
               "ctc_loss: %s of sample %lld is %lld, but must be 0 to %lld", name,
               (long long)sample, (long long)length, (long long)max);
    return TERN_OK;
}

// The plan of the kernels, on the host; the labels of sample n begin at n S, or behind the others.
static tern_status fill_plan(problem *p, int64_t *plan)
{
    const int64_t *times = tern_data(p->input_lengths), *labels = tern_data(p->target_lengths);
    const bool rows = p->labels->rank == 2;
    int64_t first = 0;
    for (int64_t n = 0; n < p->samples; n++) {
        TERN_TRY(check_length("input_lengths", n, times[n], p->times));
        TERN_TRY(check_length("target_lengths", n, labels[n],
                              rows ? p->labels->size[1] : p->labels->numel - first));
        plan[n * TERN_CTC_PLAN + TERN_CTC_TIMES] = times[n];
        plan[n * TERN_CTC_PLAN + TERN_CTC_LABELS] = labels[n];
        plan[n * TERN_CTC_PLAN + TERN_CTC_FIRST] = rows ? n * p->labels->size[1] : first;
        first += labels[n];
        p->max_labels = labels[n] > p->max_labels ? labels[n] : p->max_labels;
    }
    TERN_CHECK(rows || first == p->labels->numel, TERN_ERR_SHAPE,
               "ctc_loss: targets has %lld labels and target_lengths %lld together",
               (long long)p->labels->numel, (long long)first);
    return TERN_OK;
}

static tern_status make_plan(problem *p, tern_device device)
{
    tern_tensor *host = tern_tensor_new("ctc_loss", TERN_INT64, (tern_device){TERN_CPU, 0},
                                        (tern_shape){2, {p->samples, TERN_CTC_PLAN}});
    if (!host)
        return tern_failed();
    TERN_TRY(fill_plan(p, tern_data(host)));
    p->plan = tern_to(host, device);
    return p->plan ? TERN_OK : tern_failed();
}

// ---- kernels ------------------------------------------------------------------------------------

static tern_ctc_args arguments(tern_tensor *const *saved, tern_tensor *beta, int64_t blank,
                               bool zero_infinity)
{
    const tern_tensor *x = saved[SAVED_X];
    tern_shape shape = tern_shape_get(x);
    if (shape.rank == 2)
        shape = (tern_shape){3, {shape.dim[0], 1, shape.dim[1]}};
    return (tern_ctc_args){.x = tern_view_shaped(x, shape),
                           .labels = tern_view_flat(saved[SAVED_LABELS]),
                           .plan = tern_view_of(saved[SAVED_PLAN]),
                           .alpha = tern_view_of(saved[SAVED_ALPHA]),
                           .beta = beta ? tern_view_of(beta) : (tern_strided){0},
                           .nll = tern_view_flat(saved[SAVED_NLL]),
                           .blank = blank,
                           .zero_infinity = zero_infinity};
}

static tern_status ctc_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    tern_tensor *saved[SAVED];
    for (int i = 0; i < SAVED; i++)
        saved[i] = tern_node_saved(node, i);
    const tern_tensor *alpha = saved[SAVED_ALPHA];
    tern_tensor *dloss = tern_make_contiguous(dy[0]);
    tern_tensor *beta = tern_tensor_new("ctc_loss", alpha->dtype, tern_dev(alpha),
                                        (tern_shape){3, {alpha->size[0], 2, alpha->size[2]}});
    dx[0] = tern_new_like(saved[SAVED_X]);
    if (!dloss || !beta || !dx[0])
        return tern_failed();
    if (dx[0]->numel == 0)
        return TERN_OK;
    const tern_ctc_args args = arguments(saved, beta, attrs->i[0], attrs->i[1]);
    tern_strided dxv = tern_view_flat(dx[0]), dlossv = tern_view_flat(dloss);
    tern_exec exec = tern_exec_of(tern_dev(alpha));
    return tern_kernels_of(exec.device)->ctc_grad(&exec, &args, &dxv, &dlossv);
}

// ---- the call -----------------------------------------------------------------------------------

static tern_status check(problem *p)
{
    const tern_tensor *x = p->x, *labels = p->labels;
    const int64_t blank = p->options->blank;
    tern_shape shape = tern_shape_get(x);
    TERN_CHECK(tern_dtype_is_floating(x->dtype), TERN_ERR_DTYPE,
               "ctc_loss: log_probs is %s, but must have a floating dtype",
               tern_dtype_name(x->dtype));
    TERN_CHECK(x->rank == 2 || x->rank == 3, TERN_ERR_SHAPE,
               "ctc_loss: log_probs is %s, but must be (T, N, C) or (T, C)",
               tern_shape_string(shape));
    p->times = shape.dim[0];
    p->samples = x->rank == 3 ? shape.dim[1] : 1;
    p->classes = shape.dim[shape.rank - 1];
    TERN_CHECK(blank >= 0 && blank < p->classes, TERN_ERR_ARG,
               "ctc_loss: blank is %lld, but must be a class, 0 to %lld", (long long)blank,
               (long long)p->classes - 1);
    TERN_CHECK(labels->dtype == TERN_INT64, TERN_ERR_DTYPE,
               "ctc_loss: targets is %s, but classes are int64 (tern_to_dtype makes them so)",
               tern_dtype_name(labels->dtype));
    TERN_CHECK(labels->rank == 1 ||
                   (labels->rank == 2 && x->rank == 3 && labels->size[0] == p->samples),
               TERN_ERR_SHAPE,
               "ctc_loss: log_probs %s and targets %s: they must be (N, S), or the labels of all "
               "samples in one row",
               tern_shape_string(shape), tern_shape_string(tern_shape_get(labels)));
    TERN_TRY(check_lengths(p, "input_lengths", &p->input_lengths));
    return check_lengths(p, "target_lengths", &p->target_lengths);
}

static tern_status begin(problem *p, tern_op_call *call)
{
    const tern_ctc_loss_options *o = p->options;
    TERN_TRY(tern_op_begin(call, TERN_OP_PLAIN));
    TERN_TRY(tern_check_tensor("ctc_loss", "input_lengths", o->input_lengths));
    TERN_TRY(tern_check_tensor("ctc_loss", "target_lengths", o->target_lengths));
    p->x = call->in[INPUT];
    p->labels = call->in[LABELS];
    p->input_lengths = o->input_lengths;
    p->target_lengths = o->target_lengths;
    TERN_TRY(tern_loss_reduction("ctc_loss", o->reduction));
    TERN_TRY(check(p));
    return make_plan(p, call->device);
}

// The losses of the samples, (N), or one without a dimension.
static tern_tensor *run(problem *p)
{
    static const tern_op op = {"ctc_loss", {"log_probs", "targets"}, ctc_backward};
    const tern_ctc_loss_options *o = p->options;
    tern_op_call call = {.op = &op, .count = 2, .in = {o->log_probs, o->targets}};
    if (begin(p, &call))
        return NULL;
    tern_shape states = {3, {p->samples, p->times, 2 * p->max_labels + 1}};
    tern_shape each = {p->x->rank - 2, {p->samples}};
    tern_tensor *saved[SAVED] = {
        [SAVED_X] = tern_make_contiguous(p->x),
        [SAVED_LABELS] = tern_make_contiguous(p->labels),
        [SAVED_PLAN] = p->plan,
        [SAVED_ALPHA] = tern_tensor_new(op.name, call.dtype, call.device, states),
        [SAVED_NLL] = tern_tensor_new(op.name, call.dtype, call.device, each),
    };
    tern_tensor *loss = tern_tensor_new(op.name, call.dtype, call.device, each);
    for (int i = 0; i < SAVED; i++)
        if (!saved[i])
            return NULL;
    if (!loss)
        return NULL;
    const tern_ctc_args args = arguments(saved, NULL, o->blank, o->zero_infinity);
    tern_strided lossv = tern_view_flat(loss);
    tern_exec exec = tern_exec_of(call.device);
    exec.location = tern_fault_location(
        op.name, "every target must be a class other than the blank", TERN_FAULT_INVALID);
    if (tern_kernels_of(call.device)->ctc(&exec, &args, &lossv) ||
        (call.device.type == TERN_CPU && tern_fault_poll(call.device)))
        return NULL;
    call.count = 1;
    call.attrs = (tern_op_attrs){.i = {o->blank, o->zero_infinity}};
    return tern_op_end(&call, loss, saved, SAVED);
}

// For the mean each loss is divided by its number of labels, at least 1.
static tern_tensor *per_label(tern_tensor *loss, tern_tensor *lengths)
{
    tern_tensor *divisor = NULL;
    if (!loss)
        return NULL;
    tern_no_grad {
        divisor = tern_to_dtype(tern_clamp(lengths, 1, INFINITY), loss->dtype);
        divisor = tern_reshape(divisor, tern_shape_get(loss));
        divisor = divisor ? tern_to(divisor, tern_dev(loss)) : NULL;
    }
    return tern_div(loss, divisor);
}

tern_tensor *tern_ctc_loss_with(const tern_ctc_loss_options *options)
{
    if (!options)
        return (void)tern_null_error("ctc_loss", "options"), NULL;
    tern_ctc_loss_options o = *options;
    problem p = {.options = &o};
    const bool half = o.log_probs && !tern_check_tensor("ctc_loss", "log_probs", o.log_probs) &&
                      (o.log_probs->dtype == TERN_FLOAT16 || o.log_probs->dtype == TERN_BFLOAT16);
    if (tern_error_pending())
        return NULL;
    const tern_dtype dtype = half ? o.log_probs->dtype : TERN_DTYPE_UNSPECIFIED;
    if (half)
        o.log_probs = tern_to_dtype(o.log_probs, TERN_FLOAT32); // sums of many small numbers
    tern_tensor *loss = run(&p);
    const bool mean =
        o.reduction == TERN_REDUCTION_MEAN || o.reduction == TERN_REDUCTION_UNSPECIFIED;
    if (mean)
        loss = per_label(loss, p.target_lengths);
    loss = tern_loss_reduce(loss, o.reduction);
    return loss && half ? tern_to_dtype(loss, dtype) : loss;
}
