// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent with momentum (Polyak 1964; Nesterov's form: Sutskever et al. 2013).
#include "device/backend.h"
#include "optim/optim.h"

static unsigned needs(const tern_optim *optim, const tern_optim_group *group)
{
    (void)optim;
    return group->momentum > 0 ? 1 : 0;
}

static tern_status launch(const tern_optim *optim, const tern_optim_group *group,
                          const tern_exec *exec, int64_t count)
{
    const tern_sgd_args args = {
        .lr = group->lr,
        .momentum = group->momentum,
        .dampening = group->dampening,
        .weight_decay = group->weight_decay,
        .nesterov = optim->nesterov,
        .maximize = optim->maximize,
    };
    return tern_kernels_of(exec->device)->sgd(exec, &args, optim->tensors, count);
}

static const tern_optim_class sgd_class = {
    .name = "optim_sgd",
    .state = {"momentum_buffer"},
    .is_sgd = true,
    .needs = needs,
    .launch = launch,
};

tern_optim_sgd_options tern_optim_sgd_defaults(void)
{
    return (tern_optim_sgd_options){.lr = 1e-3};
}

tern_optim *tern_optim_sgd_with(const tern_optim_sgd_options *options)
{
    if (!options) {
        tern_null_error("optim_sgd", "options");
        return NULL;
    }
    const tern_optim like = {
        .klass = &sgd_class, .nesterov = options->nesterov, .maximize = options->maximize};
    const tern_optim_group group = {
        .lr = options->lr,
        .weight_decay = options->weight_decay,
        .momentum = options->momentum,
        .dampening = options->dampening,
    };
    return tern_optim_make(
        &like, &group,
        &(tern_optim_source){options->module, options->params, options->param_count});
}
