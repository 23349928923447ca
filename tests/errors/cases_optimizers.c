// SPDX-License-Identifier: Apache-2.0
// optimizers.h
#include "errors.h"

#define LIST(...) ((tern_tensor *[]){__VA_ARGS__})

static tern_module *no_parameters(fixture *f)
{
    return tern_module_child_at(f->net, 1); // ReLU
}

#define WITHOUT_DECAY(name)                                                                        \
    REFUSES(tern_optim_##name##_with, "options that are NULL", TERN_ERR_NULL,                      \
            "optim_" #name ": options is NULL", tern_optim_##name##_with(NULL))                    \
    REFUSES(tern_optim_##name##_with, "neither module nor params", TERN_ERR_NULL,                  \
            "optim_" #name ": module is NULL", tern_optim_##name(NULL))                            \
    REFUSES(tern_optim_##name##_with, "both module and params", TERN_ERR_ARG,                      \
            "optim_" #name ": |module|params",                                                     \
            tern_optim_##name(f->net, .params = LIST(f->leaf), .param_count = 1))                  \
    REFUSES(tern_optim_##name##_with, "params that are NULL", TERN_ERR_NULL,                       \
            "optim_" #name ": params is NULL", tern_optim_##name(NULL, .param_count = 1))          \
    REFUSES(tern_optim_##name##_with, "a NULL among the params", TERN_ERR_NULL,                    \
            "optim_" #name ": params[1] is NULL",                                                  \
            tern_optim_##name(NULL, .params = LIST(f->leaf, NULL), .param_count = 2))              \
    REFUSES(tern_optim_##name##_with, "a param that died", TERN_ERR_STATE,                         \
            "optim_" #name ": params[0] (float32 (2, 3)",                                          \
            tern_optim_##name(NULL, .params = LIST(f->dead), .param_count = 1))                    \
    REFUSES(tern_optim_##name##_with, "a param of integers", TERN_ERR_DTYPE,                       \
            "optim_" #name ": |int64 (2, 3)|floating",                                             \
            tern_optim_##name(NULL, .params = LIST(f->ints), .param_count = 1))                    \
    REFUSES(tern_optim_##name##_with, "a param with history", TERN_ERR_STATE,                      \
            "optim_" #name ": |mul_scalar|leaves",                                                 \
            tern_optim_##name(NULL, .params = LIST(f->made), .param_count = 1))                    \
    REFUSES(tern_optim_##name##_with, "a param given twice", TERN_ERR_ARG,                         \
            "optim_" #name ": |already|one group",                                                 \
            tern_optim_##name(NULL, .params = LIST(f->leaf, f->leaf), .param_count = 2))           \
    REFUSES(tern_optim_##name##_with, "a negative count", TERN_ERR_ARG,                            \
            "optim_" #name ": param_count is -1",                                                  \
            tern_optim_##name(NULL, .params = LIST(f->leaf), .param_count = -1))                   \
    REFUSES(tern_optim_##name##_with, "no parameters at all", TERN_ERR_ARG,                        \
            "optim_" #name ": |no parameters", tern_optim_##name(no_parameters(f)))                \
    REFUSES(tern_optim_##name##_with, "a negative lr", TERN_ERR_ARG, "optim_" #name ": lr is -1",  \
            tern_optim_##name(f->net, .lr = -1))                                                   \
    REFUSES(tern_optim_##name##_with, "an lr that is NaN", TERN_ERR_ARG,                           \
            "optim_" #name ": lr is nan", tern_optim_##name(f->net, .lr = NAN))
// A number that may not be below 0.
#define NEGATIVE(name, number)                                                                     \
    REFUSES(tern_optim_##name##_with, "a negative " #number, TERN_ERR_ARG,                         \
            "optim_" #name ": " #number " is -1", tern_optim_##name(f->net, .number = -1))
#define OPTIMIZER(name) WITHOUT_DECAY(name) NEGATIVE(name, weight_decay)
#define BETAS(name, second)                                                                        \
    REFUSES(tern_optim_##name##_with, "a beta of 1", TERN_ERR_ARG,                                 \
            "optim_" #name ": betas[1] is 1", tern_optim_##name(f->net, .betas = {0.9, 1}))        \
    REFUSES(tern_optim_##name##_with, "a negative beta", TERN_ERR_ARG,                             \
            "optim_" #name ": betas[0] is -0.5", tern_optim_##name(f->net, .betas = {-0.5, 0.9}))  \
    REFUSES(tern_optim_##name##_with, "one beta without braces", TERN_ERR_ARG,                     \
            "optim_" #name ": betas is one number, 0.5|{0.5, " second "}",                         \
            tern_optim_##name(f->net, .betas = 0.5))
#define ADAMS(name) BETAS(name, "0.999") NEGATIVE(name, eps)
OPTIMIZER(sgd)
OPTIMIZER(adam)
OPTIMIZER(adamw)
OPTIMIZER(rmsprop)
OPTIMIZER(adagrad)
OPTIMIZER(adadelta)
OPTIMIZER(adamax)
OPTIMIZER(radam)
OPTIMIZER(nadam)
OPTIMIZER(asgd)
OPTIMIZER(lion)
OPTIMIZER(schedule_free_adamw)
OPTIMIZER(adafactor)
WITHOUT_DECAY(rprop)
WITHOUT_DECAY(lbfgs)
ADAMS(adam)
ADAMS(adamw)
ADAMS(adamax)
ADAMS(radam)
ADAMS(nadam)
ADAMS(schedule_free_adamw)
BETAS(lion, "0.99")
NEGATIVE(schedule_free_adamw, warmup_steps)
REFUSES(tern_optim_schedule_free_adamw_with, "a first beta of 0", TERN_ERR_ARG,
        "optim_schedule_free_adamw: betas[0] is 0, but must be above 0",
        tern_optim_schedule_free_adamw(f->net, .betas = {0, 0.9}))
REFUSES(tern_optim_schedule_free_adamw_with, "an r that is infinite", TERN_ERR_ARG,
        "optim_schedule_free_adamw: r is inf",
        tern_optim_schedule_free_adamw(f->net, .r = INFINITY))
REFUSES(tern_optim_schedule_free_adamw_with, "a weight_lr_power that is NaN", TERN_ERR_ARG,
        "optim_schedule_free_adamw: weight_lr_power is nan",
        tern_optim_schedule_free_adamw(f->net, .weight_lr_power = NAN))
#define ADAFACTOR(what, says, ...)                                                                 \
    REFUSES(tern_optim_adafactor_with, what, TERN_ERR_ARG, "optim_adafactor: " says,               \
            tern_optim_adafactor(f->net, __VA_ARGS__))
ADAFACTOR("a beta2_decay above 0", "beta2_decay is 0.5, but must be 0 or less", .beta2_decay = 0.5)
ADAFACTOR("a beta2_decay that is infinite", "beta2_decay is -inf", .beta2_decay = -INFINITY)
ADAFACTOR("a negative eps[0]", "eps[0] is -0.5, but must be 0 or more", .eps = {-0.5, 1e-3})
ADAFACTOR("a negative eps[1]", "eps[1] is -1", .eps = {0, -1})
ADAFACTOR("one eps without braces", "eps is one number, 0.25|{0.25, 0.001}", .eps = 0.25)
ADAFACTOR("a d below 1", "d is 0.5, but must be 1 or more", .d = 0.5)
#define MUON(what, says, ...)                                                                      \
    REFUSES(tern_optim_muon_with, what, TERN_ERR_ARG, "optim_muon: " says,                         \
            tern_optim_muon(f->net, .rest = TERN_MUON_ADAMW, __VA_ARGS__))
WITHOUT_DECAY(muon)
REFUSES(tern_optim_muon_with, "a parameter that is no matrix", TERN_ERR_ARG,
        "optim_muon: |bias is |and Muon updates matrices|TERN_MUON_ADAMW", tern_optim_muon(f->net))
MUON("a negative weight_decay", "weight_decay is -1", .weight_decay = -1)
MUON("a negative momentum", "momentum is -1", .momentum = -1)
MUON("a coefficient that is infinite", "ns_coefficients[2] is inf",
     .ns_coefficients = {1, 1, INFINITY})
MUON("a negative eps", "eps is -1", .eps = -1)
MUON("100 iterations", "ns_steps is 100, but must be less than 100", .ns_steps = 100)
MUON("less than no iterations", "ns_steps is -1", .ns_steps = -1)
MUON("another adjustment", "adjust_lr_fn is 3", .adjust_lr_fn = (tern_muon_adjust_lr)3)
MUON("iterations of integers", "ns_dtype must be a floating dtype", .ns_dtype = TERN_INT64)
MUON("another rest", "rest is 3", .rest = (tern_muon_rest)3)
MUON("a negative rest_lr", "rest_lr is -1", .rest_lr = -1)
MUON("a beta of 1", "rest_betas[1] is 1", .rest_betas = {0.9, 1})
MUON("one beta without braces", "rest_betas is one number, 0.5|{0.5, 0.999}", .rest_betas = 0.5)
MUON("a negative rest_eps", "rest_eps is -1", .rest_eps = -1)
NEGATIVE(rmsprop, momentum)
NEGATIVE(rmsprop, alpha)
NEGATIVE(rmsprop, eps)
NEGATIVE(adagrad, lr_decay)
NEGATIVE(adagrad, eps)
NEGATIVE(adagrad, initial_accumulator_value)
NEGATIVE(nadam, momentum_decay)
NEGATIVE(lbfgs, max_iter)
NEGATIVE(lbfgs, max_eval)
NEGATIVE(lbfgs, tolerance_grad)
NEGATIVE(lbfgs, tolerance_change)
NEGATIVE(lbfgs, history_size)
REFUSES(tern_optim_lbfgs_with, "no iterations", TERN_ERR_ARG,
        "optim_lbfgs: max_iter is 0|whole number of 1 or more",
        tern_optim_lbfgs(f->net, .max_iter = 0))
REFUSES(tern_optim_lbfgs_with, "another line search", TERN_ERR_ARG,
        "optim_lbfgs: line_search_fn is 2",
        tern_optim_lbfgs(f->net, .line_search_fn = (tern_line_search)2))
NEGATIVE(asgd, lambd)
NEGATIVE(asgd, alpha)
REFUSES(tern_optim_asgd_with, "a t0 that is infinite", TERN_ERR_ARG, "optim_asgd: t0 is inf",
        tern_optim_asgd(f->net, .t0 = INFINITY))
NEGATIVE(adadelta, rho)
NEGATIVE(adadelta, eps)
REFUSES(tern_optim_adadelta_with, "a rho above 1", TERN_ERR_ARG,
        "optim_adadelta: rho is 1.5, but must be from 0 to 1",
        tern_optim_adadelta(f->net, .rho = 1.5))
#define RPROP(what, says, ...)                                                                     \
    REFUSES(tern_optim_rprop_with, what, TERN_ERR_ARG, "optim_rprop: " says,                       \
            tern_optim_rprop(f->net, __VA_ARGS__))
RPROP("an eta of 0", "etas are 0 and 1.2, but must be", .etas = {0, 1.2})
RPROP("an eta that makes no step smaller", "etas are 1 and 1.2", .etas = {1, 1.2})
RPROP("an eta that makes no step larger", "etas are 0.5 and 1", .etas = {0.5, 1})
RPROP("an eta that is infinite", "etas[1] is inf", .etas = {0.5, INFINITY})
RPROP("one eta without braces", "etas is one number, 0.25|{0.25, 1.2}", .etas = 0.25)
RPROP("a negative step size", "step_sizes[0] is -1", .step_sizes = {-1, 50})
RPROP("a largest step size that is infinite", "step_sizes[1] is inf", .step_sizes = {0, INFINITY})
RPROP("one step size without braces", "step_sizes is one number, 1|{1, 50}", .step_sizes = 1)
REFUSES(tern_optim_sgd_with, "a negative momentum", TERN_ERR_ARG, "optim_sgd: momentum is -1",
        tern_optim_sgd(f->net, .momentum = -1))
REFUSES(tern_optim_sgd_with, "a dampening that is infinite", TERN_ERR_ARG,
        "optim_sgd: dampening is inf", tern_optim_sgd(f->net, .dampening = INFINITY))
REFUSES(tern_optim_sgd_with, "nesterov without momentum", TERN_ERR_ARG,
        "optim_sgd: nesterov|momentum", tern_optim_sgd(f->net, .nesterov = true))
REFUSES(tern_optim_sgd_with, "nesterov with dampening", TERN_ERR_ARG,
        "optim_sgd: nesterov|dampening",
        tern_optim_sgd(f->net, .nesterov = true, .momentum = 0.9, .dampening = 0.5))
