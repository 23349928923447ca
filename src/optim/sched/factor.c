// SPDX-License-Identifier: Apache-2.0
// Schedulers that multiply the rate by a factor.
#include "base/callback.h"
#include "optim/sched/sched.h"

// ---- a function of the caller's -----------------------------------------------------------------

static double factor_of(const tern_sched *s, int group)
{
    tern_callback_begin();
    const double factor = s->lambda(s->now.epoch, group, s->user);
    tern_callback_end();
    return factor;
}

static double lambda_rate(const tern_sched *s, int group)
{
    return s->groups[group].base_lr * factor_of(s, group);
}

static double multiplicative_rate(const tern_sched *s, int group)
{
    const double lr = tern_sched_lr(s, group);
    return s->is_initial ? lr : lr * factor_of(s, group);
}

static const tern_sched_class lambda_class = {.name = "LambdaLR",
                                              .function = "sched_lambda_lr",
                                              .overwrites = true,
                                              .reads_base_lr = true,
                                              .rate = lambda_rate};
static const tern_sched_class multiplicative_class = {.name = "MultiplicativeLR",
                                                      .function = "sched_multiplicative_lr",
                                                      .recursive = true,
                                                      .reads_base_lr = true,
                                                      .rate = multiplicative_rate};

static tern_sched *make_lambda(const tern_sched_class *klass, const tern_sched_lambda_options *o)
{
    if (!o)
        return tern_sched_no_options(klass);
    if (!o->lambda) {
        (void)tern_null_error(klass->function, "lambda");
        return NULL;
    }
    tern_sched *sched = tern_sched_make(klass, o->optim, NULL);
    if (sched) {
        sched->lambda = o->lambda;
        sched->user = o->user;
    }
    return tern_sched_start(sched);
}

tern_sched *tern_sched_lambda_lr_with(const tern_sched_lambda_options *options)
{
    return make_lambda(&lambda_class, options);
}

tern_sched *tern_sched_multiplicative_lr_with(const tern_sched_lambda_options *options)
{
    return make_lambda(&multiplicative_class, options);
}

// ---- gamma --------------------------------------------------------------------------------------

// Of those that have it, the first; StepLR's size is the second.
enum { GAMMA, STEP_SIZE };
static const char *const gamma_options[] = {[GAMMA] = "gamma"};
static const char *const step_options[] = {[GAMMA] = "gamma", [STEP_SIZE] = "step_size"};

static double step_rate(const tern_sched *s, int group)
{
    const int64_t k = s->now.epoch;
    const double lr = tern_sched_lr(s, group);
    return k == 0 || k % (int64_t)s->option[STEP_SIZE] != 0 ? lr : lr * s->option[GAMMA];
}

static double step_closed_form(const tern_sched *s, int group)
{
    return s->groups[group].base_lr *
           pow(s->option[GAMMA], (double)(s->now.epoch / (int64_t)s->option[STEP_SIZE]));
}

static double multi_step_rate(const tern_sched *s, int group)
{
    const int64_t k = s->now.epoch;
    const int64_t here = tern_sched_passed(s, k) - tern_sched_passed(s, k - 1);
    const double lr = tern_sched_lr(s, group);
    return here == 0 ? lr : lr * pow(s->option[GAMMA], (double)here);
}

static double multi_step_closed_form(const tern_sched *s, int group)
{
    return s->groups[group].base_lr *
           pow(s->option[GAMMA], (double)tern_sched_passed(s, s->now.epoch));
}

static double exponential_rate(const tern_sched *s, int group)
{
    const double lr = tern_sched_lr(s, group);
    return s->is_initial ? lr : lr * s->option[GAMMA];
}

static double exponential_closed_form(const tern_sched *s, int group)
{
    return s->groups[group].base_lr * pow(s->option[GAMMA], (double)s->now.epoch);
}

static const tern_sched_class step_class = {.name = "StepLR",
                                            .function = "sched_step_lr",
                                            TERN_SCHED_OPTION_NAMES(step_options),
                                            .recursive = true,
                                            .reads_base_lr = true,
                                            .rate = step_rate,
                                            .closed_form = step_closed_form};
static const tern_sched_class multi_step_class = {.name = "MultiStepLR",
                                                  .function = "sched_multi_step_lr",
                                                  TERN_SCHED_OPTION_NAMES(gamma_options),
                                                  .recursive = true,
                                                  .reads_base_lr = true,
                                                  .rate = multi_step_rate,
                                                  .closed_form = multi_step_closed_form};
static const tern_sched_class exponential_class = {.name = "ExponentialLR",
                                                   .function = "sched_exponential_lr",
                                                   TERN_SCHED_OPTION_NAMES(gamma_options),
                                                   .recursive = true,
                                                   .reads_base_lr = true,
                                                   .rate = exponential_rate,
                                                   .closed_form = exponential_closed_form};

static tern_status check_gamma(const tern_sched_class *klass, double gamma)
{
    TERN_CHECK(isfinite(gamma) && gamma >= 0, TERN_ERR_ARG,
               "%s: gamma is %g, but must be 0 or more", klass->function, gamma);
    return TERN_OK;
}

static tern_sched *make_gamma(const tern_sched_class *klass, tern_optim *optim, double gamma,
                              double step_size)
{
    if (check_gamma(klass, gamma))
        return NULL;
    return tern_sched_make(klass, optim,
                           (const double[]){[GAMMA] = gamma, [STEP_SIZE] = step_size});
}

tern_sched *tern_sched_step_lr_with(const tern_sched_step_lr_options *o)
{
    if (!o)
        return tern_sched_no_options(&step_class);
    if (tern_sched_check_count(&step_class, "step_size", o->step_size))
        return NULL;
    return tern_sched_start(make_gamma(&step_class, o->optim, o->gamma, (double)o->step_size));
}

tern_sched *tern_sched_multi_step_lr_with(const tern_sched_multi_step_lr_options *o)
{
    if (!o)
        return tern_sched_no_options(&multi_step_class);
    TERN_CHECK_PTR(o->milestones && o->milestone_count > 0, TERN_ERR_ARG,
                   "sched_multi_step_lr: there are no milestones");
    for (int64_t i = 0; i < o->milestone_count; i++)
        TERN_CHECK_PTR(o->milestones[i] >= 0, TERN_ERR_ARG,
                       "sched_multi_step_lr: milestone %lld is %lld, but must be 0 or more",
                       (long long)i, (long long)o->milestones[i]);
    tern_sched *sched = make_gamma(&multi_step_class, o->optim, o->gamma, 0);
    if (sched && tern_sched_set_milestones(sched, o->milestones, o->milestone_count))
        return tern_sched_give_up(sched);
    return tern_sched_start(sched);
}

tern_sched *tern_sched_exponential_lr(tern_optim *optim, double gamma)
{
    return tern_sched_start(make_gamma(&exponential_class, optim, gamma, 0));
}

// ---- to the whole rate in total_iters -----------------------------------------------------------

enum { TOTAL_ITERS, FACTOR, END_FACTOR };
static const char *const constant_options[] = {[TOTAL_ITERS] = "total_iters", [FACTOR] = "factor"};
static const char *const linear_options[] = {
    [TOTAL_ITERS] = "total_iters", [FACTOR] = "start_factor", [END_FACTOR] = "end_factor"};
static const char *const polynomial_options[] = {[TOTAL_ITERS] = "total_iters", [FACTOR] = "power"};

static double constant_rate(const tern_sched *s, int group)
{
    const double lr = tern_sched_lr(s, group);
    if (s->now.epoch == 0)
        return lr * s->option[FACTOR];
    return (double)s->now.epoch != s->option[TOTAL_ITERS] ? lr : lr * (1.0 / s->option[FACTOR]);
}

static double constant_closed_form(const tern_sched *s, int group)
{
    const double whole = (double)s->now.epoch >= s->option[TOTAL_ITERS];
    return s->groups[group].base_lr * (s->option[FACTOR] + whole * (1 - s->option[FACTOR]));
}

static double linear_rate(const tern_sched *s, int group)
{
    const double k = (double)s->now.epoch, total = s->option[TOTAL_ITERS];
    const double start = s->option[FACTOR], end = s->option[END_FACTOR];
    const double lr = tern_sched_lr(s, group);
    if (k == 0)
        return lr * start;
    return k > total ? lr : lr * (1.0 + (end - start) / (total * start + (k - 1) * (end - start)));
}

static double linear_closed_form(const tern_sched *s, int group)
{
    const double total = s->option[TOTAL_ITERS], start = s->option[FACTOR];
    return s->groups[group].base_lr *
           (start + (s->option[END_FACTOR] - start) * fmin(total, (double)s->now.epoch) / total);
}

static double polynomial_rate(const tern_sched *s, int group)
{
    const double k = (double)s->now.epoch, total = s->option[TOTAL_ITERS];
    const double lr = tern_sched_lr(s, group);
    if (s->is_initial || k > total)
        return lr;
    return lr * pow((1.0 - k / total) / (1.0 - (k - 1) / total), s->option[FACTOR]);
}

static double polynomial_closed_form(const tern_sched *s, int group)
{
    const double total = s->option[TOTAL_ITERS];
    return s->groups[group].base_lr *
           pow(1.0 - fmin(total, (double)s->now.epoch) / total, s->option[FACTOR]);
}

static const tern_sched_class constant_class = {.name = "ConstantLR",
                                                .function = "sched_constant_lr",
                                                TERN_SCHED_OPTION_NAMES(constant_options),
                                                .recursive = true,
                                                .reads_base_lr = true,
                                                .rate = constant_rate,
                                                .closed_form = constant_closed_form};
static const tern_sched_class linear_class = {.name = "LinearLR",
                                              .function = "sched_linear_lr",
                                              TERN_SCHED_OPTION_NAMES(linear_options),
                                              .recursive = true,
                                              .reads_base_lr = true,
                                              .rate = linear_rate,
                                              .closed_form = linear_closed_form};
static const tern_sched_class polynomial_class = {.name = "PolynomialLR",
                                                  .function = "sched_polynomial_lr",
                                                  TERN_SCHED_OPTION_NAMES(polynomial_options),
                                                  .recursive = true,
                                                  .reads_base_lr = true,
                                                  .rate = polynomial_rate,
                                                  .closed_form = polynomial_closed_form};

static tern_status check_first(const tern_sched_class *klass, const char *name, double factor)
{
    TERN_CHECK(factor > 0 && factor <= 1, TERN_ERR_ARG,
               "%s: %s is %g, but must be above 0 and at most 1", klass->function, name, factor);
    return TERN_OK;
}

tern_sched *tern_sched_constant_lr_with(const tern_sched_constant_lr_options *o)
{
    if (!o)
        return tern_sched_no_options(&constant_class);
    if (tern_sched_check_count(&constant_class, "total_iters", o->total_iters) ||
        check_first(&constant_class, "factor", o->factor))
        return NULL;
    return tern_sched_start(tern_sched_make(
        &constant_class, o->optim,
        (const double[]){[TOTAL_ITERS] = (double)o->total_iters, [FACTOR] = o->factor}));
}

tern_sched *tern_sched_linear_lr_with(const tern_sched_linear_lr_options *o)
{
    if (!o)
        return tern_sched_no_options(&linear_class);
    if (tern_sched_check_count(&linear_class, "total_iters", o->total_iters) ||
        check_first(&linear_class, "start_factor", o->start_factor))
        return NULL;
    TERN_CHECK_PTR(o->end_factor >= 0 && o->end_factor <= 1, TERN_ERR_ARG,
                   "sched_linear_lr: end_factor is %g, but must be from 0 to 1", o->end_factor);
    return tern_sched_start(tern_sched_make(&linear_class, o->optim,
                                            (const double[]){[TOTAL_ITERS] = (double)o->total_iters,
                                                             [FACTOR] = o->start_factor,
                                                             [END_FACTOR] = o->end_factor}));
}

tern_sched *tern_sched_polynomial_lr_with(const tern_sched_polynomial_lr_options *o)
{
    if (!o)
        return tern_sched_no_options(&polynomial_class);
    if (tern_sched_check_count(&polynomial_class, "total_iters", o->total_iters))
        return NULL;
    TERN_CHECK_PTR(isfinite(o->power) && o->power >= 0, TERN_ERR_ARG,
                   "sched_polynomial_lr: power is %g, but must be 0 or more", o->power);
    return tern_sched_start(tern_sched_make(
        &polynomial_class, o->optim,
        (const double[]){[TOTAL_ITERS] = (double)o->total_iters, [FACTOR] = o->power}));
}
