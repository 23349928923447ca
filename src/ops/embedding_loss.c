// SPDX-License-Identifier: Apache-2.0
// Losses of how far embeddings are from each other.
#include <math.h>
#include "ops/launch.h"
#include "ops/pointwise_loss.h"

// Three inputs of one dtype, of which the first two have one shape, of at least a dimension.
static tern_status begin(tern_op_call *call)
{
    call->count = 3;
    TERN_TRY(tern_op_begin(call, TERN_OP_SAME_DTYPE | TERN_OP_ONLY_FLOATING));
    tern_shape second = tern_shape_get(call->in[1]);
    TERN_CHECK(tern_shape_equal(call->shape, second) && second.rank > 0, TERN_ERR_SHAPE,
               "%s: %s %s and %s %s must have one shape, (.., D)", call->op->name,
               call->op->inputs[0], tern_shape_string(call->shape), call->op->inputs[1],
               tern_shape_string(second));
    return TERN_OK;
}

// 16 bits become float32: sums would be rounded again and again.
static tern_tensor *upcast(tern_tensor *t)
{
    const bool half = t->dtype == TERN_FLOAT16 || t->dtype == TERN_BFLOAT16;
    return half ? tern_to_dtype(t, TERN_FLOAT32) : t;
}

static tern_tensor *downcast(tern_tensor *loss, tern_dtype dtype)
{
    return loss && loss->dtype != dtype ? tern_to_dtype(loss, dtype) : loss;
}

// ---- cosine -------------------------------------------------------------------------------------

static tern_tensor *dot(tern_tensor *a, tern_tensor *b)
{
    return tern_sum(tern_mul(a, b), tern_axes(-1), false);
}

static tern_tensor *cosine(tern_tensor *a, tern_tensor *b)
{
    const double eps = 1e-12f; // as PyTorch rounds it
    tern_tensor *a_square = tern_add_scalar(dot(a, a), eps);
    tern_tensor *b_square = tern_add_scalar(dot(b, b), eps);
    return tern_div(dot(a, b), tern_sqrt(tern_mul(a_square, b_square)));
}

tern_tensor *tern_cosine_embedding_loss_with(const tern_margin_loss_options *o)
{
    static const tern_op op = {"cosine_embedding_loss", {"input1", "input2", "target"}, NULL};
    static const tern_op of_cosine = {
        "cosine_embedding_loss", {"the cosine", "target"}, tern_loss_backward};
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    tern_op_call call = {.op = &op, .in = {o->input1, o->input2, o->target}};
    if (begin(&call) || tern_loss_reduction(op.name, o->reduction))
        return NULL;
    tern_shape samples = call.shape, target = tern_shape_get(call.in[2]);
    samples.rank--;
    TERN_CHECK_PTR(call.shape.rank <= 2 && tern_shape_equal(samples, target), TERN_ERR_SHAPE,
                   "cosine_embedding_loss: input1 %s and target %s must be (N, D) and (N,), or "
                   "(D,) and ()",
                   tern_shape_string(call.shape), tern_shape_string(target));
    return downcast(tern_loss_run(&(tern_loss_call){
                        .op = &of_cosine,
                        .code = TERN_LOSS_COSINE_EMBEDDING,
                        .rule = "target must be 1 or -1",
                        .in = {cosine(upcast(call.in[0]), upcast(call.in[1])), upcast(call.in[2])},
                        .a = o->margin,
                        .reduction = o->reduction}),
                    call.dtype);
}

// ---- triplets -----------------------------------------------------------------------------------

// How two batches are compared.
typedef struct metric {
    tern_distance_fn *distance; // NULL: the p-norm
    void *user;
    double p, eps;
} metric;

static tern_tensor *distance(const metric *m, tern_tensor *a, tern_tensor *b)
{
    if (m->distance)
        return m->distance(a, b, m->user);
    return tern_norm(tern_add_scalar(tern_sub(a, b), m->eps), m->p, tern_axes(-1), false);
}

static tern_status begin_triplet(tern_op_call *call, double margin, tern_reduction reduction)
{
    const char *op = call->op->name;
    TERN_TRY(begin(call));
    tern_shape third = tern_shape_get(call->in[2]);
    TERN_CHECK(tern_shape_equal(call->shape, third), TERN_ERR_SHAPE,
               "%s: anchor %s and negative %s must have one shape, (.., D)", op,
               tern_shape_string(call->shape), tern_shape_string(third));
    TERN_TRY(tern_loss_reduction(op, reduction));
    return tern_loss_above_0(op, "margin", margin);
}

// max(0, margin + distance to the positive - distance to the negative).
static tern_tensor *run_triplet(tern_op_call *call, const metric *m, bool swap, double margin,
                                tern_reduction reduction)
{
    if (begin_triplet(call, margin, reduction))
        return NULL;
    tern_tensor *t[3];
    for (int i = 0; i < 3; i++)
        t[i] = m->distance ? call->in[i] : upcast(call->in[i]);
    tern_tensor *near = distance(m, t[0], t[1]);
    tern_tensor *far = near ? distance(m, t[0], t[2]) : NULL;
    if (far && swap)
        far = tern_minimum(far, distance(m, t[1], t[2]));
    const tern_op *of_distances = call->op + 1;
    return downcast(tern_loss_run(&(tern_loss_call){.op = of_distances,
                                                    .code = TERN_LOSS_MARGIN,
                                                    .in = {near, far},
                                                    .a = margin,
                                                    .reduction = reduction}),
                    call->dtype);
}

// The call, and the loss of the distances.
#define TRIPLET_OPS(name)                                                                          \
    {                                                                                              \
        {name, {"anchor", "positive", "negative"}, NULL},                                          \
        {                                                                                          \
            name, {"the distance to the positive", "that to the negative"}, tern_loss_backward     \
        }                                                                                          \
    }

tern_tensor *tern_triplet_margin_loss_with(const tern_triplet_margin_loss_options *o)
{
    static const tern_op ops[] = TRIPLET_OPS("triplet_margin_loss");
    if (!o)
        return (void)tern_null_error(ops->name, "options"), NULL;
    TERN_CHECK_PTR(!isnan(o->p) && !isnan(o->eps), TERN_ERR_ARG,
                   "triplet_margin_loss: p is %g and eps is %g, but must be numbers", o->p, o->eps);
    tern_op_call call = {.op = ops, .in = {o->anchor, o->positive, o->negative}};
    const metric norm = {.p = o->p, .eps = o->eps};
    return run_triplet(&call, &norm, o->swap, o->margin, o->reduction);
}

tern_tensor *tern_triplet_margin_with_distance_loss_with(const tern_triplet_distance_options *o)
{
    static const tern_op ops[] = TRIPLET_OPS("triplet_margin_with_distance_loss");
    if (!o)
        return (void)tern_null_error(ops->name, "options"), NULL;
    tern_op_call call = {.op = ops, .in = {o->anchor, o->positive, o->negative}};
    const metric m = {.distance = o->distance, .user = o->user, .p = 2, .eps = 1e-6};
    return run_triplet(&call, &m, o->swap, o->margin, o->reduction);
}
