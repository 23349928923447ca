// SPDX-License-Identifier: Apache-2.0
// One call of tern for each instruction.
#include "run_tern.h"

void runner_begin(runner *r, tern_dtype dtype, tern_device device)
{
    *r = (runner){.dtype = dtype, .device = device};
    r->scopes[0] = tern_scope_open();
}

void runner_end(runner *r)
{
    tern_optim_free(r->optim);
    tern_scope_close(r->scopes[0]);
}

static tern_shape sizes_of(const instruction *ins)
{
    return tern_shape_make(ins->count, ins->n);
}

static tern_axis_list axes_of(const instruction *ins)
{
    return ins->count ? tern_axis_list_make(ins->count, ins->n) : TERN_ALL_AXES;
}

// ---- tensors -----------------------------------------------------------------------------------

static tern_tensor *elements(runner *r, tern_shape shape, uint64_t seed, bool requires_grad)
{
    double values[MOST_NUMEL];
    const int64_t numel = tern_shape_numel(shape);
    for (int64_t i = 0; i < numel; i++)
        values[i] = element_of(seed, i);
    tern_tensor *t = tern_from_data(shape, (const void *)values, .dtype = TERN_FLOAT64);
    t = tern_to(tern_to_dtype(t, r->dtype), r->device);
    return requires_grad ? tern_set_requires_grad(t, true) : t;
}

static tern_tensor *index_select(runner *r, const instruction *ins, tern_tensor *a)
{
    const tern_shape shape = tern_dims(ins->count - 1);
    tern_tensor *index = tern_from_data(shape, (const void *)(ins->n + 1), .dtype = TERN_INT64);
    return tern_index_select(a, (int)ins->n[0], tern_to(index, r->device));
}

static tern_tensor *cross_entropy(runner *r, const instruction *ins, tern_tensor *a)
{
    tern_tensor *labels =
        tern_from_data(tern_dims(ins->count), (const void *)ins->n, .dtype = TERN_INT64);
    return tern_cross_entropy(a, tern_to(labels, r->device), .label_smoothing = ins->number);
}

static tern_tensor *where(tern_tensor *a, tern_tensor *b, tern_tensor *c)
{
    return tern_where(tern_gt_scalar(a, 0), b, c);
}

static tern_status twice(tern_module *module, tern_tensors *in, void *user)
{
    (void)module;
    (*(int *)user)++;
    in->at[0] = tern_mul_scalar(in->at[0], 2);
    return tern_error_code();
}

static tern_status plus_one(tern_module *module, const tern_tensors *in, tern_tensors *out,
                            void *user)
{
    (void)module;
    (void)in;
    (*(int *)user)++;
    out->at[0] = tern_add_scalar(out->at[0], 1);
    return tern_error_code();
}

// The module is freed before its backward.
static tern_tensor *hooked(tern_tensor *a)
{
    int runs = 0;
    tern_module *net = tern_nn_sequential(tern_nn_identity(), tern_nn_tanh());
    assert_true(tern_module_add_forward_pre_hook(net, twice, &runs));
    assert_true(tern_module_add_forward_hook(net, plus_one, &runs));
    const uint64_t removed = tern_module_add_forward_hook(net, plus_one, &runs);
    tern_module_remove_hook(net, removed);
    tern_tensor *y = tern_forward(net, a);
    assert_int_equal(runs, 2);
    tern_module_free(net);
    return y;
}

// Batches die with the next one, so that each is copied out.
static tern_tensor *loaded(runner *r, const instruction *ins, tern_tensor *a)
{
    tern_tensor *parts[MOST_NUMEL], *joined;
    int64_t count = 0;
    tern_dataset *data = tern_data_tensors(a);
    tern_loader *loader =
        tern_loader_new(data, .batch_size = ins->n[0], .drop_last = ins->n[1], .device = r->device);
    tern_batch b;
    while (tern_loader_next(loader, &b)) {
        assert_int_equal(b.size, tern_size(b.x, 0));
        parts[count++] = tern_retain(tern_clone(b.x));
    }
    joined = tern_cat(parts, count, 0);
    for (int64_t i = 0; i < count; i++)
        tern_release(parts[i]);
    tern_loader_free(loader);
    tern_dataset_free(data);
    return joined;
}

// ---- families ----------------------------------------------------------------------------------

#define FUZZ_ONE(name)                                                                             \
    case OP_##name:                                                                                \
        return tern_##name(a);
#define FUZZ_TWO(name)                                                                             \
    case OP_##name:                                                                                \
        return tern_##name(a, b);

#define tern_gelu_tanh(a) tern_gelu(a, .approximate = TERN_APPROXIMATE_TANH)

static tern_tensor *elementwise(const instruction *ins, tern_tensor *a, tern_tensor *b)
{
    switch ((int)ins->op) {
        FUZZ_UNARY(FUZZ_ONE)
        FUZZ_BINARY(FUZZ_TWO)
    case OP_add_scalar:
        return tern_add_scalar(a, ins->number);
    case OP_sub_scalar:
        return tern_sub_scalar(a, ins->number);
    case OP_mul_scalar:
        return tern_mul_scalar(a, ins->number);
    case OP_div_scalar:
        return tern_div_scalar(a, ins->number);
    case OP_pow_scalar:
        return tern_pow_scalar(a, ins->number);
    case OP_leaky_relu:
        return tern_leaky_relu(a, ins->number);
    case OP_softplus:
        return tern_softplus(a, 2, 1e4);
    case OP_clamp:
        return tern_clamp(a, -1, 1);
    }
    return NULL;
}

static tern_tensor *reduction(const instruction *ins, tern_tensor *a)
{
    switch ((int)ins->op) {
    case OP_sum:
        return tern_sum(a, axes_of(ins), ins->flag);
    case OP_mean:
        return tern_mean(a, axes_of(ins), ins->flag);
    case OP_var:
        return tern_var(a, axes_of(ins), (int64_t)ins->number, ins->flag);
    case OP_norm:
        return tern_norm(a, 2, axes_of(ins), ins->flag);
    case OP_amax:
        return tern_amax(a, axes_of(ins), ins->flag);
    case OP_amin:
        return tern_amin(a, axes_of(ins), ins->flag);
    case OP_softmax:
        return tern_softmax(a, (int)ins->n[0]);
    case OP_log_softmax:
        return tern_log_softmax(a, (int)ins->n[0]);
    case OP_cumsum:
        return tern_cumsum(a, (int)ins->n[0]);
    }
    return NULL;
}

static tern_tensor *arrangement(runner *r, const instruction *ins, tern_tensor *a, tern_tensor *b)
{
    tern_tensor *both[] = {a, b};
    const int dim = (int)ins->n[0];
    const int64_t start = ins->n[1], length = ins->n[2], step = ins->n[3];
    switch ((int)ins->op) {
    case OP_reshape:
        return tern_reshape(a, sizes_of(ins));
    case OP_transpose:
        return tern_transpose(a, dim, (int)start);
    case OP_narrow:
        return tern_narrow(a, dim, start, length);
    case OP_slice:
        return tern_slice(a, dim, start, start + (length - 1) * step + 1, step);
    case OP_select:
        return tern_select(a, dim, start);
    case OP_expand:
        return tern_expand(a, sizes_of(ins));
    case OP_unsqueeze:
        return tern_unsqueeze(a, dim);
    case OP_squeeze:
        return tern_rank(a) ? tern_squeeze(a, dim) : NULL;
    case OP_detach:
        return tern_detach(a);
    case OP_clone:
        return tern_clone(a);
    case OP_index_select:
        return index_select(r, ins, a);
    case OP_cat:
        return tern_cat(both, 2, dim);
    case OP_stack:
        return tern_stack(both, 2, dim);
    }
    return NULL;
}

static tern_tensor *other(runner *r, const instruction *ins, tern_tensor *a, tern_tensor *b,
                          tern_tensor *c)
{
    switch ((int)ins->op) {
    case OP_matmul:
        return tern_matmul(a, b);
    case OP_linear:
        return tern_linear(a, b, c, ins->n[0] ? TERN_ACT_RELU : TERN_ACT_NONE);
    case OP_where:
        return where(a, b, c);
    case OP_mse_loss:
        return tern_mse_loss(a, b, TERN_REDUCTION_MEAN);
    case OP_cross_entropy:
        return cross_entropy(r, ins, a);
    case OP_constant:
        return elements(r, sizes_of(ins), ins->seed, false);
    case OP_hooked:
        return hooked(a);
    case OP_loader:
        return loaded(r, ins, a);
    case OP_leaf:
        return r->leaves[r->leaf_count++] = elements(r, sizes_of(ins), ins->seed, true);
    }
    return NULL;
}

static tern_tensor *change(const instruction *ins, tern_tensor *a, tern_tensor *b)
{
    switch ((int)ins->op) {
    case OP_copy_:
        return tern_copy_(a, b);
    case OP_fill_:
        return tern_fill_(a, ins->number);
    case OP_zero_:
        return tern_zero_(a);
    case OP_add_:
        return tern_add_(a, b, ins->number);
    case OP_mul_:
        return tern_mul_(a, b);
    case OP_add_scalar_:
        return tern_add_scalar_(a, ins->number);
    case OP_mul_scalar_:
        return tern_mul_scalar_(a, ins->number);
    }
    return NULL;
}

// ---- statements --------------------------------------------------------------------------------

static void make_optim(runner *r, int64_t kind)
{
    tern_tensor *const *params = r->leaves;
    const bool nesterov = kind == OPTIM_NESTEROV;
    if (kind == OPTIM_SGD || nesterov)
        r->optim = tern_optim_sgd(NULL, .params = params, .param_count = r->leaf_count,
                                  .lr = OPTIM_LR, .momentum = OPTIM_MOMENTUM,
                                  .weight_decay = OPTIM_DECAY, .nesterov = nesterov);
    else if (kind == OPTIM_ADAM)
        r->optim = tern_optim_adam(NULL, .params = params, .param_count = r->leaf_count,
                                   .lr = OPTIM_LR, .betas = {OPTIM_BETA1, OPTIM_BETA2},
                                   .eps = OPTIM_EPS, .weight_decay = OPTIM_DECAY);
    else
        r->optim = tern_optim_adamw(NULL, .params = params, .param_count = r->leaf_count,
                                    .lr = OPTIM_LR, .betas = {OPTIM_BETA1, OPTIM_BETA2},
                                    .eps = OPTIM_EPS, .weight_decay = OPTIM_DECAY);
    assert_no_error();
}

static tern_status backward(runner *r, const instruction *ins, tern_tensor *loss)
{
    const bool one = tern_numel(loss) == 1;
    tern_tensor *gradient = one ? NULL : elements(r, tern_shape_of(loss), ins->seed, false);
    return tern_backward(loss, .gradient = gradient, .retain_graph = ins->flag);
}

static void use_a_dead_tensor(tern_tensor *a)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *dead = tern_add_scalar(a, 1);
    tern_scope_close(scope);
    assert_null(tern_neg(dead));
    assert_error(TERN_ERR_STATE, "died");
}

static tern_tensor *mistaken(int64_t kind, tern_tensor *a)
{
    tern_tensor *none = NULL;
    switch (kind) {
    case 0:
        return tern_matmul(a, tern_zeros(tern_dims(9, 9, 9), .dtype = TERN_INT64));
    case 1:
        return tern_sum(a, tern_axes(8), false);
    case 2:
        return tern_reshape(a, tern_dims(tern_numel(a) + 1));
    case 3:
        return tern_select(a, 0, 1000);
    case 4:
        return tern_narrow(a, 0, 1, -1);
    default:
        return tern_add(a, none);
    }
}

// While an error is pending nothing works on, and nothing changes.
static void make_a_mistake(runner *r, int64_t kind, tern_tensor *a)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *wrong = mistaken(kind, a);
    const tern_status status = tern_error_code();
    assert_null(wrong);
    assert_int_not_equal(status, TERN_OK);
    assert_null(tern_exp(wrong));
    assert_null(tern_add_(a, wrong, 1));
    assert_int_equal(tern_backward(wrong), status);
    assert_int_not_equal(tern_optim_step(r->optim), TERN_OK);
    tern_scope_close(scope);
    char sentence[600];
    assert_int_equal(tern_error_take(sentence, sizeof sentence), status);
    assert_int_equal(tern_error_code(), TERN_OK);
}

static void close_scope(runner *r, tern_tensor *kept)
{
    const tern_scope scope = r->scopes[r->depth--];
    if (kept)
        assert_ptr_equal(tern_scope_close_keep(scope, kept), kept);
    else
        tern_scope_close(scope);
}

static tern_status statement(runner *r, const instruction *ins, tern_tensor *a)
{
    switch ((int)ins->op) {
    case OP_open:
        r->scopes[++r->depth] = tern_scope_open();
        return TERN_OK;
    case OP_close:
        close_scope(r, a);
        return TERN_OK;
    case OP_backward:
        return backward(r, ins, a);
    case OP_optim:
        make_optim(r, ins->n[0]);
        return TERN_OK;
    case OP_step:
        return tern_optim_step(r->optim);
    case OP_zero_grad:
        tern_optim_zero_grad(r->optim);
        return TERN_OK;
    case OP_clip:
        return tern_clip_grad_norm(NULL, ins->number, .optim = r->optim) ? TERN_OK
                                                                         : tern_error_code();
    case OP_dead:
        use_a_dead_tensor(a);
        return TERN_OK;
    default:
        make_a_mistake(r, ins->n[0], a);
        return TERN_OK;
    }
}

#define FUZZ_CASE(name) case OP_##name:

static tern_tensor *made(runner *r, const instruction *ins, tern_tensor *a, tern_tensor *b,
                         tern_tensor *c)
{
    switch ((int)ins->op) {
        FUZZ_UNARY(FUZZ_CASE)
        FUZZ_SCALAR(FUZZ_CASE)
        FUZZ_BINARY(FUZZ_CASE)
        return elementwise(ins, a, b);
        FUZZ_REDUCE(FUZZ_CASE)
        FUZZ_ALONG(FUZZ_CASE)
        return reduction(ins, a);
        FUZZ_ARRANGE(FUZZ_CASE)
        return arrangement(r, ins, a, b);
        FUZZ_CHANGE(FUZZ_CASE)
        return change(ins, a, b);
    default:
        return other(r, ins, a, b, c);
    }
}

tern_status runner_run(runner *r, const instruction *ins)
{
    tern_tensor *a = ins->a < 0 ? NULL : r->reg[ins->a];
    tern_tensor *b = ins->b < 0 ? NULL : r->reg[ins->b];
    tern_tensor *c = ins->c < 0 ? NULL : r->reg[ins->c];
    const bool is_change = ins->op >= OP_copy_ && ins->op <= OP_mul_scalar_;
    if (ins->out < 0 && !is_change)
        return statement(r, ins, a);
    const bool before = tern_set_grad_enabled(!ins->no_grad);
    tern_tensor *y = made(r, ins, a, b, c);
    (void)tern_set_grad_enabled(before);
    if (y && is_change)
        assert_ptr_equal(y, a);
    if (ins->out >= 0)
        r->reg[ins->out] = y;
    return y ? TERN_OK : tern_error_code();
}
