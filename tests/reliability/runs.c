// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include "bits.h"
#include "support/declared.h"

typedef struct optimizer {
    const char *name, *note;
    tern_optim *(*make)(tern_module *net);
} optimizer;

typedef struct loss {
    const char *name, *note;
    tern_module *(*make)(int64_t classes);
    bool labels; // the targets are labels, else probabilities
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

static tern_module *squared(int64_t classes)
{
    (void)classes;
    return tern_nn_mse_loss();
}

static tern_module *absolute(int64_t classes)
{
    (void)classes;
    return tern_nn_l1_loss();
}

static const loss losses[] = {
    {"nn_cross_entropy_loss", "labels", smoothed, true},
    {"nn_cross_entropy_loss", "probabilities, weight", weighted, false},
    {"nn_mse_loss", "mean", squared, false},
    {"nn_l1_loss", "mean", absolute, false},
};

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

uint64_t run_bits(int o, int l, run_size size)
{
    tern_scope scope = tern_scope_open();
    uint64_t hash = NO_BITS;
    tern_manual_seed(5);
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(size.in, size.hidden), tern_nn_relu(),
                           tern_nn_dropout(0.2), tern_nn_linear(size.hidden, size.hidden),
                           tern_nn_gelu(), tern_nn_linear(size.hidden, size.classes));
    tern_module *criterion = losses[l].make(size.classes);
    tern_optim *optim = optimizers[o].make(net);
    tern_tensor *x = tern_randn(tern_dims(size.batch, size.in));
    tern_tensor *y = losses[l].labels
                         ? tern_randint(0, size.classes, tern_dims(size.batch))
                         : tern_softmax(tern_randn(tern_dims(size.batch, size.classes)), 1);
    for (int step = 0; step < size.steps; step++) {
        tern_scope inner = tern_scope_open();
        tern_tensor *value = tern_loss(criterion, tern_forward(net, x), y);
        tern_optim_zero_grad(optim);
        assert_int_equal(tern_backward(value), TERN_OK);
        hash = bits_of(tern_clip_grad_norm(net, 0.5), bits_of(value, hash));
        assert_int_equal(tern_optim_step(optim), TERN_OK);
        tern_scope_close(inner);
    }
    hash = state_bits(optim, hash);
    tern_optim_free(optim);
    tern_module_free(criterion);
    tern_module_free(net);
    tern_scope_close(scope);
    return hash;
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
    assert_true(
        each_declared(include_dir, "optim.h", "tern_optim *", "_with", check_is_run, NULL) >= 5);
    assert_true(
        each_declared(include_dir, "nn.h", "tern_module *", "_loss_with", check_is_run, NULL) >= 3);
}
