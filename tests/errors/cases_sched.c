// SPDX-License-Identifier: Apache-2.0
// sched.h
#include "errors.h"

#define LIST(...)   ((const double[]){__VA_ARGS__})
#define EPOCHS(...) ((const int64_t[]){__VA_ARGS__})

static double one(int64_t epoch, int group, void *user)
{
    (void)group;
    (void)user;
    return epoch >= 0;
}

static double infinite_at_1(int64_t epoch, int group, void *user)
{
    (void)group;
    (void)user;
    return epoch == 1 ? INFINITY : 1;
}

static double not_a_number(int64_t epoch, int group, void *user)
{
    (void)user;
    return epoch == 0 && group == 0 ? NAN : 1;
}

// ---- making one ---------------------------------------------------------------------------------

// A constructor with options, after its first arguments.
#define SCHED(name, ...)                                                                           \
    REFUSES(tern_sched_##name##_with, "options that are NULL", TERN_ERR_NULL,                      \
            "sched_" #name ": options is NULL", tern_sched_##name##_with(NULL))                    \
    REFUSES(tern_sched_##name##_with, "an optimizer that is NULL", TERN_ERR_NULL,                  \
            "sched_" #name ": optim is NULL", tern_sched_##name(NULL, ##__VA_ARGS__))
SCHED(lambda_lr, one)
SCHED(multiplicative_lr, one)
SCHED(step_lr, 30)
SCHED(multi_step_lr, .milestones = EPOCHS(3), .milestone_count = 1)
SCHED(constant_lr, .factor = 0.5)
SCHED(linear_lr, .start_factor = 0.5)
SCHED(polynomial_lr, .power = 2)
SCHED(cosine_annealing_lr, 10)
SCHED(cosine_annealing_warm_restarts, 10)
SCHED(one_cycle_lr, 0.1, .total_steps = 10)
SCHED(cyclic_lr, 0.1, 0.2)
SCHED(reduce_lr_on_plateau, .patience = 3)
SCHED(swa_lr, 0.1)
REFUSES(tern_sched_exponential_lr, "an optimizer that is NULL", TERN_ERR_NULL,
        "sched_exponential_lr: optim is NULL", tern_sched_exponential_lr(NULL, 0.9))

// A number that the option cannot be.
#define WRONG(name, what, words, ...)                                                              \
    REFUSES(tern_sched_##name##_with, what, TERN_ERR_ARG, "sched_" #name ": " words,               \
            tern_sched_##name(f->optim, __VA_ARGS__))
REFUSES(tern_sched_lambda_lr_with, "a function that is NULL", TERN_ERR_NULL,
        "sched_lambda_lr: lambda is NULL", tern_sched_lambda_lr(f->optim, NULL))
REFUSES(tern_sched_multiplicative_lr_with, "a function that is NULL", TERN_ERR_NULL,
        "sched_multiplicative_lr: lambda is NULL", tern_sched_multiplicative_lr(f->optim, NULL))
REFUSES(tern_sched_lambda_lr_with, "a factor that is NaN", TERN_ERR_NUMERIC,
        "sched_lambda_lr: LambdaLR makes the lr of group 0 nan in epoch 0",
        tern_sched_lambda_lr(f->optim, not_a_number))
WRONG(step_lr, "a size of 0", "step_size is 0|from 1", 0)
WRONG(step_lr, "a negative size", "step_size is -3", -3)
WRONG(step_lr, "a negative gamma", "gamma is -1", 3, .gamma = -1)
WRONG(step_lr, "a gamma that is NaN", "gamma is nan", 3, .gamma = NAN)
WRONG(multi_step_lr, "no milestones", "|no milestones", .gamma = 0.5)
WRONG(multi_step_lr, "milestones without a count", "|no milestones", .milestones = EPOCHS(3))
WRONG(multi_step_lr, "a negative milestone", "milestone 1 is -3", .milestones = EPOCHS(3, -3),
      .milestone_count = 2)
WRONG(multi_step_lr, "an infinite gamma", "gamma is inf", .milestones = EPOCHS(3),
      .milestone_count = 1, .gamma = INFINITY)
REFUSES(tern_sched_exponential_lr, "a negative gamma", TERN_ERR_ARG,
        "sched_exponential_lr: gamma is -0.5", tern_sched_exponential_lr(f->optim, -0.5))
WRONG(constant_lr, "a factor of 0", "factor is 0|above 0", .factor = 0)
WRONG(constant_lr, "a factor above 1", "factor is 1.5|at most 1", .factor = 1.5)
WRONG(constant_lr, "no steps", "total_iters is 0", .total_iters = 0)
WRONG(linear_lr, "a start_factor of 0", "start_factor is 0|above 0", .start_factor = 0)
WRONG(linear_lr, "a start_factor above 1", "start_factor is 2", .start_factor = 2)
WRONG(linear_lr, "an end_factor above 1", "end_factor is 2", .end_factor = 2)
WRONG(linear_lr, "a negative end_factor", "end_factor is -1", .end_factor = -1)
WRONG(linear_lr, "no steps", "total_iters is 0", .total_iters = 0)
WRONG(polynomial_lr, "no steps", "total_iters is 0", .total_iters = 0)
WRONG(polynomial_lr, "a negative power", "power is -1", .power = -1)
WRONG(cosine_annealing_lr, "no steps", "t_max is 0", 0)
WRONG(cosine_annealing_lr, "a negative eta_min", "eta_min is -1", 10, .eta_min = -1)
WRONG(cosine_annealing_warm_restarts, "no steps", "t_0 is 0", 0)
WRONG(cosine_annealing_warm_restarts, "a t_mult of 0", "t_mult is 0", 10, .t_mult = 0)
WRONG(cosine_annealing_warm_restarts, "an eta_min that is NaN", "eta_min is nan", 10,
      .eta_min = NAN)
WRONG(one_cycle_lr, "no steps", "give .total_steps", 0.1, .pct_start = 0.3)
WRONG(one_cycle_lr, "negative steps", "give .total_steps|-5", 0.1, .total_steps = -5)
WRONG(one_cycle_lr, "steps twice", "give .total_steps|5, 5 and 1", 0.1, .total_steps = 5,
      .epochs = 5, .steps_per_epoch = 1)
WRONG(one_cycle_lr, "epochs without steps", "give .total_steps|0, 5 and 0", 0.1, .epochs = 5)
WRONG(one_cycle_lr, "negative epochs of negative steps", "give .total_steps|0, -5 and -5", 0.1,
      .epochs = -5, .steps_per_epoch = -5)
WRONG(one_cycle_lr, "more steps than there are numbers", "give .total_steps", 0.1,
      .epochs = INT64_MAX, .steps_per_epoch = 3)
WRONG(one_cycle_lr, "a part above 1", "pct_start is 30", 0.1, .total_steps = 9, .pct_start = 30)
WRONG(one_cycle_lr, "one step to rise in", "pct_start 0.1 of 10 steps", 0.1, .total_steps = 10,
      .pct_start = 0.1)
WRONG(one_cycle_lr, "no such strategy", "|anneal_strategy 7", 0.1, .total_steps = 9,
      .anneal_strategy = (tern_anneal_strategy)7)
WRONG(one_cycle_lr, "a div_factor of 0", "div_factor|0 and 10000", 0.1, .total_steps = 9,
      .div_factor = 0)
WRONG(one_cycle_lr, "a final_div_factor of 0", "|final_div_factor|25 and 0", 0.1, .total_steps = 9,
      .final_div_factor = 0)
WRONG(one_cycle_lr, "a base_momentum of 1", "base_momentum is 1", 0.1, .total_steps = 9,
      .base_momentum = 1)
WRONG(one_cycle_lr, "a negative max_momentum", "max_momentum is -1", 0.1, .total_steps = 9,
      .max_momentum = -1)
WRONG(one_cycle_lr, "a negative max_lr", "max_lr is -0.1", -0.1, .total_steps = 9)
WRONG(one_cycle_lr, "max_lrs of another count", "max_lr has 2 numbers for 1 groups", 0.1,
      .total_steps = 9, .max_lrs = LIST(1, 2), .max_lr_count = 2)
WRONG(one_cycle_lr, "a count without max_lrs", "max_lr is NULL|2", 0.1, .total_steps = 9,
      .max_lr_count = 2)
WRONG(cyclic_lr, "no steps up", "step_size_up is 0", 0.1, 0.2, .step_size_up = 0)
WRONG(cyclic_lr, "negative steps down", "step_size_down is -1", 0.1, 0.2, .step_size_down = -1)
WRONG(cyclic_lr, "no such mode", "|mode 9", 0.1, 0.2, .mode = (tern_cyclic_mode)9)
WRONG(cyclic_lr, "a negative gamma", "gamma is -1", 0.1, 0.2, .gamma = -1)
WRONG(cyclic_lr, "a negative base_lr", "base_lr is -0.1", -0.1, 0.2)
WRONG(cyclic_lr, "a max_lr that is NaN", "max_lr is nan", 0.1, NAN)
WRONG(cyclic_lr, "base_lrs of another count", "base_lr has 2 numbers", 0.1, 0.2,
      .base_lrs = LIST(1, 2), .lr_count = 2)
WRONG(cyclic_lr, "a base_momentum above 1", "base_momentum is 2", 0.1, 0.2, .base_momentum = 2)
WRONG(cyclic_lr, "a max_momentum above 1", "max_momentum is 2", 0.1, 0.2, .max_momentum = 2)
WRONG(reduce_lr_on_plateau, "no mode", "mode is 0", .mode = TERN_MODE_UNSPECIFIED)
WRONG(reduce_lr_on_plateau, "a factor of 1", "factor is 1|below 1", .factor = 1)
WRONG(reduce_lr_on_plateau, "a factor of 0", "factor is 0|above 0", .factor = 0)
WRONG(reduce_lr_on_plateau, "a negative patience", "patience and cooldown are -1 and 0",
      .patience = -1)
WRONG(reduce_lr_on_plateau, "a negative cooldown", "patience and cooldown are 10 and -1",
      .cooldown = -1)
WRONG(reduce_lr_on_plateau, "a negative threshold", "threshold is -1", .threshold = -1)
WRONG(reduce_lr_on_plateau, "a threshold of all", "threshold is 1 of the best", .threshold = 1)
WRONG(reduce_lr_on_plateau, "no such threshold_mode", "|threshold_mode 5",
      .threshold_mode = (tern_threshold_mode)5)
WRONG(reduce_lr_on_plateau, "a negative eps", "eps is -1", .eps = -1)
WRONG(reduce_lr_on_plateau, "a negative min_lr", "min_lr is -1", .min_lr = -1)
WRONG(reduce_lr_on_plateau, "min_lrs of another count", "min_lr has 2 numbers",
      .min_lrs = LIST(1, 2), .min_lr_count = 2)
WRONG(swa_lr, "negative epochs", "anneal_epochs is -1", 0.1, .anneal_epochs = -1)
WRONG(swa_lr, "no such strategy", "|anneal_strategy 7", 0.1,
      .anneal_strategy = (tern_anneal_strategy)7)
WRONG(swa_lr, "a negative swa_lr", "swa_lr is -1", -1)
WRONG(swa_lr, "swa_lrs of another count", "swa_lr has 2 numbers", 0.1, .swa_lrs = LIST(1, 2),
      .swa_lr_count = 2)

static tern_sched *cycle_of_adagrad(fixture *f, bool one_cycle)
{
    tern_optim *adagrad = tern_optim_adagrad(f->net);
    tern_sched *sched = one_cycle ? tern_sched_one_cycle_lr(adagrad, 0.1, .total_steps = 9)
                                  : tern_sched_cyclic_lr(adagrad, 0.1, 0.2);
    tern_optim_free(adagrad);
    return sched;
}
REFUSES(tern_sched_one_cycle_lr_with, "an optimizer without momentum", TERN_ERR_ARG,
        "sched_one_cycle_lr: Adagrad has neither momentum nor betas|.cycle_momentum = false",
        cycle_of_adagrad(f, true))
REFUSES(tern_sched_cyclic_lr_with, "an optimizer without momentum", TERN_ERR_ARG,
        "sched_cyclic_lr: Adagrad has neither momentum nor betas", cycle_of_adagrad(f, false))

// ---- several ------------------------------------------------------------------------------------

#define STEPS(optim) tern_sched_step_lr(optim, 3)
REFUSES(tern_sched_sequential_lr_new, "a list that is NULL", TERN_ERR_NULL,
        "sched_sequential_lr: scheds is NULL", tern_sched_sequential_lr_new(1, NULL))
REFUSES(tern_sched_sequential_lr_new, "an empty list", TERN_ERR_ARG,
        "sched_sequential_lr: there are no schedulers", tern_sched_sequential_lr_new(0, NULL))
REFUSES(tern_sched_sequential_lr_new, "a scheduler that is NULL", TERN_ERR_NULL,
        "sched_sequential_lr: scheduler 1 is NULL",
        tern_sched_sequential_lr({STEPS(f->optim), 0}, {NULL, 5}))
REFUSES(tern_sched_sequential_lr_new, "a begin after 0", TERN_ERR_ARG,
        "sched_sequential_lr: scheduler 0 begins at epoch 2",
        tern_sched_sequential_lr({STEPS(f->optim), 2}))
REFUSES(tern_sched_sequential_lr_new, "begins that do not rise", TERN_ERR_ARG,
        "sched_sequential_lr: scheduler 1 begins at epoch 0",
        tern_sched_sequential_lr({STEPS(f->optim), 0}, {STEPS(f->optim), 0}))
REFUSES(tern_sched_sequential_lr_new, "another optimizer", TERN_ERR_ARG,
        "sched_sequential_lr: scheduler 1 is of another optimizer",
        tern_sched_sequential_lr({STEPS(f->optim), 0}, {STEPS(f->adam), 5}))
REFUSES(tern_sched_sequential_lr_new, "a scheduler that takes a metric", TERN_ERR_ARG,
        "sched_sequential_lr: scheduler 1, a ReduceLROnPlateau, takes a metric",
        tern_sched_sequential_lr({STEPS(f->optim), 0},
                                 {tern_sched_reduce_lr_on_plateau(f->optim), 5}))
REFUSES(tern_sched_sequential_lr_new, "one of several", TERN_ERR_ARG,
        "sched_sequential_lr: scheduler 0 is a ChainedScheduler",
        tern_sched_sequential_lr({tern_sched_chained(STEPS(f->optim)), 0}))
REFUSES(tern_sched_chained_new, "a list that is NULL", TERN_ERR_NULL,
        "sched_chained: scheds is NULL", tern_sched_chained_new(1, NULL))
REFUSES(tern_sched_chained_new, "an empty list", TERN_ERR_ARG,
        "sched_chained: there are no schedulers", tern_sched_chained_new(0, NULL))
REFUSES(tern_sched_chained_new, "a negative count", TERN_ERR_ARG,
        "sched_chained: there are no schedulers", tern_sched_chained_new(-1, NULL))
REFUSES(tern_sched_chained_new, "a scheduler that is NULL", TERN_ERR_NULL,
        "sched_chained: scheduler 0 is NULL", tern_sched_chained(NULL, STEPS(f->optim)))
REFUSES(tern_sched_warmup, "a scheduler that is NULL", TERN_ERR_NULL, "sched_warmup: after is NULL",
        tern_sched_warmup(NULL, 5))
REFUSES(tern_sched_warmup, "no steps", TERN_ERR_ARG, "sched_warmup: steps is 0",
        tern_sched_warmup(STEPS(f->optim), 0))

static tern_sched *one_twice(tern_optim *optim)
{
    tern_sched *steps = STEPS(optim);
    tern_sched_retain(steps);
    return tern_sched_chained(steps, steps);
}
REFUSES(tern_sched_chained_new, "one scheduler twice", TERN_ERR_ARG,
        "sched_chained: schedulers 0 and 1 are one", one_twice(f->optim))

static int part_of_two(tern_optim *optim)
{
    tern_sched *steps = STEPS(optim);
    tern_sched *first = tern_sched_chained(tern_sched_retain(steps));
    tern_sched *second = tern_sched_chained(tern_sched_retain(steps));
    const int refused = !second;
    tern_sched_free(steps);
    tern_sched_free(first);
    tern_sched_free(second);
    return refused;
}
REFUSES(tern_sched_chained_new, "a part of another", TERN_ERR_STATE,
        "sched_chained: scheduler 0, a StepLR, is a part of a ChainedScheduler already",
        part_of_two(f->optim))

// ---- steps --------------------------------------------------------------------------------------

#define NO_SCHED(function, op, ...)                                                                \
    REFUSES(function, "a scheduler that is NULL", TERN_ERR_NULL, op ": sched is NULL", __VA_ARGS__)

static int is_nan(double value)
{
    return isnan(value) != 0;
}

// What a step of a scheduler is refused with, which is freed then.
static tern_status step_of(tern_sched *sched, double epoch)
{
    const tern_status status = tern_sched_step(sched, .epoch = epoch, .allow_early = true);
    tern_sched_free(sched);
    return status;
}

static tern_status step_of_a_part(tern_optim *optim)
{
    tern_sched *steps = STEPS(optim), *chained = tern_sched_chained(tern_sched_retain(steps));
    const tern_status status = tern_sched_step(steps, .allow_early = true);
    tern_sched_free(steps);
    tern_sched_free(chained);
    return status;
}

static tern_status two_that_overwrite(tern_optim *optim)
{
    tern_sched *cosine = tern_sched_cosine_annealing_warm_restarts(optim, 5);
    tern_sched *lambda = tern_sched_lambda_lr(optim, one);
    tern_status status = tern_error_pending() ? TERN_OK : tern_sched_step(lambda, .allow_early = 1);
    if (!status)
        status = tern_sched_step(cosine, .allow_early = true);
    tern_sched_free(cosine);
    tern_sched_free(lambda);
    return status;
}

static tern_status step_with_a_new_group(fixture *f)
{
    tern_optim *optim = tern_optim_sgd(f->net);
    tern_sched *sched = tern_sched_lambda_lr(optim, one);
    (void)!tern_optim_add_group(optim, NULL, .params = (tern_tensor *[]){f->leaf},
                                .param_count = 1);
    tern_optim_free(optim);
    return step_of(sched, NAN);
}

NO_SCHED(tern_sched_step_with, "sched_step", tern_sched_step(NULL))
REFUSES(tern_sched_step_with, "options that are NULL", TERN_ERR_NULL, "sched_step: options is NULL",
        tern_sched_step_with(NULL))
REFUSES(tern_sched_step_with, "a step before the optimizer's", TERN_ERR_STATE,
        "sched_step: the Adam has made no step yet|tern_optim_step|.allow_early",
        tern_sched_step(f->sched))
REFUSES(tern_sched_step_with, "one that takes a metric", TERN_ERR_STATE,
        "sched_step: ReduceLROnPlateau takes a metric|tern_sched_step_metric",
        step_of(tern_sched_reduce_lr_on_plateau(f->optim), NAN))
REFUSES(tern_sched_step_with, "a part of another", TERN_ERR_STATE,
        "sched_step: this StepLR is a part of a ChainedScheduler", step_of_a_part(f->optim))
REFUSES(tern_sched_step_with, "the second that overwrites the rate", TERN_ERR_STATE,
        "sched_step: CosineAnnealingWarmRestarts and LambdaLR both|tern_sched_sequential_lr",
        two_that_overwrite(f->optim))
REFUSES(tern_sched_step_with, "a group that it does not know", TERN_ERR_STATE,
        "sched_step: group 1 was added after this LambdaLR was made", step_with_a_new_group(f))
REFUSES(tern_sched_step_with, "a negative epoch", TERN_ERR_ARG, "sched_step: epoch is -1",
        tern_sched_step(f->sched, .epoch = -1, .allow_early = true))
REFUSES(tern_sched_step_with, "an infinite epoch", TERN_ERR_ARG, "sched_step: epoch is inf",
        tern_sched_step(f->sched, .epoch = INFINITY, .allow_early = true))
REFUSES(tern_sched_step_with, "a part of an epoch", TERN_ERR_ARG,
        "sched_step: epoch is 1.5; StepLR takes whole ones",
        tern_sched_step(f->sched, .epoch = 1.5, .allow_early = true))
REFUSES(tern_sched_step_with, "an epoch without a closed formula", TERN_ERR_UNSUPPORTED,
        "sched_step: MultiplicativeLR has no closed formula",
        step_of(tern_sched_multiplicative_lr(f->optim, one), 3))
REFUSES(tern_sched_step_with, "an epoch of SWALR", TERN_ERR_UNSUPPORTED,
        "sched_step: SWALR has no closed formula", step_of(tern_sched_swa_lr(f->optim, 0.1), 3))
REFUSES(tern_sched_step_with, "an epoch of several", TERN_ERR_UNSUPPORTED,
        "sched_step: ChainedScheduler has no closed formula",
        step_of(tern_sched_chained(STEPS(f->optim)), 3))
REFUSES(tern_sched_step_with, "a step beyond one cycle", TERN_ERR_STATE,
        "sched_step: this OneCycleLR is for 9 steps",
        step_of(tern_sched_one_cycle_lr(f->optim, 0.1, .total_steps = 9), 10))
REFUSES(tern_sched_step_with, "a rate that is infinite", TERN_ERR_NUMERIC,
        "sched_step: LambdaLR makes the lr of group 0 inf in epoch 1",
        step_of(tern_sched_lambda_lr(f->optim, infinite_at_1), NAN))
NO_SCHED(tern_sched_step_metric, "sched_step_metric", tern_sched_step_metric(NULL, 1))
REFUSES(tern_sched_step_metric, "one that takes no metric", TERN_ERR_STATE,
        "sched_step_metric: StepLR takes no metric|tern_sched_step",
        tern_sched_step_metric(f->sched, 1))
NO_SCHED(tern_sched_last_lr, "sched_last_lr", is_nan(tern_sched_last_lr(NULL, 0)))
REFUSES(tern_sched_last_lr, "a group that there is not", TERN_ERR_INDEX,
        "sched_last_lr: there is no group 1; StepLR has 1", is_nan(tern_sched_last_lr(f->sched, 1)))
REFUSES(tern_sched_last_lr, "all groups", TERN_ERR_INDEX, "sched_last_lr: |group -1",
        is_nan(tern_sched_last_lr(f->sched, TERN_ALL_GROUPS)))
NO_SCHED(tern_sched_last_epoch, "sched_last_epoch", tern_sched_last_epoch(NULL) == -1)

CANNOT_FAIL(tern_sched_retain, "NULL stays NULL", !tern_sched_retain(NULL))
CANNOT_FAIL(tern_sched_free, "NULL is fine", (tern_sched_free(tern_sched_retain(f->sched)), 1))
TAKES(tern_sched_retain, "NULL", tern_sched_retain(NULL) == NULL)
TAKES(tern_sched_free, "NULL", (tern_sched_free(NULL), 1))

// ---- state --------------------------------------------------------------------------------------

NO_SCHED(tern_sched_state_dict, "sched_state_dict", tern_sched_state_dict(NULL) == NULL)
NO_SCHED(tern_sched_load_state_dict, "sched_load_state_dict",
         tern_sched_load_state_dict(NULL, f->state))
NO_SCHED(tern_visit_sched, "visit_sched", tern_visit_sched(NULL, "sched", NULL))
REFUSES(tern_sched_load_state_dict, "no state", TERN_ERR_NULL, "sched_load_state_dict: state",
        tern_sched_load_state_dict(f->sched, NULL))
REFUSES(tern_sched_load_state_dict, "the state of something else", TERN_ERR_ARG,
        "sched_load_state_dict: |missing|\"scheduler\"|unexpected 2: \"x\", \"count\"",
        tern_sched_load_state_dict(f->sched, f->state))

// Loads the state of StepLR of 30 steps with another value in it.
static tern_status load_with(fixture *f, const char *name, double value)
{
    tern_state *state = tern_sched_state_dict(f->sched);
    (void)!tern_state_set_double(state, name, value);
    const tern_status status = tern_sched_load_state_dict(f->sched, state);
    tern_state_free(state);
    return status;
}

static tern_status load_epoch(fixture *f, int64_t epoch)
{
    tern_state *state = tern_sched_state_dict(f->sched);
    (void)!tern_state_set_int(state, "last_epoch", epoch);
    const tern_status status = tern_sched_load_state_dict(f->sched, state);
    tern_state_free(state);
    return status;
}

static tern_status load_of_another(fixture *f)
{
    tern_sched *other = tern_sched_exponential_lr(f->optim, 0.1);
    tern_state *state = tern_sched_state_dict(other);
    const tern_status status = tern_sched_load_state_dict(f->sched, state);
    tern_state_free(state);
    tern_sched_free(other);
    return status;
}
REFUSES(tern_sched_load_state_dict, "another option", TERN_ERR_ARG,
        "sched_load_state_dict: |\"step_size\" is 7 in the state and 30 here",
        load_with(f, "step_size", 7))
REFUSES(tern_sched_load_state_dict, "a negative rate", TERN_ERR_ARG,
        "sched_load_state_dict: |\"last_lr.0\" is -1", load_with(f, "last_lr.0", -1))
REFUSES(tern_sched_load_state_dict, "an infinite rate", TERN_ERR_ARG,
        "sched_load_state_dict: |\"base_lrs.0\" is inf", load_with(f, "base_lrs.0", INFINITY))
REFUSES(tern_sched_load_state_dict, "a negative epoch", TERN_ERR_ARG,
        "sched_load_state_dict: |\"last_epoch\" is -1", load_epoch(f, -1))
REFUSES(tern_sched_load_state_dict, "another kind", TERN_ERR_ARG,
        "sched_load_state_dict: |ExponentialLR|StepLR", load_of_another(f))
