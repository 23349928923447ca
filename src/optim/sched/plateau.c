// SPDX-License-Identifier: Apache-2.0
// ReduceLROnPlateau.
#include "optim/sched/sched.h"

enum { MODE, FACTOR, PATIENCE, THRESHOLD, THRESHOLD_MODE, COOLDOWN, EPS };
static const char *const options[] = {[MODE] = "mode",
                                      [FACTOR] = "factor",
                                      [PATIENCE] = "patience",
                                      [THRESHOLD] = "threshold",
                                      [COOLDOWN] = "cooldown",
                                      [THRESHOLD_MODE] = "threshold_mode",
                                      [EPS] = "eps"};
enum { BEST, BAD, COOLING };
static const char *const moving[] = {
    [BEST] = "best", [BAD] = "num_bad_epochs", [COOLING] = "cooldown_counter"};

// By more than the threshold, towards what is better also where the best is negative.
static bool is_better(const tern_sched *s, double metric, double best)
{
    const double threshold = s->option[THRESHOLD];
    const bool is_min = s->option[MODE] == TERN_MIN;
    double bound = is_min ? best - threshold : best + threshold;
    if (s->option[THRESHOLD_MODE] == TERN_THRESHOLD_REL)
        bound = best * (is_min == (best >= 0) ? 1.0 - threshold : 1.0 + threshold);
    return is_min ? metric < bound : metric > bound;
}

static tern_status advance(tern_sched *s, double metric)
{
    double *now = s->now.moving;
    s->reduces = false;
    if (s->is_initial) {
        now[BEST] = s->option[MODE] == TERN_MIN ? INFINITY : -INFINITY;
        return TERN_OK;
    }
    const bool better = is_better(s, metric, now[BEST]);
    if (better)
        now[BEST] = metric;
    now[BAD] = better ? 0 : now[BAD] + 1;
    if (now[COOLING] > 0) {
        now[COOLING]--;
        now[BAD] = 0;
    }
    s->reduces = now[BAD] > s->option[PATIENCE];
    if (s->reduces) {
        now[COOLING] = s->option[COOLDOWN];
        now[BAD] = 0;
    }
    return TERN_OK;
}

static double rate(const tern_sched *s, int group)
{
    const double lr = tern_sched_lr(s, group);
    const double reduced = fmax(lr * s->option[FACTOR], s->groups[group].low);
    return s->reduces && lr - reduced > s->option[EPS] ? reduced : lr;
}

static const tern_sched_class plateau_class = {.name = "ReduceLROnPlateau",
                                               .function = "sched_reduce_lr_on_plateau",
                                               TERN_SCHED_OPTION_NAMES(options),
                                               TERN_SCHED_MOVING_NAMES(moving),
                                               .low = "min_lrs",
                                               .recursive = true,
                                               .takes_metric = true,
                                               .advance = advance,
                                               .rate = rate};

static tern_status check_threshold(const tern_sched_reduce_lr_on_plateau_options *o)
{
    const bool relative = o->threshold_mode == TERN_THRESHOLD_REL;
    TERN_CHECK(relative || o->threshold_mode == TERN_THRESHOLD_ABS, TERN_ERR_ARG,
               "sched_reduce_lr_on_plateau: there is no threshold_mode %d", (int)o->threshold_mode);
    TERN_CHECK(isfinite(o->threshold) && o->threshold >= 0, TERN_ERR_ARG,
               "sched_reduce_lr_on_plateau: threshold is %g, but must be 0 or more", o->threshold);
    TERN_CHECK(!relative || o->mode != TERN_MIN || o->threshold < 1, TERN_ERR_ARG,
               "sched_reduce_lr_on_plateau: threshold is %g of the best metric, so none is better",
               o->threshold);
    return TERN_OK;
}

static tern_status check(const tern_sched_reduce_lr_on_plateau_options *o)
{
    TERN_CHECK(o->mode == TERN_MIN || o->mode == TERN_MAX, TERN_ERR_ARG,
               "sched_reduce_lr_on_plateau: mode is %d, neither TERN_MIN nor TERN_MAX",
               (int)o->mode);
    TERN_CHECK(o->factor > 0 && o->factor < 1, TERN_ERR_ARG,
               "sched_reduce_lr_on_plateau: factor is %g, but must be above 0 and below 1",
               o->factor);
    TERN_CHECK(o->patience >= 0 && o->cooldown >= 0, TERN_ERR_ARG,
               "sched_reduce_lr_on_plateau: patience and cooldown are %lld and %lld, but must be "
               "0 or more",
               (long long)o->patience, (long long)o->cooldown);
    TERN_CHECK(isfinite(o->eps) && o->eps >= 0, TERN_ERR_ARG,
               "sched_reduce_lr_on_plateau: eps is %g, but must be 0 or more", o->eps);
    return check_threshold(o);
}

tern_sched *tern_sched_reduce_lr_on_plateau_with(const tern_sched_reduce_lr_on_plateau_options *o)
{
    if (!o)
        return tern_sched_no_options(&plateau_class);
    if (check(o))
        return NULL;
    tern_sched *s = tern_sched_make(&plateau_class, o->optim,
                                    (const double[]){[MODE] = o->mode,
                                                     [FACTOR] = o->factor,
                                                     [PATIENCE] = (double)o->patience,
                                                     [THRESHOLD] = o->threshold,
                                                     [THRESHOLD_MODE] = o->threshold_mode,
                                                     [COOLDOWN] = (double)o->cooldown,
                                                     [EPS] = o->eps});
    if (s && tern_sched_set_each(s, "min_lr", offsetof(tern_sched_group, low), o->min_lr,
                                 o->min_lrs, o->min_lr_count))
        return tern_sched_give_up(s);
    return tern_sched_start(s);
}
