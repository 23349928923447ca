// SPDX-License-Identifier: Apache-2.0
// Cross-entropy of the logits that a linear layer gives, a chunk of the samples after the other, so
// that the logits of all of them are never there. Where the losses are reduced, the forward makes
// the gradients of each chunk while it has the logits, and the backward multiplies them by the
// gradient of the loss (Hsu et al. 2024, Liger Kernel); where they are not, the backward makes the
// logits again.
#include "ops/cross_entropy.h"
#include "ops/pointwise_loss.h"

enum { INPUT, LINEAR_WEIGHT, TARGET, LINEAR_BIAS, WEIGHT, OPERANDS };

// Samples whose logits are made at once, more where those are fewer than so many elements. Of 256
// samples the product that adds to the weight's gradient is a fifth slower.
enum { CHUNK_SAMPLES = 288, CHUNK_ELEMENTS = 65536 };

// What a call works on.
typedef struct problem {
    tern_entropy e;
    tern_device device;
    tern_tensor *in[OPERANDS]; // contiguous: (N, In), (C S, In), the target, (C S), (C)
    int64_t features, outputs; // of the linear layer: In, C S
    tern_tensor *losses;       // (N, S)
    tern_tensor *total;        // (): the divisor of the mean
    tern_tensor *dloss;        // of the result; NULL: no gradients are made
    tern_tensor *dx[OPERANDS]; // those that are
} problem;

// The samples that are worked on, and the memory for all such chunks.
typedef struct chunk {
    int64_t first, count;
    tern_tensor *logits; // and then their gradients
    tern_tensor *lse, *total, *sums;
} chunk;

// ---- a chunk ------------------------------------------------------------------------------------

// Samples from `first` on of a tensor (N, ..) in a shape whose first size is their number.
static tern_strided samples_of(const tern_tensor *t, int64_t first, tern_shape shape)
{
    int64_t size = tern_element_size(t->dtype);
    for (int i = 1; i < shape.rank; i++)
        size *= shape.dim[i];
    return tern_view_contiguous((char *)tern_view_data(t) + first * size, t->dtype, shape);
}

static tern_strided matrix(const tern_tensor *t, int64_t rows, int64_t columns)
{
    return samples_of(t, 0, (tern_shape){2, {rows, columns}});
}

static tern_strided transposed(tern_strided view)
{
    tern_view_transpose(&view);
    return view;
}

static tern_status multiply(const problem *p, tern_strided y, tern_strided a, tern_strided b,
                            const tern_strided *bias, bool accumulate)
{
    tern_product product = {.y = y, .a = a, .b = b, .bias = bias, .accumulate = accumulate};
    return tern_launch_product(p->device, &product);
}

// The losses of the samples and, if they are wanted, the gradients of their logits in place of
// those.
static tern_status cross_entropies(const problem *p, const chunk *c)
{
    const tern_entropy *e = &p->e;
    tern_shape logits = {3, {c->count, e->classes, e->space}}, rows = {2, {c->count, e->space}};
    bool each = e->reduction == TERN_REDUCTION_NONE;
    tern_strided weight, dloss;
    tern_cross_entropy_args args = tern_entropy_args(e, &weight);
    args.x = samples_of(c->logits, 0, logits);
    args.target = samples_of(p->in[TARGET], c->first, e->probabilities ? logits : rows);
    args.lse = samples_of(c->lse, 0, rows);
    args.total = tern_view_flat(c->total);
    args.loss = samples_of(p->losses, c->first, rows);
    args.reduction = TERN_REDUCTION_NONE;
    tern_exec exec = tern_exec_of(p->device);
    exec.location = tern_fault_location(e->op, "label in a chunk, at", e->classes);
    TERN_TRY(tern_kernels_of(p->device)->cross_entropy(&exec, &args));
    if (!p->dloss)
        return TERN_OK;
    dloss = each ? samples_of(p->dloss, c->first, rows) : tern_view_flat(p->dloss);
    if (!each)
        args.total = tern_view_flat(p->total);
    args.reduction = e->reduction;
    return tern_kernels_of(p->device)->cross_entropy_grad(&exec, &args, &args.x, &dloss);
}

// The sums over the samples, which keep more digits than a product would.
static tern_status bias_gradient(const problem *p, const chunk *c)
{
    tern_tensor *db = p->dx[LINEAR_BIAS], *sums = c->first > 0 ? c->sums : db;
    const int64_t stride[] = {p->outputs, 1};
    const tern_tensor *dz =
        tern_tensor_alias(p->e.op, c->logits, (tern_shape){2, {c->count, p->outputs}}, stride, 0);
    if (!dz)
        return tern_error_code();
    TERN_TRY(tern_launch_reduce(TERN_REDUCE_SUM, 0, sums, dz, (tern_shape){2, {1, p->outputs}}));
    return sums == db ? TERN_OK : tern_launch_binary(TERN_BINARY_ADD, 1, db, db, sums);
}

static tern_status gradients(const problem *p, const chunk *c, tern_strided x, tern_strided dz)
{
    tern_tensor *const *dx = p->dx;
    const bool later = c->first > 0;
    if (dx[INPUT])
        TERN_TRY(multiply(p,
                          samples_of(dx[INPUT], c->first, (tern_shape){2, {c->count, p->features}}),
                          dz, matrix(p->in[LINEAR_WEIGHT], p->outputs, p->features), NULL, false));
    if (dx[LINEAR_WEIGHT])
        TERN_TRY(multiply(p, matrix(dx[LINEAR_WEIGHT], p->outputs, p->features), transposed(dz), x,
                          NULL, later));
    return dx[LINEAR_BIAS] ? bias_gradient(p, c) : TERN_OK;
}

static tern_status run_chunk(const problem *p, const chunk *c)
{
    const tern_tensor *bias = p->in[LINEAR_BIAS];
    tern_strided biases = bias ? tern_view_flat(bias) : (tern_strided){0};
    tern_strided x = samples_of(p->in[INPUT], c->first, (tern_shape){2, {c->count, p->features}});
    tern_strided z = matrix(c->logits, c->count, p->outputs);
    tern_strided w = matrix(p->in[LINEAR_WEIGHT], p->outputs, p->features);
    TERN_TRY(multiply(p, z, x, transposed(w), bias ? &biases : NULL, false));
    if (c->count * p->outputs > 0)
        TERN_TRY(cross_entropies(p, c));
    return gradients(p, c, x, z);
}

// There is one, also of no samples.
static tern_status run_chunks(const problem *p)
{
    const char *op = p->e.op;
    int64_t count = CHUNK_ELEMENTS / (p->outputs + 1);
    count = count < CHUNK_SAMPLES ? CHUNK_SAMPLES : count;
    count = count < p->e.batch ? count : p->e.batch;
    tern_shape logits = {2, {count, p->outputs}}, rows = {2, {count, p->e.space}};
    chunk c = {.logits = tern_tensor_new(op, p->e.dtype, p->device, logits),
               .lse = tern_tensor_new(op, p->e.dtype, p->device, rows),
               .total = tern_tensor_new(op, p->e.dtype, p->device, (tern_shape){0}),
               .sums = p->dx[LINEAR_BIAS] ? tern_new_like(p->dx[LINEAR_BIAS]) : NULL};
    if (!c.logits || !c.lse || !c.total || (p->dx[LINEAR_BIAS] && !c.sums))
        return tern_failed();
    do {
        c.count = p->e.batch - c.first < count ? p->e.batch - c.first : count;
        TERN_TRY(run_chunk(p, &c));
        c.first += count;
    } while (c.first < p->e.batch);
    return TERN_OK;
}

// ---- backward -----------------------------------------------------------------------------------

static void set_sizes(problem *p)
{
    p->features = p->in[INPUT]->size[p->in[INPUT]->rank - 1];
    p->outputs = p->e.classes * p->e.space;
}

static void restore(tern_node *node, problem *p)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    for (int i = 0; i < OPERANDS; i++)
        p->in[i] = tern_node_saved(node, i);
    p->device = tern_dev(p->in[INPUT]);
    p->e = (tern_entropy){.op = "linear_cross_entropy",
                          .dtype = p->in[INPUT]->dtype,
                          .weight = p->in[WEIGHT],
                          .reduction = TERN_REDUCTION_NONE,
                          .ignore_index = attrs->i[1],
                          .batch = attrs->i[2],
                          .classes = attrs->i[3],
                          .space = attrs->i[4],
                          .probabilities = attrs->i[5],
                          .label_smoothing = attrs->d[0]};
    set_sizes(p);
}

// Of losses that are not reduced.
static tern_status gradients_of_each(tern_node *node, tern_tensor *dloss, tern_tensor **dx)
{
    problem p = {.dloss = tern_make_contiguous(dloss)};
    restore(node, &p);
    p.losses = p.dloss ? tern_new_like(p.dloss) : NULL;
    if (!p.losses)
        return tern_failed();
    for (int i = 0; i < WEIGHT; i++)
        if (tern_node_needs(node, i) && !(p.dx[i] = dx[i] = tern_node_grad_new(node, i)))
            return tern_failed();
    return run_chunks(&p);
}

static tern_status linear_cross_entropy_backward(tern_node *node, tern_tensor *const *dy,
                                                 tern_tensor **dx)
{
    if (tern_node_attrs(node)->i[0] == TERN_REDUCTION_NONE)
        return gradients_of_each(node, dy[0], dx);
    for (int i = 0; i < WEIGHT; i++) {
        if (!tern_node_needs(node, i))
            continue;
        dx[i] = tern_node_grad_new(node, i);
        if (!dx[i])
            return tern_failed();
        TERN_TRY(tern_launch_binary(TERN_BINARY_MUL, 1, dx[i], tern_node_saved(node, i), dy[0]));
    }
    return TERN_OK;
}

// ---- forward ------------------------------------------------------------------------------------

// What the labels' weights add up to. A label out of range goes to the fault record here, before
// anything is computed of it, with the number of its sample.
static tern_tensor *sum_weights(const problem *p)
{
    tern_tensor *target = p->in[TARGET], *weight = p->in[WEIGHT];
    tern_tensor *ignored = tern_eq_scalar(target, p->e.ignore_index);
    tern_tensor *label = tern_masked_fill(target, ignored, 0);
    if (!weight)
        weight = tern_ones(tern_dims(p->e.classes), .dtype = p->e.dtype, .device = p->device);
    tern_tensor *own = tern_tensor_new(p->e.op, p->e.dtype, p->device, tern_shape_get(target));
    if (!label || !weight || !own)
        return NULL;
    tern_strided to = tern_view_flat(own), from = tern_view_flat(weight);
    tern_strided index = tern_view_flat(label);
    tern_exec exec = tern_exec_of(p->device);
    exec.location = tern_fault_location(p->e.op, "label of sample", p->e.classes);
    if (target->numel > 0 && tern_kernels_of(p->device)->gather(&exec, &to, &from, &index, 0))
        return NULL;
    if (p->device.type == TERN_CPU && tern_fault_poll(p->device))
        return NULL;
    return tern_sum_all(tern_masked_fill(own, ignored, 0));
}

static tern_status find_total(problem *p)
{
    const double samples = (double)(p->e.batch * p->e.space);
    tern_no_grad {
        p->total = p->e.probabilities
                       ? tern_full(tern_dims(), samples, .dtype = p->e.dtype, .device = p->device)
                       : sum_weights(p);
    }
    return p->total ? TERN_OK : tern_failed();
}

// Of what requires one, where the losses are reduced.
static tern_status prepare_gradients(problem *p, const tern_op_call *call)
{
    bool wanted = false;
    if (!tern_grad_enabled() || p->e.reduction == TERN_REDUCTION_NONE)
        return TERN_OK;
    for (int i = 0; i < WEIGHT; i++) {
        if (!call->in[i] || !call->in[i]->requires_grad)
            continue;
        p->dx[i] = tern_new_like(p->in[i]);
        if (!p->dx[i])
            return tern_failed();
        wanted = true;
    }
    if (!wanted)
        return TERN_OK;
    p->dloss = tern_ones(tern_dims(), .dtype = p->e.dtype, .device = p->device);
    return p->dloss ? TERN_OK : tern_failed();
}

static tern_tensor *reduce(const problem *p)
{
    if (p->e.reduction == TERN_REDUCTION_NONE)
        return p->losses;
    tern_shape ones = {.rank = p->losses->rank};
    for (int i = 0; i < ones.rank; i++)
        ones.dim[i] = 1;
    tern_tensor *loss = tern_tensor_new(p->e.op, p->e.dtype, p->device, (tern_shape){0});
    if (!loss || tern_launch_reduce(TERN_REDUCE_SUM, 0, loss, p->losses, ones))
        return NULL;
    const bool mean = p->e.reduction == TERN_REDUCTION_MEAN;
    return mean && tern_launch_binary(TERN_BINARY_DIV, 1, loss, loss, p->total) ? NULL : loss;
}

static tern_tensor *run(problem *p, tern_op_call *call)
{
    const tern_entropy *e = &p->e;
    const bool each = e->reduction == TERN_REDUCTION_NONE;
    for (int i = 0; i < OPERANDS; i++)
        if (call->in[i] && !(p->in[i] = tern_make_contiguous(call->in[i])))
            return NULL;
    p->e.weight = p->in[WEIGHT];
    set_sizes(p);
    p->losses = tern_tensor_new(e->op, e->dtype, p->device, tern_entropy_losses(e));
    if (!p->losses || find_total(p) || prepare_gradients(p, call) || run_chunks(p))
        return NULL;
    call->count = WEIGHT; // no gradient flows to it
    call->attrs = (tern_op_attrs){
        .d = {e->label_smoothing},
        .i = {e->reduction, e->ignore_index, e->batch, e->classes, e->space, e->probabilities}};
    return tern_op_end(call, reduce(p), each ? p->in : p->dx, OPERANDS);
}

// Where the target requires a gradient, which is of the logits' size.
static tern_tensor *of_all_logits(const problem *p, const tern_op_call *call)
{
    const tern_entropy *e = &p->e;
    tern_tensor *x = call->in[INPUT], *weight = call->in[LINEAR_WEIGHT];
    tern_tensor *bias = call->in[LINEAR_BIAS];
    const int64_t features = x->size[x->rank - 1], outputs = e->classes * e->space;
    weight = tern_reshape(weight, tern_dims(outputs, features));
    if (bias)
        bias = tern_reshape(bias, tern_dims(outputs));
    tern_tensor *logits = tern_reshape(tern_linear(x, weight, bias, TERN_ACT_NONE), e->shape);
    return tern_cross_entropy(logits, e->target, .weight = e->weight,
                              .label_smoothing = e->label_smoothing, .reduction = e->reduction);
}

// ---- the call -----------------------------------------------------------------------------------

static tern_status check_dtypes(const tern_op_call *call)
{
    const tern_dtype dtype = call->in[INPUT]->dtype;
    TERN_CHECK(tern_dtype_is_floating(dtype), TERN_ERR_DTYPE,
               "linear_cross_entropy: input is %s, but must have a floating dtype",
               tern_dtype_name(dtype));
    for (int i = LINEAR_WEIGHT; i <= LINEAR_BIAS; i++)
        TERN_CHECK(i == TARGET || !call->in[i] || call->in[i]->dtype == dtype, TERN_ERR_DTYPE,
                   "linear_cross_entropy: input is %s and %s is %s: convert one with tern_to_dtype",
                   tern_dtype_name(dtype), call->op->inputs[i],
                   tern_dtype_name(call->in[i]->dtype));
    return TERN_OK;
}

// Finds the shape of the logits.
static tern_status check_shapes(const tern_op_call *call, tern_shape *logits)
{
    tern_shape x = tern_shape_get(call->in[INPUT]);
    tern_shape weight = tern_shape_get(call->in[LINEAR_WEIGHT]);
    TERN_CHECK(x.rank == 1 || x.rank == 2, TERN_ERR_SHAPE,
               "linear_cross_entropy: input is %s, but must be (N, In) or (In)",
               tern_shape_string(x));
    TERN_CHECK(weight.rank >= 2, TERN_ERR_SHAPE,
               "linear_cross_entropy: linear_weight is %s, but must be (C, In) or (C, .., In)",
               tern_shape_string(weight));
    const int64_t features = weight.dim[--weight.rank];
    TERN_CHECK(x.dim[x.rank - 1] == features, TERN_ERR_SHAPE,
               "linear_cross_entropy: input %s has %lld features and linear_weight %lld",
               tern_shape_string(x), (long long)x.dim[x.rank - 1], (long long)features);
    TERN_CHECK(weight.rank == 1 || x.rank == 2, TERN_ERR_SHAPE,
               "linear_cross_entropy: input %s needs a batch, as each sample has losses %s",
               tern_shape_string(x), tern_shape_string(weight));
    const tern_tensor *bias = call->in[LINEAR_BIAS];
    TERN_CHECK(!bias || tern_shape_equal(tern_shape_get(bias), weight), TERN_ERR_SHAPE,
               "linear_cross_entropy: linear_bias is %s, but must be %s",
               tern_shape_string(tern_shape_get(bias)), tern_shape_string(weight));
    *logits = (tern_shape){0};
    if (x.rank == 2)
        logits->dim[logits->rank++] = x.dim[0];
    for (int i = 0; i < weight.rank; i++)
        logits->dim[logits->rank++] = weight.dim[i];
    return TERN_OK;
}

static tern_status check(problem *p, const tern_op_call *call)
{
    TERN_TRY(check_dtypes(call));
    p->device = call->device;
    p->e.dtype = call->in[INPUT]->dtype;
    p->e.target = call->in[TARGET];
    p->e.weight = call->in[WEIGHT];
    TERN_TRY(check_shapes(call, &p->e.shape));
    return tern_entropy_check(&p->e);
}

static tern_tensor *call_with(const tern_linear_cross_entropy_options *o);

// Gradients of many samples are added, and small ones must not vanish before they are multiplied.
static tern_tensor *in_float32(const tern_linear_cross_entropy_options *options,
                               const tern_op_call *call)
{
    tern_linear_cross_entropy_options o = *options;
    tern_tensor **const operands[OPERANDS] = {&o.input, &o.linear_weight, &o.target, &o.linear_bias,
                                              &o.weight};
    const tern_dtype dtype = call->in[INPUT]->dtype;
    for (int i = 0; i < OPERANDS; i++) {
        tern_tensor *t = call->in[i];
        if (t && tern_dtype_is_floating(t->dtype) && !(t = tern_to_dtype(t, TERN_FLOAT32)))
            return NULL;
        *operands[i] = t;
    }
    return tern_to_dtype(call_with(&o), dtype);
}

static tern_tensor *call_with(const tern_linear_cross_entropy_options *o)
{
    static const tern_op op = {"linear_cross_entropy",
                               {"input", "linear_weight", "target", "linear_bias", "weight"},
                               linear_cross_entropy_backward};
    tern_op_call call = {.op = &op,
                         .count = OPERANDS,
                         .in = {o->input, o->linear_weight, o->target, o->linear_bias, o->weight}};
    const bool ignores = o->ignore_index != TERN_IGNORE_INDEX_UNSPECIFIED;
    problem p = {.e = {.op = op.name,
                       .logits = "logits",
                       .ignores = ignores,
                       .ignore_index = ignores ? o->ignore_index : -100,
                       .label_smoothing = o->label_smoothing,
                       .reduction = o->reduction}};
    if (tern_op_begin_present(&call, LINEAR_BIAS, TERN_OP_PLAIN) || check(&p, &call))
        return NULL;
    if (p.e.dtype == TERN_FLOAT16 || p.e.dtype == TERN_BFLOAT16)
        return in_float32(o, &call);
    return p.e.target->requires_grad && tern_grad_enabled() ? of_all_logits(&p, &call)
                                                            : run(&p, &call);
}

tern_tensor *tern_linear_cross_entropy_with(const tern_linear_cross_entropy_options *options)
{
    if (!options)
        return (void)tern_null_error("linear_cross_entropy", "options"), NULL;
    tern_scope scope = tern_scope_open(); // scratch and gradients are not the caller's
    return scope ? tern_scope_close_keep(scope, call_with(options)) : NULL;
}
