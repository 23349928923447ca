// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/optim.h and tern/optimizers.h, for the site.
#include "examples.h"

static void show_optim_sgd(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_sgd]
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1, .momentum = 0.9);
    double lr = tern_optim_lr(opt, 0); // 0.1
    // [/tern_optim_sgd]
    expect(near(lr, 0.1));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_adam(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_adam]
    tern_optim *opt = tern_optim_adam(net, .lr = 3e-4, .betas = {0.9, 0.98});
    double lr = tern_optim_lr(opt, 0); // 3e-4
    // [/tern_optim_adam]
    expect(near(lr, 3e-4));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_adamw(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_adamw]
    tern_optim *opt = tern_optim_adamw(net, .weight_decay = 0.1);
    double lr = tern_optim_lr(opt, 0); // 1e-3
    // [/tern_optim_adamw]
    expect(near(lr, 1e-3));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_rmsprop(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_rmsprop]
    tern_optim *opt = tern_optim_rmsprop(net, .alpha = 0.9);
    double lr = tern_optim_lr(opt, 0); // 1e-2
    // [/tern_optim_rmsprop]
    expect(near(lr, 1e-2));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_adadelta(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_adadelta]
    tern_optim *opt = tern_optim_adadelta(net, .rho = 0.95);
    double lr = tern_optim_lr(opt, 0); // 1
    // [/tern_optim_adadelta]
    expect(near(lr, 1));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_adamax(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_adamax]
    tern_optim *opt = tern_optim_adamax(net, .betas = {0.9, 0.98});
    double lr = tern_optim_lr(opt, 0); // 2e-3
    // [/tern_optim_adamax]
    expect(near(lr, 2e-3));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_radam(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_radam]
    tern_optim *opt = tern_optim_radam(net, .weight_decay = 0.01);
    double lr = tern_optim_lr(opt, 0); // 1e-3
    // [/tern_optim_radam]
    expect(near(lr, 1e-3));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_lion(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_lion]
    tern_optim *opt = tern_optim_lion(net, .lr = 3e-5, .weight_decay = 0.1);
    double lr = tern_optim_lr(opt, 0); // 3e-5
    // [/tern_optim_lion]
    expect(near(lr, 3e-5));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_rprop(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_rprop]
    tern_optim *opt = tern_optim_rprop(net, .step_sizes = {1e-6, 1});
    double lr = tern_optim_lr(opt, 0); // 1e-2
    // [/tern_optim_rprop]
    expect(near(lr, 1e-2));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_lbfgs(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_lbfgs]
    tern_optim *opt = tern_optim_lbfgs(net, .line_search_fn = TERN_LINE_SEARCH_STRONG_WOLFE);
    double max_eval = tern_optim_get(opt, 0, "max_eval"); // 25
    // [/tern_optim_lbfgs]
    expect(near(max_eval, 25));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_nadam(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_nadam]
    tern_optim *opt = tern_optim_nadam(net, .momentum_decay = 0.01);
    double lr = tern_optim_lr(opt, 0); // 2e-3
    // [/tern_optim_nadam]
    expect(near(lr, 2e-3));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_asgd(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_asgd]
    tern_optim *opt = tern_optim_asgd(net, .t0 = 1000);
    double lr = tern_optim_lr(opt, 0); // 1e-2
    // [/tern_optim_asgd]
    expect(near(lr, 1e-2));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_schedule_free_adamw(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_schedule_free_adamw]
    tern_optim *opt = tern_optim_schedule_free_adamw(net, .lr = 2.5e-3, .warmup_steps = 1000);
    if (tern_optim_eval(opt) || tern_optim_train(opt)) // around an evaluation, or a file of net
        tern_error_print(stderr);
    // [/tern_optim_schedule_free_adamw]
    expect(near(tern_optim_get(opt, 0, "train_mode"), 1));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_muon(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_linear(8, 2));
    // [tern_optim_muon]
    tern_optim *opt = tern_optim_muon(net, .lr = 0.02, .rest = TERN_MUON_ADAMW);
    if (tern_optim_group_names(opt, "1.*") || tern_optim_set(opt, 1, "rest", TERN_MUON_ADAMW_ALL))
        tern_error_print(stderr);
    // [/tern_optim_muon]
    expect(near(tern_optim_get(opt, 1, "rest_lr"), 1e-3));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_adafactor(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_adafactor]
    tern_optim *opt = tern_optim_adafactor(net, .lr = 0.05);
    double d = tern_optim_get(opt, 0, "d"); // 1
    // [/tern_optim_adafactor]
    expect(near(d, 1));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_adagrad(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_optim_adagrad]
    tern_optim *opt = tern_optim_adagrad(net, .lr_decay = 0.01);
    double lr = tern_optim_lr(opt, 0); // 1e-2
    // [/tern_optim_adagrad]
    expect(near(lr, 1e-2));
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_retain(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1);
    // [tern_optim_retain]
    tern_optim *mine = tern_optim_retain(opt);
    tern_optim_free(opt); // mine is still there
    // [/tern_optim_retain]
    expect(near(tern_optim_lr(mine, 0), 0.1));
    tern_optim_free(mine);
    tern_module_free(net);
}

static void show_optim_add_group(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1);
    tern_module *head = tern_nn_linear(2, 1);
    // [tern_optim_add_group]
    if (tern_optim_add_group(opt, head, .lr = 0.01)) // group 1
        tern_error_print(stderr);
    // [/tern_optim_add_group]
    expect(near(tern_optim_lr(opt, 1), 0.01));
    tern_optim_free(opt);
    tern_module_free(net);
    tern_module_free(head);
}

static void show_optim_group_names(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1);
    // [tern_optim_group_names]
    if (tern_optim_group_names(opt, "bias", .weight_decay = 0)) // group 1
        tern_error_print(stderr);
    // [/tern_optim_group_names]
    expect(tern_optim_num_groups(opt) == 2);
    tern_optim_free(opt);
    tern_module_free(net);
}

static bool is_vector(const tern_module_entry *parameter, void *user)
{
    (void)user;
    return tern_rank(parameter->tensor) < 2;
}

static void show_optim_group_if(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_optim *opt = tern_optim_adamw(net, .weight_decay = 0.1);
    // [tern_optim_group_if]
    if (tern_optim_group_if(opt, net, is_vector, .weight_decay = 0)) // of rank 0 and 1: group 1
        tern_error_print(stderr);
    // [/tern_optim_group_if]
    expect(tern_optim_num_groups(opt) == 2);
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_state_dict(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1);
    // [tern_optim_state_dict]
    tern_state *state = tern_optim_state_dict(opt);
    int64_t count = tern_state_count(state);
    // [/tern_optim_state_dict]
    expect(count > 0);
    tern_state_free(state);
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_optim_load_state_dict(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1);
    tern_state *state = tern_optim_state_dict(opt);
    // [tern_optim_load_state_dict]
    if (tern_optim_load_state_dict(opt, state))
        tern_error_print(stderr);
    // [/tern_optim_load_state_dict]
    expect(!tern_error_pending());
    tern_state_free(state);
    tern_optim_free(opt);
    tern_module_free(net);
}

static void show_clip_grad_norm(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_tensor *y = tern_forward(net, tern_ones(tern_dims(1, 4)));
    expect(!tern_backward(tern_sum_all(y)));
    // [tern_clip_grad_norm]
    tern_tensor *norm = tern_clip_grad_norm(net, 1.0); // what it was before
    double length = tern_item(norm);                   // sqrt(10) for this net and x
    // [/tern_clip_grad_norm]
    expect(near(length, 3.1622777));
    tern_module_free(net);
}

static void show_clip_grad_value(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_tensor *y = tern_forward(net, tern_ones(tern_dims(1, 4)));
    expect(!tern_backward(tern_sum_all(y)));
    // [tern_clip_grad_value]
    if (tern_clip_grad_value(net, 0.5))
        tern_error_print(stderr);
    // [/tern_clip_grad_value]
    expect(near(tern_item(tern_sum_all(tern_grad(tern_module_parameter(net, "weight")))), 4));
    tern_module_free(net);
}

int optim_examples(void)
{
    show_optim_sgd();
    show_optim_adam();
    show_optim_adamw();
    show_optim_rmsprop();
    show_optim_adadelta();
    show_optim_adamax();
    show_optim_radam();
    show_optim_lion();
    show_optim_rprop();
    show_optim_lbfgs();
    show_optim_nadam();
    show_optim_asgd();
    show_optim_schedule_free_adamw();
    show_optim_muon();
    show_optim_adafactor();
    show_optim_adagrad();
    show_optim_retain();
    show_optim_add_group();
    show_optim_group_names();
    show_optim_group_if();
    show_optim_state_dict();
    show_optim_load_state_dict();
    show_clip_grad_norm();
    show_clip_grad_value();
    return failures;
}
