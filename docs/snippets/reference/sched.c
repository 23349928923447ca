// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/sched.h, for the site.
#include "examples.h"

static tern_optim *make_optim(double lr)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_optim *opt = tern_optim_sgd(net, .lr = lr, .momentum = 0.9);
    tern_module_free(net);
    return opt;
}

static double halved(int64_t epoch, int group, void *user)
{
    (void)group;
    (void)user;
    return 1.0 / (double)(epoch + 1);
}

static void show_sched_lambda_lr(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_lambda_lr]
    tern_sched *sched = tern_sched_lambda_lr(opt, halved);
    tern_status status =
        tern_sched_step(sched, .allow_early = true); // lr: 0.05: halved(1) is 1 / 2
    // [/tern_sched_lambda_lr]
    expect(!status && near(tern_optim_lr(opt, 0), 0.05));
    tern_free(sched, opt);
}

static void show_sched_multiplicative_lr(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_multiplicative_lr]
    tern_sched *sched = tern_sched_multiplicative_lr(opt, halved);
    tern_status status = tern_sched_step(sched, .allow_early = true); // lr: 0.05
    // [/tern_sched_multiplicative_lr]
    expect(!status && near(tern_optim_lr(opt, 0), 0.05));
    tern_free(sched, opt);
}

static void show_sched_step_lr(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_step_lr]
    tern_sched *sched = tern_sched_step_lr(opt, 1, .gamma = 0.5);
    tern_status status = tern_sched_step(sched, .allow_early = true); // lr: 0.05
    // [/tern_sched_step_lr]
    expect(!status && near(tern_optim_lr(opt, 0), 0.05));
    tern_free(sched, opt);
}

static void show_sched_multi_step_lr(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_multi_step_lr]
    tern_sched *sched =
        tern_sched_multi_step_lr(opt, .milestones = (int64_t[]){1, 8}, .milestone_count = 2);
    tern_status status = tern_sched_step(sched, .allow_early = true); // lr: 0.01
    // [/tern_sched_multi_step_lr]
    expect(!status && near(tern_optim_lr(opt, 0), 0.01));
    tern_free(sched, opt);
}

static void show_sched_constant_lr(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_constant_lr]
    tern_sched *sched = tern_sched_constant_lr(opt, .factor = 0.5);
    tern_status status = tern_sched_step(sched, .allow_early = true); // lr: 0.05 until epoch 5
    // [/tern_sched_constant_lr]
    expect(!status && near(tern_optim_lr(opt, 0), 0.05));
    tern_free(sched, opt);
}

static void show_sched_linear_lr(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_linear_lr]
    tern_sched *sched = tern_sched_linear_lr(opt, .start_factor = 0.5, .total_iters = 4);
    tern_status status = tern_sched_step(sched, .allow_early = true); // lr: 0.0625
    // [/tern_sched_linear_lr]
    expect(!status && near(tern_optim_lr(opt, 0), 0.0625));
    tern_free(sched, opt);
}

static void show_sched_polynomial_lr(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_polynomial_lr]
    tern_sched *sched = tern_sched_polynomial_lr(opt, .total_iters = 10);
    tern_status status = tern_sched_step(sched, .allow_early = true); // lr: 0.09
    // [/tern_sched_polynomial_lr]
    expect(!status && near(tern_optim_lr(opt, 0), 0.09));
    tern_free(sched, opt);
}

static void show_sched_cosine_annealing_lr(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_cosine_annealing_lr]
    tern_sched *sched = tern_sched_cosine_annealing_lr(opt, 2);
    tern_status status = tern_sched_step(sched, .allow_early = true); // lr: 0.05, half of the way
    // [/tern_sched_cosine_annealing_lr]
    expect(!status && near(tern_optim_lr(opt, 0), 0.05));
    tern_free(sched, opt);
}

static void show_sched_cosine_annealing_warm_restarts(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_cosine_annealing_warm_restarts]
    tern_sched *sched = tern_sched_cosine_annealing_warm_restarts(opt, 2);
    tern_status status = tern_sched_step(sched, .allow_early = true); // lr: 0.05
    // [/tern_sched_cosine_annealing_warm_restarts]
    expect(!status && near(tern_optim_lr(opt, 0), 0.05));
    tern_free(sched, opt);
}

static void show_sched_one_cycle_lr(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_one_cycle_lr]
    tern_sched *sched = tern_sched_one_cycle_lr(opt, 0.1, .total_steps = 10);
    tern_status status =
        tern_sched_step(sched, .allow_early = true); // lr: 0.052, half of the way up
    // [/tern_sched_one_cycle_lr]
    expect(!status && near(tern_optim_lr(opt, 0), 0.052));
    tern_free(sched, opt);
}

static void show_sched_cyclic_lr(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_cyclic_lr]
    tern_sched *sched = tern_sched_cyclic_lr(opt, 0.01, 0.1, .step_size_up = 2);
    tern_status status =
        tern_sched_step(sched, .allow_early = true); // lr: 0.055, half of the way up
    // [/tern_sched_cyclic_lr]
    expect(!status && near(tern_optim_lr(opt, 0), 0.055));
    tern_free(sched, opt);
}

static void show_sched_swa_lr(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_swa_lr]
    tern_sched *sched = tern_sched_swa_lr(opt, 0.05, .anneal_epochs = 1);
    tern_status status = tern_sched_step(sched, .allow_early = true); // lr: 0.05
    // [/tern_sched_swa_lr]
    expect(!status && near(tern_optim_lr(opt, 0), 0.05));
    tern_free(sched, opt);
}

static void show_sched_reduce_lr_on_plateau(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_reduce_lr_on_plateau]
    tern_sched *sched = tern_sched_reduce_lr_on_plateau(opt, .factor = 0.5, .patience = 0);
    tern_status status = tern_sched_step_metric(sched, NAN); // never better; lr: 0.05
    // [/tern_sched_reduce_lr_on_plateau]
    expect(!status && near(tern_optim_lr(opt, 0), 0.05));
    tern_free(sched, opt);
}

static void show_sched_step(void)
{
    tern_optim *opt = make_optim(0.1);
    // [tern_sched_step]
    tern_sched *sched = tern_sched_warmup(tern_sched_cosine_annealing_lr(opt, 100), 4);
    tern_status status =
        tern_sched_step(sched, .allow_early = true); // lr: 0.04 after 0.02; 0.1 from epoch 4 on
    // [/tern_sched_step]
    expect(!status && near(tern_optim_lr(opt, 0), 0.04));
    tern_free(sched, opt);
}

static void show_sched_state_dict(void)
{
    tern_optim *opt = make_optim(0.1);
    tern_sched *sched = tern_sched_step_lr(opt, 30);
    // [tern_sched_state_dict]
    tern_state *state = tern_sched_state_dict(sched);
    int64_t epoch = -1;
    tern_status status = tern_state_get_int(state, "last_epoch", &epoch); // 0
    // [/tern_sched_state_dict]
    expect(!status && epoch == 0);
    tern_free(state, sched, opt);
}

int sched_examples(void)
{
    show_sched_lambda_lr();
    show_sched_multiplicative_lr();
    show_sched_step_lr();
    show_sched_multi_step_lr();
    show_sched_constant_lr();
    show_sched_linear_lr();
    show_sched_polynomial_lr();
    show_sched_cosine_annealing_lr();
    show_sched_cosine_annealing_warm_restarts();
    show_sched_one_cycle_lr();
    show_sched_cyclic_lr();
    show_sched_swa_lr();
    show_sched_reduce_lr_on_plateau();
    show_sched_step();
    show_sched_state_dict();
    return failures;
}
