// SPDX-License-Identifier: Apache-2.0
// SWALR: to the constant rate of stochastic weight averaging (Izmailov et al. 2018).
#include "optim/sched/sched.h"

enum { ANNEAL_EPOCHS, ANNEAL_STRATEGY };
static const char *const options[] = {
    [ANNEAL_EPOCHS] = "anneal_epochs", [ANNEAL_STRATEGY] = "anneal_strategy"};

// How far the rate is after so many steps, from 0 to 1.
static double part(const tern_sched *s, double step)
{
    const double t = fmax(0, fmin(1, step / fmax(1, s->option[ANNEAL_EPOCHS])));
    return s->option[ANNEAL_STRATEGY] == TERN_ANNEAL_LINEAR ? t : (1 - cos(TERN_PI * t)) / 2;
}

// From the rate that the group has, as if it had come from its first one along the curve.
static double rate(const tern_sched *s, int group)
{
    const double swa_lr = s->groups[group].high, lr = tern_sched_lr(s, group);
    double step = (double)(s->now.steps - 1);
    if (s->option[ANNEAL_EPOCHS] == 0)
        step = fmax(1, step);
    const double before = part(s, step - 1), now = part(s, step);
    const double first = before == 1 ? swa_lr : (lr - before * swa_lr) / (1 - before);
    return swa_lr * now + first * (1 - now);
}

static const tern_sched_class swa_class = {.name = "SWALR",
                                           .function = "sched_swa_lr",
                                           TERN_SCHED_OPTION_NAMES(options),
                                           .high = "swa_lrs",
                                           .recursive = true,
                                           .reads_base_lr = true,
                                           .rate = rate};

tern_sched *tern_sched_swa_lr_with(const tern_sched_swa_lr_options *o)
{
    if (!o)
        return tern_sched_no_options(&swa_class);
    TERN_CHECK_PTR(o->anneal_epochs >= 0, TERN_ERR_ARG,
                   "sched_swa_lr: anneal_epochs is %lld, but must be 0 or more",
                   (long long)o->anneal_epochs);
    TERN_CHECK_PTR(
        o->anneal_strategy == TERN_ANNEAL_COS || o->anneal_strategy == TERN_ANNEAL_LINEAR,
        TERN_ERR_ARG, "sched_swa_lr: there is no anneal_strategy %d", (int)o->anneal_strategy);
    tern_sched *s = tern_sched_make(
        &swa_class, o->optim,
        (const double[]){
            [ANNEAL_EPOCHS] = (double)o->anneal_epochs, [ANNEAL_STRATEGY] = o->anneal_strategy});
    if (s && tern_sched_set_each(s, "swa_lr", offsetof(tern_sched_group, high), o->swa_lr,
                                 o->swa_lrs, o->swa_lr_count))
        return tern_sched_give_up(s);
    return tern_sched_start(s);
}
