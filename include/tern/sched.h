// SPDX-License-Identifier: Apache-2.0
/// @file
/// Schedulers: they change an optimizer's learning rate as training goes on. Formulas, defaults and
/// numbers are those of torch.optim.lr_scheduler.
///
///     tern_sched *sched = tern_sched_cosine_annealing_lr(opt, 100);
///     for (int epoch = 0; epoch < 100; epoch++) {
///         ...                       // backward and tern_optim_step, batch for batch
///         if (tern_sched_step(sched))
///             return tern_error_print(stderr);
///     }
///     tern_sched_free(sched);
///
/// A scheduler holds its optimizer: both may be freed in any order. It counts its steps from 0, the
/// epoch, which the constructor reaches: the optimizer has the first rate of the schedule then.
/// What a step is, an epoch or a batch, is up to the loop. Rates are computed in double. Most
/// schedulers multiply the rate that the group has, so several may act on one optimizer, and a rate
/// that was set by hand goes on from there; those that compute the rate from the epoch alone
/// (LambdaLR, CosineAnnealingWarmRestarts, OneCycleLR, CyclicLR) overwrite it, and two of these on
/// one optimizer, but for parts of tern_sched_sequential_lr and tern_sched_chained, are
/// TERN_ERR_STATE. Captured steps take the new rate from the next replay on.
///
/// Each group keeps the rate from before its first scheduler: tern_optim_get(opt, 0, "initial_lr").
/// It is saved with the optimizer. Failed calls return NULL, a status, -1 or NAN, with an error
/// pending, and change nothing. Threads: a scheduler is used by the thread that uses its optimizer.
#ifndef TERN_SCHED_H
#define TERN_SCHED_H

#include <math.h>
#include <tern/optim.h>
#include <tern/options.h>
#include <tern/state.h>

TERN_BEGIN_DECLS

/// What changes the learning rates of an optimizer; made by tern_sched_step_lr and its like.
typedef struct tern_sched tern_sched;
TERN_REQUIRED_TYPE_(sched, tern_sched *)

// ---- making one ---------------------------------------------------------------------------------
// lr0 is a group's initial_lr, k the epoch, "lr" the rate that the group has. Options that make no
// sense are TERN_ERR_ARG; the sentence says which. NULL on failure. Freed with tern_sched_free.

/// A factor of group 0, 1, ... at an epoch. It may raise an error, and then returns what it likes.
typedef double tern_sched_lambda_fn(int64_t epoch, int group, void *user);
TERN_REQUIRED_TYPE_(sched_lambda_fn, tern_sched_lambda_fn *)

/// `tern_sched_lambda_lr(opt, factor, .user = &table)`.
typedef struct tern_sched_lambda_options {
    void *user; ///< handed to the function; borrowed
    char reserved_;
    tern_optim *optim;            ///< whose rates change
    tern_sched_lambda_fn *lambda; ///< called for each group in order
} tern_sched_lambda_options;
#define TERN_SCHED_LAMBDA_DEFAULTS_ .user = NULL
#define TERN_SCHED_LAMBDA_FIELDS_   2, 0, (optim, lambda), (optim, sched_lambda_fn)
TERN_API tern_sched_lambda_options tern_sched_lambda_defaults(void);
/// LambdaLR: lr0 lambda(k).
TERN_API tern_sched *tern_sched_lambda_lr_with(const tern_sched_lambda_options *options);
/// MultiplicativeLR: lr lambda(k), from k = 1 on.
TERN_API tern_sched *tern_sched_multiplicative_lr_with(const tern_sched_lambda_options *options);
#define tern_sched_lambda_lr(...)                                                                  \
    TERN_WITH_(tern_sched_lambda_lr, tern_sched_lambda, TERN_SCHED_LAMBDA, __VA_ARGS__)
#define tern_sched_multiplicative_lr(...)                                                          \
    TERN_WITH_(tern_sched_multiplicative_lr, tern_sched_lambda, TERN_SCHED_LAMBDA, __VA_ARGS__)

/// `tern_sched_step_lr(opt, 30, .gamma = 0.5)`.
typedef struct tern_sched_step_lr_options {
    double gamma; ///< >= 0
    char reserved_;
    tern_optim *optim; ///< whose rates change
    int64_t step_size; ///< > 0
} tern_sched_step_lr_options;
#define TERN_SCHED_STEP_LR_DEFAULTS_ .gamma = 0.1
#define TERN_SCHED_STEP_LR_FIELDS_   2, 0, (optim, step_size), (optim, int64)
TERN_API tern_sched_step_lr_options tern_sched_step_lr_defaults(void);
/// StepLR: lr gamma at each multiple of step_size but 0.
TERN_API tern_sched *tern_sched_step_lr_with(const tern_sched_step_lr_options *options);
#define tern_sched_step_lr(...)                                                                    \
    TERN_WITH_(tern_sched_step_lr, tern_sched_step_lr, TERN_SCHED_STEP_LR, __VA_ARGS__)

/// `tern_sched_multi_step_lr(opt, .milestones = (int64_t[]){30, 80}, .milestone_count = 2)`.
typedef struct tern_sched_multi_step_lr_options {
    const int64_t *milestones; ///< epochs, 0 or more, in any order; copied
    int64_t milestone_count;   ///< of `milestones`, at least 1
    double gamma;              ///< >= 0
    char reserved_;
    tern_optim *optim; ///< whose rates change
} tern_sched_multi_step_lr_options;
#define TERN_SCHED_MULTI_STEP_LR_DEFAULTS_ .milestones = NULL, .milestone_count = 0, .gamma = 0.1
#define TERN_SCHED_MULTI_STEP_LR_FIELDS_   1, 0, (optim), (optim)
TERN_API tern_sched_multi_step_lr_options tern_sched_multi_step_lr_defaults(void);
/// MultiStepLR: lr gamma^c at each milestone, c being how often it is listed.
TERN_API tern_sched *tern_sched_multi_step_lr_with(const tern_sched_multi_step_lr_options *options);
#define tern_sched_multi_step_lr(...)                                                              \
    TERN_WITH_(tern_sched_multi_step_lr, tern_sched_multi_step_lr, TERN_SCHED_MULTI_STEP_LR,       \
               __VA_ARGS__)

/// ExponentialLR: lr gamma, from k = 1 on. gamma >= 0.
TERN_API tern_sched *tern_sched_exponential_lr(tern_optim *optim, double gamma);

/// `tern_sched_constant_lr(opt, .factor = 0.5, .total_iters = 4)`.
typedef struct tern_sched_constant_lr_options {
    double factor;       ///< above 0, at most 1
    int64_t total_iters; ///< > 0: the rate is as before from that epoch on
    char reserved_;
    tern_optim *optim; ///< whose rates change
} tern_sched_constant_lr_options;
#define TERN_SCHED_CONSTANT_LR_DEFAULTS_ .factor = 1.0 / 3, .total_iters = 5
#define TERN_SCHED_CONSTANT_LR_FIELDS_   1, 0, (optim), (optim)
TERN_API tern_sched_constant_lr_options tern_sched_constant_lr_defaults(void);
/// ConstantLR: lr factor at k = 0, lr / factor at k = total_iters.
TERN_API tern_sched *tern_sched_constant_lr_with(const tern_sched_constant_lr_options *options);
#define tern_sched_constant_lr(...)                                                                \
    TERN_WITH_(tern_sched_constant_lr, tern_sched_constant_lr, TERN_SCHED_CONSTANT_LR, __VA_ARGS__)

/// `tern_sched_linear_lr(opt, .start_factor = 0.1, .total_iters = 4)`.
typedef struct tern_sched_linear_lr_options {
    double start_factor; ///< above 0, at most 1
    double end_factor;   ///< 0 to 1
    int64_t total_iters; ///< > 0
    char reserved_;
    tern_optim *optim; ///< whose rates change
} tern_sched_linear_lr_options;
#define TERN_SCHED_LINEAR_LR_DEFAULTS_ .start_factor = 1.0 / 3, .end_factor = 1, .total_iters = 5
#define TERN_SCHED_LINEAR_LR_FIELDS_   1, 0, (optim), (optim)
TERN_API tern_sched_linear_lr_options tern_sched_linear_lr_defaults(void);
/// LinearLR: lr0 times a factor that goes from start_factor to end_factor in total_iters steps, as
/// a product of the factors' ratios.
TERN_API tern_sched *tern_sched_linear_lr_with(const tern_sched_linear_lr_options *options);
#define tern_sched_linear_lr(...)                                                                  \
    TERN_WITH_(tern_sched_linear_lr, tern_sched_linear_lr, TERN_SCHED_LINEAR_LR, __VA_ARGS__)

/// `tern_sched_polynomial_lr(opt, .total_iters = 100, .power = 2)`.
typedef struct tern_sched_polynomial_lr_options {
    int64_t total_iters; ///< > 0
    double power;        ///< >= 0
    char reserved_;
    tern_optim *optim; ///< whose rates change
} tern_sched_polynomial_lr_options;
#define TERN_SCHED_POLYNOMIAL_LR_DEFAULTS_ .total_iters = 5, .power = 1
#define TERN_SCHED_POLYNOMIAL_LR_FIELDS_   1, 0, (optim), (optim)
TERN_API tern_sched_polynomial_lr_options tern_sched_polynomial_lr_defaults(void);
/// PolynomialLR: lr0 (1 - k / total_iters)^power, as a product of ratios; 0 from total_iters on.
TERN_API tern_sched *tern_sched_polynomial_lr_with(const tern_sched_polynomial_lr_options *options);
#define tern_sched_polynomial_lr(...)                                                              \
    TERN_WITH_(tern_sched_polynomial_lr, tern_sched_polynomial_lr, TERN_SCHED_POLYNOMIAL_LR,       \
               __VA_ARGS__)

/// `tern_sched_cosine_annealing_lr(opt, 100, .eta_min = 1e-5)`.
typedef struct tern_sched_cosine_annealing_lr_options {
    double eta_min; ///< >= 0, the least rate
    char reserved_;
    tern_optim *optim; ///< whose rates change
    int64_t t_max;     ///< > 0, the steps down; then it goes up again
} tern_sched_cosine_annealing_lr_options;
#define TERN_SCHED_COSINE_ANNEALING_LR_DEFAULTS_ .eta_min = 0
#define TERN_SCHED_COSINE_ANNEALING_LR_FIELDS_   2, 0, (optim, t_max), (optim, int64)
TERN_API tern_sched_cosine_annealing_lr_options tern_sched_cosine_annealing_lr_defaults(void);
/// CosineAnnealingLR: eta_min + (lr0 - eta_min) (1 + cos(pi k / t_max)) / 2, as a recursion on lr
/// (Loshchilov and Hutter 2016, without restarts).
TERN_API tern_sched *tern_sched_cosine_annealing_lr_with(
    const tern_sched_cosine_annealing_lr_options *options);
#define tern_sched_cosine_annealing_lr(...)                                                        \
    TERN_WITH_(tern_sched_cosine_annealing_lr, tern_sched_cosine_annealing_lr,                     \
               TERN_SCHED_COSINE_ANNEALING_LR, __VA_ARGS__)

/// `tern_sched_cosine_annealing_warm_restarts(opt, 10, .t_mult = 2)`.
typedef struct tern_sched_cosine_annealing_warm_restarts_options {
    int64_t t_mult; ///< >= 1: each period is so many times as long as the one before
    double eta_min; ///< >= 0, the least rate
    char reserved_;
    tern_optim *optim; ///< whose rates change
    int64_t t_0;       ///< > 0, steps of the first period
} tern_sched_cosine_annealing_warm_restarts_options;
#define TERN_SCHED_COSINE_ANNEALING_WARM_RESTARTS_DEFAULTS_ .t_mult = 1, .eta_min = 0
#define TERN_SCHED_COSINE_ANNEALING_WARM_RESTARTS_FIELDS_   2, 0, (optim, t_0), (optim, int64)
/// What they are unless said.
TERN_API tern_sched_cosine_annealing_warm_restarts_options
tern_sched_cosine_annealing_warm_restarts_defaults(void);
/// CosineAnnealingWarmRestarts: eta_min + (lr0 - eta_min) (1 + cos(pi t / T)) / 2, t being the
/// steps since the last restart and T the length of the period (Loshchilov and Hutter 2016).
TERN_API tern_sched *tern_sched_cosine_annealing_warm_restarts_with(
    const tern_sched_cosine_annealing_warm_restarts_options *options);
#define tern_sched_cosine_annealing_warm_restarts(...)                                             \
    TERN_WITH_(tern_sched_cosine_annealing_warm_restarts,                                          \
               tern_sched_cosine_annealing_warm_restarts,                                          \
               TERN_SCHED_COSINE_ANNEALING_WARM_RESTARTS, __VA_ARGS__)

/// How a rate goes from one value to another.
typedef enum tern_anneal_strategy {
    TERN_ANNEAL_COS = 0, ///< along half a wave of the cosine
    TERN_ANNEAL_LINEAR   ///< along a line
} tern_anneal_strategy;

/// `tern_sched_one_cycle_lr(opt, 0.1, .total_steps = 1000)`.
typedef struct tern_sched_one_cycle_lr_options {
    int64_t total_steps;                  ///< > 0, or 0 with both of the next
    int64_t epochs;                       ///< with steps_per_epoch, instead of total_steps
    int64_t steps_per_epoch;              ///< with epochs
    double pct_start;                     ///< 0 to 1, the part in which the rate rises
    tern_anneal_strategy anneal_strategy; ///< how it rises and falls
    bool cycle_momentum;                  ///< momentum, or betas[0], goes the other way
    double base_momentum;                 ///< where the rate is the greatest
    double max_momentum;                  ///< at the begin and at the end
    double div_factor;                    ///< > 0: the first rate is max_lr / div_factor
    double final_div_factor;              ///< > 0: the last is the first / final_div_factor
    bool three_phase;                     ///< as long down to the first rate, then to the last
    const double *max_lrs;                ///< one for each group instead of max_lr, or NULL; copied
    int64_t max_lr_count;                 ///< of `max_lrs`: the number of groups
    char reserved_;
    tern_optim *optim; ///< whose rates change
    double max_lr;     ///< > 0, the greatest rate
} tern_sched_one_cycle_lr_options;
#define TERN_SCHED_ONE_CYCLE_LR_DEFAULTS_                                                          \
    .total_steps = 0, .epochs = 0, .steps_per_epoch = 0, .pct_start = 0.3,                         \
    .anneal_strategy = TERN_ANNEAL_COS, .cycle_momentum = true, .base_momentum = 0.85,             \
    .max_momentum = 0.95, .div_factor = 25, .final_div_factor = 1e4, .three_phase = false,         \
    .max_lrs = NULL, .max_lr_count = 0
#define TERN_SCHED_ONE_CYCLE_LR_FIELDS_ 2, 0, (optim, max_lr), (optim, double)
TERN_API tern_sched_one_cycle_lr_options tern_sched_one_cycle_lr_defaults(void);
/// OneCycleLR (Smith and Topin 2017): up to max_lr in pct_start of the steps, then down. Stepped
/// for each batch. It sets initial_lr. The step after the last batch, number total_steps, keeps the
/// last rate; another one is TERN_ERR_STATE.
TERN_API tern_sched *tern_sched_one_cycle_lr_with(const tern_sched_one_cycle_lr_options *options);
#define tern_sched_one_cycle_lr(...)                                                               \
    TERN_WITH_(tern_sched_one_cycle_lr, tern_sched_one_cycle_lr, TERN_SCHED_ONE_CYCLE_LR,          \
               __VA_ARGS__)

/// The amplitude by the number of the cycle, from 1, or by the epoch. It may raise an error.
typedef double tern_sched_scale_fn(int64_t number, void *user);

/// The amplitude of the cycles.
typedef enum tern_cyclic_mode {
    TERN_CYCLIC_TRIANGULAR = 0, ///< the same
    TERN_CYCLIC_TRIANGULAR2,    ///< half of that of the cycle before
    TERN_CYCLIC_EXP_RANGE       ///< gamma^k
} tern_cyclic_mode;

/// `tern_sched_cyclic_lr(opt, 1e-3, 1e-2, .step_size_up = 500)`.
typedef struct tern_sched_cyclic_lr_options {
    int64_t step_size_up;       ///< > 0
    int64_t step_size_down;     ///< > 0, or 0: as step_size_up
    tern_cyclic_mode mode;      ///< unless there is a scale
    double gamma;               ///< >= 0, of TERN_CYCLIC_EXP_RANGE
    tern_sched_scale_fn *scale; ///< instead of the mode, or NULL
    bool scale_by_epoch;        ///< `scale` is handed the epoch instead of the cycle
    void *user;                 ///< handed to `scale`; borrowed
    bool cycle_momentum;        ///< momentum, or betas[0], goes the other way
    double base_momentum;       ///< the least
    double max_momentum;        ///< the greatest
    const double *base_lrs;     ///< one for each group instead of base_lr, or NULL; copied
    const double *max_lrs;      ///< likewise
    int64_t lr_count;           ///< of both: the number of groups
    char reserved_;
    tern_optim *optim; ///< whose rates change
    double base_lr;    ///< >= 0, the rate at the begin of each cycle
    double max_lr;     ///< >= 0, in the middle
} tern_sched_cyclic_lr_options;
#define TERN_SCHED_CYCLIC_LR_DEFAULTS_                                                             \
    .step_size_up = 2000, .step_size_down = 0, .mode = TERN_CYCLIC_TRIANGULAR, .gamma = 1,         \
    .scale = NULL, .scale_by_epoch = false, .user = NULL, .cycle_momentum = true,                  \
    .base_momentum = 0.8, .max_momentum = 0.9, .base_lrs = NULL, .max_lrs = NULL, .lr_count = 0
#define TERN_SCHED_CYCLIC_LR_FIELDS_ 3, 0, (optim, base_lr, max_lr), (optim, double, double)
TERN_API tern_sched_cyclic_lr_options tern_sched_cyclic_lr_defaults(void);
/// CyclicLR (Smith 2015): from base_lr up to max_lr and down again. Stepped for each batch. The
/// groups have base_lr from construction on.
TERN_API tern_sched *tern_sched_cyclic_lr_with(const tern_sched_cyclic_lr_options *options);
#define tern_sched_cyclic_lr(...)                                                                  \
    TERN_WITH_(tern_sched_cyclic_lr, tern_sched_cyclic_lr, TERN_SCHED_CYCLIC_LR, __VA_ARGS__)

/// Which metric is better.
typedef enum tern_metric_mode {
    TERN_MODE_UNSPECIFIED = 0, ///< none is
    TERN_MIN,                  ///< the smaller one: a loss
    TERN_MAX                   ///< the larger one: an accuracy
} tern_metric_mode;

/// What a threshold is a part of.
typedef enum tern_threshold_mode {
    TERN_THRESHOLD_REL = 0, ///< of the best metric's absolute value
    TERN_THRESHOLD_ABS      ///< it is a difference itself
} tern_threshold_mode;

/// `tern_sched_reduce_lr_on_plateau(opt, .factor = 0.5, .patience = 3)`.
typedef struct tern_sched_reduce_lr_on_plateau_options {
    tern_metric_mode mode;              ///< which metric is better
    double factor;                      ///< above 0, below 1
    int64_t patience;                   ///< >= 0: so many steps without a better one pass
    double threshold;                   ///< >= 0: by how much better counts
    tern_threshold_mode threshold_mode; ///< what that is a part of
    int64_t cooldown;                   ///< >= 0: steps that do not count after the rate changed
    double min_lr;                      ///< >= 0
    const double *min_lrs;              ///< one for each group instead of min_lr, or NULL; copied
    int64_t min_lr_count;               ///< of `min_lrs`: the number of groups
    double eps;                         ///< >= 0: a change that is not larger is left out
    char reserved_;
    tern_optim *optim; ///< whose rates change
} tern_sched_reduce_lr_on_plateau_options;
#define TERN_SCHED_REDUCE_LR_ON_PLATEAU_DEFAULTS_                                                  \
    .mode = TERN_MIN, .factor = 0.1, .patience = 10, .threshold = 1e-4,                            \
    .threshold_mode = TERN_THRESHOLD_REL, .cooldown = 0, .min_lr = 0, .min_lrs = NULL,             \
    .min_lr_count = 0, .eps = 1e-8
#define TERN_SCHED_REDUCE_LR_ON_PLATEAU_FIELDS_ 1, 0, (optim), (optim)
TERN_API tern_sched_reduce_lr_on_plateau_options tern_sched_reduce_lr_on_plateau_defaults(void);
/// ReduceLROnPlateau: lr factor, but at least min_lr, where the metric of tern_sched_step_metric
/// was not better for more than `patience` steps. NAN is never better. Sets no initial_lr.
TERN_API tern_sched *tern_sched_reduce_lr_on_plateau_with(
    const tern_sched_reduce_lr_on_plateau_options *options);
#define tern_sched_reduce_lr_on_plateau(...)                                                       \
    TERN_WITH_(tern_sched_reduce_lr_on_plateau, tern_sched_reduce_lr_on_plateau,                   \
               TERN_SCHED_REDUCE_LR_ON_PLATEAU, __VA_ARGS__)

/// `tern_sched_swa_lr(opt, 0.05, .anneal_epochs = 5)`.
typedef struct tern_sched_swa_lr_options {
    int64_t anneal_epochs;                ///< >= 0
    tern_anneal_strategy anneal_strategy; ///< how it goes there
    const double *swa_lrs;                ///< one for each group instead of swa_lr, or NULL; copied
    int64_t swa_lr_count;                 ///< of `swa_lrs`: the number of groups
    char reserved_;
    tern_optim *optim; ///< whose rates change
    double swa_lr;     ///< >= 0, the rate at the end
} tern_sched_swa_lr_options;
#define TERN_SCHED_SWA_LR_DEFAULTS_                                                                \
    .anneal_epochs = 10, .anneal_strategy = TERN_ANNEAL_COS, .swa_lrs = NULL, .swa_lr_count = 0
#define TERN_SCHED_SWA_LR_FIELDS_ 2, 0, (optim, swa_lr), (optim, double)
TERN_API tern_sched_swa_lr_options tern_sched_swa_lr_defaults(void);
/// SWALR of torch.optim.swa_utils (Izmailov et al. 2018): from the rate that the group has to
/// swa_lr in anneal_epochs steps; then it stays.
TERN_API tern_sched *tern_sched_swa_lr_with(const tern_sched_swa_lr_options *options);
#define tern_sched_swa_lr(...)                                                                     \
    TERN_WITH_(tern_sched_swa_lr, tern_sched_swa_lr, TERN_SCHED_SWA_LR, __VA_ARGS__)

// ---- several ------------------------------------------------------------------------------------
// They take over the references to the schedulers they are given, also on failure, and step them:
// calls that step a part are TERN_ERR_STATE. All are of one optimizer, none takes a metric.

/// A scheduler of tern_sched_sequential_lr.
typedef struct tern_sched_milestone {
    tern_sched *sched; ///< taken over
    int64_t begin;     ///< the epoch at which it begins; 0 for the first one
} tern_sched_milestone;
/// SequentialLR: one after another; begins rise. The rates start from initial_lr again. A part is
/// no tern_sched_sequential_lr and no tern_sched_chained.
TERN_API tern_sched *tern_sched_sequential_lr_new(int64_t count, const tern_sched_milestone *scheds)
    TERN_READS_(2, 1);
/// `tern_sched_sequential_lr({warmup, 0}, {cosine, 5})`.
#define tern_sched_sequential_lr(...)                                                              \
    TERN_ITEMS_(tern_sched_milestone, ({NULL, 0}), tern_sched_sequential_lr_new, __VA_ARGS__)

/// ChainedScheduler: each step steps all, in order.
TERN_API tern_sched *tern_sched_chained_new(int64_t count, tern_sched *const *scheds)
    TERN_READS_(2, 1);
/// `tern_sched_chained(a, b)`.
#define tern_sched_chained(...)                                                                    \
    TERN_ITEMS_(tern_sched *, (NULL), tern_sched_chained_new, __VA_ARGS__)

/// `steps` > 0 of linear warm-up, from lr0 / (steps + 1) up to lr0, before the schedule `after`:
/// tern_sched_sequential_lr of a LinearLR and it.
TERN_API tern_sched *tern_sched_warmup(tern_sched *after, int64_t steps);

// ---- steps --------------------------------------------------------------------------------------

/// `tern_sched_step(sched)`, `tern_sched_step(sched, .epoch = 12)`.
typedef struct tern_sched_step_options {
    double epoch;     ///< goes to that epoch by the closed formula; NAN: one on
    bool allow_early; ///< also before the optimizer's first step
    char reserved_;
    tern_sched *sched; ///< that steps
} tern_sched_step_options;
#define TERN_SCHED_STEP_DEFAULTS_ .epoch = NAN, .allow_early = false
#define TERN_SCHED_STEP_FIELDS_   1, 0, (sched), (sched)
TERN_API tern_sched_step_options tern_sched_step_defaults(void);
/// The next epoch: after the optimizer's steps of this one. A scheduler whose optimizer has made no
/// step would pass over its first rate: TERN_ERR_STATE without .allow_early. So are a scheduler
/// that takes a metric, a part of another one, the second that overwrites the rate, and a group
/// that was added since, where the schedule is not a recursion on its rate. With .epoch, 0 or more
/// and whole but for CosineAnnealingWarmRestarts: TERN_ERR_UNSUPPORTED where there is no closed
/// formula (MultiplicativeLR, SWALR and several). TERN_ERR_NUMERIC for a rate that is negative or
/// not finite.
TERN_API TERN_NODISCARD tern_status tern_sched_step_with(const tern_sched_step_options *options);
#define tern_sched_step(...)                                                                       \
    tern_status_of_(TERN_WITH_(tern_sched_step, tern_sched_step, TERN_SCHED_STEP, __VA_ARGS__))
/// The same with the metric that tern_sched_reduce_lr_on_plateau takes; TERN_ERR_STATE for others.
TERN_API TERN_NODISCARD tern_status tern_sched_step_metric(tern_sched *sched, double metric);

/// The rate that the last step gave group 0, 1, ...; NAN with TERN_ERR_INDEX.
TERN_API double tern_sched_last_lr(const tern_sched *sched, int group);
/// The epoch: 0 after construction; -1 on failure.
TERN_API int64_t tern_sched_last_epoch(const tern_sched *sched);

/// One more reference. Returns the scheduler. NULL stays NULL.
TERN_API tern_sched *tern_sched_retain(tern_sched *sched);
/// Gives a reference back; the last one frees it. NULL is fine.
TERN_API void tern_sched_free(tern_sched *sched);

// ---- state --------------------------------------------------------------------------------------

/// What is saved of a scheduler; freed with tern_state_free. "scheduler" is its kind ("StepLR"),
/// "last_epoch" and "step_count", "base_lrs.0" and "last_lr.0" and their like are where it is, and
/// its options have PyTorch's names ("gamma"). Parts are "schedulers.0" and so on. The rates of the
/// groups are saved with the optimizer. NULL on failure.
TERN_API tern_state *tern_sched_state_dict(tern_sched *sched);
/// Loads it, all or nothing, as tern_state_load. Another kind and other options are errors.
TERN_API TERN_NODISCARD tern_status tern_sched_load_state_dict(tern_sched *sched,
                                                               const tern_state *state);
/// A scheduler as a part of what a visit function visits, under "name.".
TERN_API TERN_NODISCARD tern_status tern_visit_sched(tern_state_visitor *visitor, const char *name,
                                                     tern_sched *sched);

TERN_END_DECLS

#endif
