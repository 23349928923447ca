// SPDX-License-Identifier: Apache-2.0
// Steps of schedulers: checked, made, and taken back where one of several fails.
#include "base/mem.h"
#include "optim/sched/sched.h"

// ---- what schedules compute with ----------------------------------------------------------------

double tern_sched_anneal(double strategy, double start, double end, double part)
{
    if (strategy == TERN_ANNEAL_LINEAR)
        return (end - start) * part + start;
    return end + (start - end) / 2.0 * (cos(TERN_PI * part) + 1);
}

int64_t tern_sched_passed(const tern_sched *sched, int64_t epoch)
{
    int64_t passed = 0;
    while (passed < sched->milestone_count && sched->milestones[passed] <= epoch)
        passed++;
    return passed;
}

// ---- taking back --------------------------------------------------------------------------------

// The optimizer's numbers are kept by the outermost scheduler.
static void remember(tern_sched *sched)
{
    sched->before = sched->now;
    for (int64_t i = 0; i < sched->group_count; i++) {
        sched->groups[i].before = sched->optim->groups[i];
        sched->groups[i].last_lr_before = sched->groups[i].last_lr;
    }
    for (int64_t i = 0; i < sched->part_count; i++)
        remember(sched->parts[i]);
}

static void take_back(tern_sched *sched)
{
    sched->now = sched->before;
    for (int64_t i = 0; i < sched->group_count; i++) {
        sched->optim->groups[i] = sched->groups[i].before;
        sched->groups[i].last_lr = sched->groups[i].last_lr_before;
    }
    for (int64_t i = 0; i < sched->part_count; i++)
        take_back(sched->parts[i]);
}

// ---- one update ---------------------------------------------------------------------------------

static tern_status set_rate(const char *function, const tern_sched *sched, int group, double lr)
{
    if (tern_error_pending())
        return tern_error_code();
    TERN_CHECK(isfinite(lr) && lr >= 0, TERN_ERR_NUMERIC,
               "%s: %s makes the lr of group %d %g in epoch %lld", function, sched->klass->name,
               group, lr, (long long)sched->now.epoch);
    sched->optim->groups[group].number[0] = lr;
    return TERN_OK;
}

static tern_status set_rates(const char *function, tern_sched *sched, double epoch)
{
    const tern_sched_class *klass = sched->klass;
    double (*rate)(const tern_sched *, int) =
        !isnan(epoch) && klass->closed_form ? klass->closed_form : klass->rate;
    for (int i = 0; i < (int)sched->group_count; i++)
        TERN_TRY(set_rate(function, sched, i, rate(sched, i)));
    return TERN_OK;
}

static tern_status set_momentum(const char *function, const tern_sched *sched)
{
    const tern_optim *optim = sched->optim;
    const double momentum = sched->klass->momentum(sched);
    for (int64_t i = 0; i < sched->group_count; i++) {
        optim->groups[i].number[sched->momentum] = momentum;
        TERN_TRY(tern_optim_check_group(function, optim->klass, &optim->groups[i]));
    }
    return TERN_OK;
}

tern_status tern_sched_advance(const char *function, tern_sched *sched, double epoch)
{
    const tern_sched_class *klass = sched->klass;
    const bool goes_there = !isnan(epoch) && !klass->takes_metric;
    sched->now.epoch = goes_there ? (int64_t)floor(epoch) : sched->now.epoch + 1;
    if (klass->advance)
        TERN_TRY(klass->advance(sched, epoch));
    if (klass->step_parts)
        TERN_TRY(klass->step_parts(function, sched));
    else
        TERN_TRY(set_rates(function, sched, epoch));
    if (sched->momentum >= 0)
        TERN_TRY(set_momentum(function, sched));
    for (int i = 0; i < (int)sched->group_count; i++)
        sched->groups[i].last_lr = tern_sched_lr(sched, i);
    return TERN_OK;
}

tern_status tern_sched_initial_step(const char *function, tern_sched *sched)
{
    sched->is_initial = true;
    sched->now.steps = 1;
    const tern_status status = tern_sched_advance(function, sched, NAN);
    sched->is_initial = false;
    return status;
}

// ---- the first one ----------------------------------------------------------------------------

static tern_status begin(tern_sched *sched)
{
    tern_optim *optim = sched->optim;
    for (int64_t i = 0; i < sched->group_count; i++) {
        tern_optim_group *group = &optim->groups[i];
        sched->groups[i].last_lr = group->number[0];
        if (sched->klass->reads_base_lr && isnan(group->initial_lr))
            group->initial_lr = group->number[0];
        if (sched->klass->reads_base_lr)
            sched->groups[i].base_lr = group->initial_lr;
    }
    return tern_sched_initial_step(sched->klass->function, sched);
}

tern_sched *tern_sched_start(tern_sched *sched)
{
    tern_optim *optim = sched ? sched->optim : NULL;
    if (!sched)
        return NULL;
    if (!begin(sched)) {
        optim->made_with_lr_0 &= !sched->klass->overwrites;
        return sched;
    }
    for (int64_t i = 0; i < sched->group_count; i++)
        optim->groups[i] = sched->groups[i].before;
    return tern_sched_give_up(sched);
}

// ---- checks -------------------------------------------------------------------------------------

static bool overwrites(const tern_sched *sched)
{
    bool any = sched->klass->overwrites;
    for (int64_t i = 0; i < sched->part_count; i++)
        any |= overwrites(sched->parts[i]);
    return any;
}

// Of two that overwrite the rate one is without effect.
static tern_status check_overwriter(const char *function, const tern_sched *sched)
{
    const tern_sched *other = sched->optim->overwriter;
    TERN_CHECK(!overwrites(sched) || !other || other == sched, TERN_ERR_STATE,
               "%s: %s and %s both set the lr of this %s from the epoch alone; join them by "
               "tern_sched_sequential_lr",
               function, sched->klass->name, other->klass->name, sched->optim->klass->name);
    return TERN_OK;
}

// A group that was added after the scheduler was made is taken in where its rate is all that
// counts, besides a number that is the same for all.
static tern_status take_groups(const char *function, tern_sched *sched, double epoch)
{
    const tern_optim *optim = sched->optim;
    for (int64_t i = 0; i < sched->part_count; i++)
        TERN_TRY(take_groups(function, sched->parts[i], epoch));
    if (sched->group_count == optim->group_count)
        return TERN_OK;
    const bool takes_any = sched->klass->recursive && isnan(epoch) && !sched->has_list;
    TERN_CHECK(takes_any || sched->klass->step_parts, TERN_ERR_STATE,
               "%s: group %lld was added after this %s was made; make the scheduler after the "
               "groups",
               function, (long long)sched->group_count, sched->klass->name);
    TERN_TRY(tern_mem_grow((void **)&sched->groups, &sched->group_capacity, optim->group_count,
                           sizeof *sched->groups));
    for (; sched->group_count < optim->group_count; sched->group_count++) {
        const tern_optim_group *group = &optim->groups[sched->group_count];
        sched->groups[sched->group_count] = (tern_sched_group){
            .base_lr = isnan(group->initial_lr) ? group->number[0] : group->initial_lr,
            .high = sched->groups[0].high,
            .low = sched->groups[0].low,
            .last_lr = group->number[0]};
    }
    return TERN_OK;
}

static tern_status check_step(const char *function, const tern_sched *sched, bool metric)
{
    TERN_TRY(tern_check_sched(function, sched));
    if (tern_error_pending())
        return tern_error_code();
    TERN_CHECK(!sched->parent, TERN_ERR_STATE, "%s: this %s is a part of a %s; step that", function,
               sched->klass->name, sched->parent->klass->name);
    TERN_CHECK(!sched->is_stepping, TERN_ERR_STATE, "%s: this %s is in the middle of a step",
               function, sched->klass->name);
    TERN_CHECK(metric || !sched->klass->takes_metric, TERN_ERR_STATE,
               "%s: %s takes a metric; call tern_sched_step_metric", function, sched->klass->name);
    TERN_CHECK(!metric || sched->klass->takes_metric, TERN_ERR_STATE,
               "%s: %s takes no metric; call tern_sched_step", function, sched->klass->name);
    return check_overwriter(function, sched);
}

static tern_status check_epoch(const tern_sched *sched, double epoch)
{
    const tern_sched_class *klass = sched->klass;
    if (isnan(epoch))
        return TERN_OK;
    TERN_CHECK(epoch >= 0 && epoch <= 0x1p53, TERN_ERR_ARG,
               "sched_step: epoch is %g, but must be 0 or more", epoch);
    TERN_CHECK(klass->takes_fractions || epoch == floor(epoch), TERN_ERR_ARG,
               "sched_step: epoch is %g; %s takes whole ones", epoch, klass->name);
    TERN_CHECK(!klass->step_parts && (klass->closed_form || klass->overwrites),
               TERN_ERR_UNSUPPORTED, "sched_step: %s has no closed formula for .epoch",
               klass->name);
    return TERN_OK;
}

// ---- steps --------------------------------------------------------------------------------------

static tern_status step(const char *function, tern_sched *sched, double to)
{
    TERN_TRY(take_groups(function, sched, sched->klass->takes_metric ? NAN : to));
    tern_sched_retain(sched); // a function of the caller's may give it back
    sched->is_stepping = true;
    remember(sched);
    sched->now.steps++;
    const tern_status status = tern_sched_advance(function, sched, to);
    if (status)
        take_back(sched);
    else if (overwrites(sched))
        sched->optim->overwriter = sched;
    sched->is_stepping = false;
    tern_sched_free(sched);
    return status;
}

// The optimizer accumulates gradients, and has only waited for more since the step before.
static bool waits(tern_sched *sched)
{
    const bool same = sched->optim->acted == sched->acted;
    sched->acted = sched->optim->acted;
    return same && sched->optim->accumulated > 0;
}

tern_status tern_sched_step_with(const tern_sched_step_options *options)
{
    if (!options)
        return tern_null_error("sched_step", "options");
    tern_sched *sched = options->sched;
    TERN_TRY(check_step("sched_step", sched, false));
    TERN_TRY(check_epoch(sched, options->epoch));
    if (waits(sched))
        return TERN_OK;
    TERN_CHECK(sched->now.steps != 1 || sched->optim->has_stepped || options->allow_early,
               TERN_ERR_STATE,
               "sched_step: the %s has made no step yet, so the schedule's first lr would go "
               "unused; call tern_optim_step before, or give .allow_early = true",
               sched->optim->klass->name);
    return step("sched_step", sched, options->epoch);
}

tern_status tern_sched_step_metric(tern_sched *sched, double metric)
{
    TERN_TRY(check_step("sched_step_metric", sched, true));
    return step("sched_step_metric", sched, metric);
}

double tern_sched_last_lr(const tern_sched *sched, int group)
{
    if (tern_check_sched("sched_last_lr", sched))
        return NAN;
    if (group >= 0 && group < sched->group_count)
        return sched->groups[group].last_lr;
    tern_error_raise(TERN_ERR_INDEX, "sched_last_lr: there is no group %d; %s has %lld", group,
                     sched->klass->name, (long long)sched->group_count);
    return NAN;
}

int64_t tern_sched_last_epoch(const tern_sched *sched)
{
    return tern_check_sched("sched_last_epoch", sched) ? -1 : sched->now.epoch;
}
