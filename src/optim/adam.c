// SPDX-License-Identifier: Apache-2.0
// Adam (Kingma and Ba 2014), AMSGrad (Reddi et al. 2018), AdamW (Loshchilov and Hutter 2017).
#include "device/backend.h"
#include "optim/optim.h"

static unsigned needs(const tern_optim *optim, const tern_optim_group *group)
{
    (void)group;
    return optim->amsgrad ? 7 : 3;
}

static tern_status launch(const tern_optim *optim, const tern_optim_group *group,
                          const tern_exec *exec, int64_t count)
{
    const tern_adam_args args = {
        .lr = group->lr,
        .beta1 = group->betas[0],
        .beta2 = group->betas[1],
        .eps = group->eps,
        .weight_decay = group->weight_decay,
        .decoupled = optim->decoupled,
        .amsgrad = optim->amsgrad,
        .maximize = optim->maximize,
    };
    return tern_kernels_of(exec->device)->adam(exec, &args, optim->tensors, count);
}

static const tern_optim_class adam_class = {
    .name = "optim_adam",
    .state = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"},
    .needs = needs,
    .launch = launch,
};

static const tern_optim_class adamw_class = {
    .name = "optim_adamw",
    .state = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"},
    .needs = needs,
    .launch = launch,
};

static tern_optim *make(const tern_optim_class *klass, const tern_optim_adam_options *options)
{
    if (!options) {
        tern_null_error(klass->name, "options");
        return NULL;
    }
    const tern_optim like = {.klass = klass,
                             .maximize = options->maximize,
                             .amsgrad = options->amsgrad,
                             .decoupled = klass == &adamw_class};
    const tern_optim_group group = {
        .lr = options->lr,
        .weight_decay = options->weight_decay,
        .betas = {options->betas[0], options->betas[1]},
        .eps = options->eps,
    };
    return tern_optim_make(
        &like, &group,
        &(tern_optim_source){options->module, options->params, options->param_count});
}

tern_optim_adam_options tern_optim_adam_defaults(void)
{
    return (tern_optim_adam_options){.lr = 1e-3, .betas = {0.9, 0.999}, .eps = 1e-8};
}

tern_optim_adamw_options tern_optim_adamw_defaults(void)
{
    tern_optim_adamw_options options = tern_optim_adam_defaults();
    options.weight_decay = 0.01;
    return options;
}

tern_optim *tern_optim_adam_with(const tern_optim_adam_options *options)
{
    return make(&adam_class, options);
}

tern_optim *tern_optim_adamw_with(const tern_optim_adamw_options *options)
{
    return make(&adamw_class, options);
}
