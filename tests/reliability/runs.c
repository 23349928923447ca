// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include "bits.h"
#include "support/declared.h"

typedef struct optimizer {
    const char *name, *note;
    tern_optim *(*make)(tern_module *net);
} optimizer;

typedef enum target_kind { LABELS, PROBABILITIES, SIGNS } target_kind;

typedef struct loss {
    const char *name, *note;
    tern_module *(*make)(int64_t classes);
    target_kind target;
    tern_tensor *(*value)(tern_module *criterion, tern_tensor *output, tern_tensor *y);
} loss;

#define OPTIMIZER(name, ...)                                                                       \
    static tern_optim *name(tern_module *net)                                                      \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }
OPTIMIZER(sgd, tern_optim_sgd(net, .lr = 0.05, .weight_decay = 0.01))
OPTIMIZER(nesterov, tern_optim_sgd(net, .lr = 0.02, .momentum = 0.9, .nesterov = true))
OPTIMIZER(adam, tern_optim_adam(net, .lr = 1e-2))
OPTIMIZER(amsgrad, tern_optim_adam(net, .lr = 1e-2, .amsgrad = true))
OPTIMIZER(adamw, tern_optim_adamw(net, .lr = 1e-2))
OPTIMIZER(rmsprop, tern_optim_rmsprop(net, .momentum = 0.5, .centered = true))
OPTIMIZER(adagrad, tern_optim_adagrad(net))
OPTIMIZER(adadelta, tern_optim_adadelta(net, .weight_decay = 0.01))
OPTIMIZER(adamax, tern_optim_adamax(net))
OPTIMIZER(radam, tern_optim_radam(net, .lr = 1e-2, .betas = {0.9, 0.95}))
OPTIMIZER(lion, tern_optim_lion(net, .weight_decay = 0.1))
OPTIMIZER(rprop, tern_optim_rprop(net))
OPTIMIZER(nadam, tern_optim_nadam(net))
OPTIMIZER(asgd, tern_optim_asgd(net, .t0 = 2))
OPTIMIZER(schedule_free_adamw, tern_optim_schedule_free_adamw(net, .warmup_steps = 2))
OPTIMIZER(muon, tern_optim_muon(net, .rest = TERN_MUON_ADAMW))
OPTIMIZER(adafactor, tern_optim_adafactor(net))
OPTIMIZER(lbfgs,
          tern_optim_lbfgs(net, .max_iter = 2, .line_search_fn = TERN_LINE_SEARCH_STRONG_WOLFE))

static const optimizer optimizers[] = {
    {"optim_sgd", "decay", sgd},
    {"optim_sgd", "nesterov", nesterov},
    {"optim_adam", "plain", adam},
    {"optim_adam", "amsgrad", amsgrad},
    {"optim_adamw", "defaults", adamw},
    {"optim_rmsprop", "centered", rmsprop},
    {"optim_adagrad", "defaults", adagrad},
    {"optim_adadelta", "decay", adadelta},
    {"optim_adamax", "defaults", adamax},
    {"optim_radam", "rectified", radam},
    {"optim_lion", "decay", lion},
    {"optim_rprop", "defaults", rprop},
    {"optim_nadam", "defaults", nadam},
    {"optim_asgd", "averages", asgd},
    {"optim_schedule_free_adamw", "warm-up", schedule_free_adamw},
    {"optim_muon", "rest by AdamW", muon},
    {"optim_adafactor", "defaults", adafactor},
    {"optim_lbfgs", "strong Wolfe", lbfgs},
};

static tern_module *smoothed(int64_t classes)
{
    (void)classes;
    return tern_nn_cross_entropy_loss(.label_smoothing = 0.1);
}

static tern_module *weighted(int64_t classes)
{
    return tern_nn_cross_entropy_loss(.weight = tern_linspace(0.5, 2, classes));
}

static tern_module *linear_cross_entropy(int64_t classes)
{
    return tern_nn_linear_cross_entropy_loss(classes, classes, .bias = true);
}

#define LOSS(name, ...)                                                                            \
    static tern_module *name(int64_t classes)                                                      \
    {                                                                                              \
        (void)classes;                                                                             \
        return tern_nn_##name(__VA_ARGS__);                                                        \
    }
LOSS(mse_loss, )
LOSS(l1_loss, )
LOSS(smooth_l1_loss, .beta = 0.5)
LOSS(huber_loss, .delta = 0.5)
LOSS(bce_loss, .weight = tern_linspace(0.5, 2, classes))
LOSS(bce_with_logits_loss, .pos_weight = tern_linspace(0.5, 2, classes))
LOSS(kl_div_loss, .reduction = TERN_REDUCTION_BATCHMEAN)
LOSS(poisson_nll_loss, .full = true)
LOSS(gaussian_nll_loss, .eps = 1e-3)
LOSS(soft_margin_loss, )
LOSS(hinge_embedding_loss, .reduction = TERN_REDUCTION_SUM)
LOSS(margin_ranking_loss, .margin = 0.5)

LOSS(nll_loss, .weight = tern_linspace(0.5, 2, classes))
LOSS(multi_margin_loss, .p = 2)
LOSS(multi_label_margin_loss, )
LOSS(multi_label_soft_margin_loss, .weight = tern_linspace(0.5, 2, classes))
LOSS(cosine_embedding_loss, .margin = 0.25)
LOSS(triplet_margin_loss, .swap = true)
LOSS(triplet_margin_with_distance_loss, .margin = 2)
LOSS(ctc_loss, .zero_infinity = true)

static tern_tensor *of_target(tern_module *criterion, tern_tensor *output, tern_tensor *y)
{
    return tern_loss(criterion, output, y);
}

static tern_tensor *of_sigmoid(tern_module *criterion, tern_tensor *output, tern_tensor *y)
{
    return tern_loss(criterion, tern_sigmoid(output), y);
}

static tern_tensor *of_variance(tern_module *criterion, tern_tensor *output, tern_tensor *y)
{
    return tern_call(criterion, output, y, tern_softplus(output));
}

// The output against itself, the other way round.
static tern_tensor *of_order(tern_module *criterion, tern_tensor *output, tern_tensor *y)
{
    return tern_call(criterion, output, tern_mul_scalar(output, -2), y);
}

static tern_tensor *of_log_softmax(tern_module *criterion, tern_tensor *output, tern_tensor *y)
{
    return tern_loss(criterion, tern_log_softmax(output, 1), y);
}

// The class alone.
static tern_tensor *of_lists(tern_module *criterion, tern_tensor *output, tern_tensor *y)
{
    tern_tensor *lists = tern_full(tern_shape_of(output), -1, .dtype = TERN_INT64);
    tern_no_grad {
        tern_copy_(tern_select(lists, 1, 0), y);
    }
    return tern_loss(criterion, output, lists);
}

static tern_tensor *of_cosine(tern_module *criterion, tern_tensor *output, tern_tensor *y)
{
    return tern_call(criterion, output, tern_mul(output, output), tern_select(y, 1, 0));
}

static tern_tensor *of_triplet(tern_module *criterion, tern_tensor *output, tern_tensor *y)
{
    return tern_call(criterion, output, y, tern_mul_scalar(y, -0.5));
}

// The batch as one sequence of two labels.
static tern_tensor *of_sequence(tern_module *criterion, tern_tensor *output, tern_tensor *y)
{
    const int64_t labels[] = {1, 2}, times = tern_size(output, 0), count = 2;
    (void)y;
    return tern_call(criterion, tern_log_softmax(output, 1), tern_from_data(tern_dims(2), labels),
                     tern_full(tern_dims(), times, .dtype = TERN_INT64),
                     tern_full(tern_dims(), count, .dtype = TERN_INT64));
}

static const loss losses[] = {
    {"nn_cross_entropy_loss", "labels", smoothed, LABELS, of_target},
    {"nn_cross_entropy_loss", "probabilities, weight", weighted, PROBABILITIES, of_target},
    {"nn_linear_cross_entropy_loss", "bias", linear_cross_entropy, LABELS, of_target},
    {"nn_mse_loss", "mean", mse_loss, PROBABILITIES, of_target},
    {"nn_l1_loss", "mean", l1_loss, PROBABILITIES, of_target},
    {"nn_smooth_l1_loss", "beta", smooth_l1_loss, PROBABILITIES, of_target},
    {"nn_huber_loss", "delta", huber_loss, PROBABILITIES, of_target},
    {"nn_bce_loss", "weight", bce_loss, PROBABILITIES, of_sigmoid},
    {"nn_bce_with_logits_loss", "pos_weight", bce_with_logits_loss, PROBABILITIES, of_target},
    {"nn_kl_div_loss", "batchmean", kl_div_loss, PROBABILITIES, of_target},
    {"nn_poisson_nll_loss", "full", poisson_nll_loss, PROBABILITIES, of_target},
    {"nn_gaussian_nll_loss", "eps", gaussian_nll_loss, PROBABILITIES, of_variance},
    {"nn_soft_margin_loss", "mean", soft_margin_loss, SIGNS, of_target},
    {"nn_hinge_embedding_loss", "sum", hinge_embedding_loss, SIGNS, of_target},
    {"nn_margin_ranking_loss", "margin", margin_ranking_loss, SIGNS, of_order},
    {"nn_nll_loss", "weight", nll_loss, LABELS, of_log_softmax},
    {"nn_multi_margin_loss", "p", multi_margin_loss, LABELS, of_target},
    {"nn_multi_label_margin_loss", "mean", multi_label_margin_loss, LABELS, of_lists},
    {"nn_multi_label_soft_margin_loss", "weight", multi_label_soft_margin_loss, PROBABILITIES,
     of_target},
    {"nn_cosine_embedding_loss", "margin", cosine_embedding_loss, SIGNS, of_cosine},
    {"nn_triplet_margin_loss", "swap", triplet_margin_loss, PROBABILITIES, of_triplet},
    {"nn_triplet_margin_with_distance_loss", "margin", triplet_margin_with_distance_loss,
     PROBABILITIES, of_triplet},
    {"nn_ctc_loss", "zero_infinity", ctc_loss, LABELS, of_sequence},
};

static tern_tensor *make_target(target_kind kind, run_size size)
{
    const tern_shape shape = tern_dims(size.batch, size.classes);
    switch (kind) {
    case LABELS:
        return tern_randint(0, size.classes, tern_dims(size.batch));
    case PROBABILITIES:
        return tern_softmax(tern_randn(shape), 1);
    case SIGNS:
        break;
    }
    return tern_where(tern_gt_scalar(tern_randn(shape), 0), tern_ones(shape),
                      tern_full(shape, -1.0));
}

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

int run_optimizers(void)
{
    return COUNT(optimizers);
}

int run_losses(void)
{
    return COUNT(losses);
}

const char *run_name_of(int o, int l)
{
    static char name[160];
    snprintf(name, sizeof name, "%s, %s; %s, %s", optimizers[o].name, optimizers[o].note,
             losses[l].name, losses[l].note);
    return name;
}

// ---- a run -------------------------------------------------------------------------------------

static uint64_t state_bits(tern_optim *optim, uint64_t hash)
{
    tern_state *state = tern_optim_state_dict(optim);
    for (int64_t i = 0; i < tern_optim_num_parameters(optim); i++)
        hash = bits_of(tern_optim_parameter_at(optim, i, NULL, 0), hash);
    for (int64_t i = 0; i < tern_state_count(state); i++)
        if (tern_state_type_at(state, i) == TERN_STATE_TENSOR)
            hash = bits_of(tern_state_tensor(state, tern_state_name_at(state, i)), hash);
    tern_state_free(state);
    return hash;
}

typedef struct training {
    tern_module *net, *criterion, *average;
    tern_optim *optim;
    tern_tensor *x, *y;
    int loss;
    uint64_t hash;
} training;

static tern_tensor *learn(void *user)
{
    training *t = user;
    tern_tensor *value = losses[t->loss].value(t->criterion, tern_forward(t->net, t->x), t->y);
    tern_optim_zero_grad(t->optim);
    assert_int_equal(tern_backward(value), TERN_OK);
    // A line search may try where nothing is finite.
    tern_tensor *norm = tern_clip_grad_norm(t->net, 0.5, .allow_nonfinite = true);
    t->hash = bits_of(norm, bits_of(value, t->hash));
    return value;
}

uint64_t run_bits(int o, int l, run_size size)
{
    tern_scope scope = tern_scope_open();
    tern_manual_seed(5);
    training t = {.loss = l, .hash = NO_BITS};
    t.net = tern_nn_sequential(tern_nn_linear(size.in, size.hidden), tern_nn_relu(),
                               tern_nn_dropout(0.2), tern_nn_linear(size.hidden, size.hidden),
                               tern_nn_gelu(), tern_nn_linear(size.hidden, size.classes));
    t.criterion = losses[l].make(size.classes);
    t.optim = optimizers[o].make(t.net);
    t.average = tern_averaged_model_ema(t.net, .decay = 0.9);
    t.x = tern_randn(tern_dims(size.batch, size.in));
    t.y = make_target(losses[l].target, size);
    for (int step = 0; step < size.steps; step++) {
        tern_scope inner = tern_scope_open();
        assert_non_null(tern_optim_step_closure(t.optim, learn, &t));
        assert_int_equal(tern_averaged_model_update(t.average, t.net), TERN_OK);
        tern_scope_close(inner);
    }
    t.hash = state_bits(t.optim, t.hash);
    t.hash = bits_of(tern_module_parameter(t.average, "module.0.weight"), t.hash);
    tern_free(t.optim, t.criterion, t.average, t.net);
    tern_scope_close(scope);
    return t.hash;
}

// ---- manifest ----------------------------------------------------------------------------------

static bool is_run(const char *name)
{
    for (int i = 0; i < COUNT(optimizers); i++)
        if (strcmp(optimizers[i].name, name) == 0)
            return true;
    for (int i = 0; i < COUNT(losses); i++)
        if (strcmp(losses[i].name, name) == 0)
            return true;
    return false;
}

static void check_is_run(const char *name, void *user)
{
    (void)user;
    if (!is_run(name))
        fail_msg("tern_%s is trained by no run", name);
}

void check_runs_are_complete(const char *include_dir)
{
    assert_true(each_declared(include_dir, "optimizers.h", "tern_optim *", "_with", check_is_run,
                              NULL) >= 5);
    assert_true(
        each_declared(include_dir, "nn.h", "tern_module *", "_loss_with", check_is_run, NULL) >= 3);
}
