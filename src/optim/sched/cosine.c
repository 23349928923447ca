// SPDX-License-Identifier: Apache-2.0
// Cosine annealing, without and with restarts (Loshchilov and Hutter 2016).
#include "optim/sched/sched.h"

static tern_status check_eta_min(const tern_sched_class *klass, double eta_min)
{
    TERN_CHECK(isfinite(eta_min) && eta_min >= 0, TERN_ERR_ARG,
               "%s: eta_min is %g, but must be 0 or more", klass->function, eta_min);
    return TERN_OK;
}

// ---- without ------------------------------------------------------------------------------------

enum { T_MAX, ETA_MIN };
static const char *const annealing_options[] = {[T_MAX] = "T_max", [ETA_MIN] = "eta_min"};

static double annealing_rate(const tern_sched *s, int group)
{
    const int64_t k = s->now.epoch, t_max = (int64_t)s->option[T_MAX];
    const double t = s->option[T_MAX], eta_min = s->option[ETA_MIN], lr = tern_sched_lr(s, group);
    if (s->is_initial)
        return lr;
    if ((k - 1 - t_max) % (2 * t_max) == 0) // up again, from where the quotient below is 0 / 0
        return lr + (s->groups[group].base_lr - eta_min) * (1 - cos(TERN_PI / t)) / 2;
    return (1 + cos(TERN_PI * (double)k / t)) / (1 + cos(TERN_PI * (double)(k - 1) / t)) *
               (lr - eta_min) +
           eta_min;
}

static double annealing_closed_form(const tern_sched *s, int group)
{
    const double eta_min = s->option[ETA_MIN];
    return eta_min + (s->groups[group].base_lr - eta_min) *
                         (1 + cos(TERN_PI * (double)s->now.epoch / s->option[T_MAX])) / 2;
}

static const tern_sched_class annealing_class = {.name = "CosineAnnealingLR",
                                                 .function = "sched_cosine_annealing_lr",
                                                 TERN_SCHED_OPTION_NAMES(annealing_options),
                                                 .recursive = true,
                                                 .reads_base_lr = true,
                                                 .rate = annealing_rate,
                                                 .closed_form = annealing_closed_form};

tern_sched *tern_sched_cosine_annealing_lr_with(const tern_sched_cosine_annealing_lr_options *o)
{
    if (!o)
        return tern_sched_no_options(&annealing_class);
    if (tern_sched_check_count(&annealing_class, "t_max", o->t_max) ||
        check_eta_min(&annealing_class, o->eta_min))
        return NULL;
    return tern_sched_start(
        tern_sched_make(&annealing_class, o->optim,
                        (const double[]){[T_MAX] = (double)o->t_max, [ETA_MIN] = o->eta_min}));
}

// ---- with ---------------------------------------------------------------------------------------

enum { T_0, T_MULT, RESTARTS_ETA_MIN };
static const char *const restarts_options[] = {
    [T_0] = "T_0", [T_MULT] = "T_mult", [RESTARTS_ETA_MIN] = "eta_min"};
enum { T_CUR, T_I };
static const char *const restarts_moving[] = {[T_CUR] = "T_cur", [T_I] = "T_i"};

// The period that the epoch is in.
static void go_to(tern_sched *s, double epoch)
{
    const double t_0 = s->option[T_0], t_mult = s->option[T_MULT];
    double before = 0; // periods
    if (t_mult > 1)
        before = floor(log(epoch / t_0 * (t_mult - 1) + 1) / log(t_mult));
    const double times = pow(t_mult, before);
    s->now.moving[T_I] = t_0 * times;
    s->now.moving[T_CUR] = t_mult > 1 ? epoch - t_0 * (times - 1) / (t_mult - 1) : fmod(epoch, t_0);
}

static tern_status restarts_advance(tern_sched *s, double epoch)
{
    double *t_cur = &s->now.moving[T_CUR], *t_i = &s->now.moving[T_I];
    if (s->is_initial || !isnan(epoch)) {
        go_to(s, isnan(epoch) ? 0 : epoch);
        return TERN_OK;
    }
    *t_cur += 1;
    if (*t_cur >= *t_i) {
        *t_cur = fmod(*t_cur, *t_i);
        *t_i *= s->option[T_MULT];
    }
    return TERN_OK;
}

static double restarts_rate(const tern_sched *s, int group)
{
    const double eta_min = s->option[RESTARTS_ETA_MIN];
    return eta_min + (s->groups[group].base_lr - eta_min) *
                         (1 + cos(TERN_PI * s->now.moving[T_CUR] / s->now.moving[T_I])) / 2;
}

static const tern_sched_class restarts_class = {.name = "CosineAnnealingWarmRestarts",
                                                .function = "sched_cosine_annealing_warm_restarts",
                                                TERN_SCHED_OPTION_NAMES(restarts_options),
                                                TERN_SCHED_MOVING_NAMES(restarts_moving),
                                                .overwrites = true,
                                                .reads_base_lr = true,
                                                .takes_fractions = true,
                                                .advance = restarts_advance,
                                                .rate = restarts_rate};

tern_sched *tern_sched_cosine_annealing_warm_restarts_with(
    const tern_sched_cosine_annealing_warm_restarts_options *o)
{
    if (!o)
        return tern_sched_no_options(&restarts_class);
    if (tern_sched_check_count(&restarts_class, "t_0", o->t_0) ||
        tern_sched_check_count(&restarts_class, "t_mult", o->t_mult) ||
        check_eta_min(&restarts_class, o->eta_min))
        return NULL;
    return tern_sched_start(tern_sched_make(&restarts_class, o->optim,
                                            (const double[]){[T_0] = (double)o->t_0,
                                                             [T_MULT] = (double)o->t_mult,
                                                             [RESTARTS_ETA_MIN] = o->eta_min}));
}
