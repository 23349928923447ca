// SPDX-License-Identifier: Apache-2.0
// Schedulers made of others: one after another, or all at once.
#include <stdio.h>
#include "base/mem.h"
#include "optim/sched/sched.h"

// ---- parts --------------------------------------------------------------------------------------

static tern_status check_part(const tern_sched_class *klass, int64_t index, const tern_sched *part,
                              const tern_sched *first)
{
    char name[32];
    snprintf(name, sizeof name, "scheduler %lld", (long long)index);
    if (!part)
        return tern_null_error(klass->function, name);
    TERN_TRY(tern_check_sched(klass->function, part));
    TERN_CHECK(!part->parent, TERN_ERR_STATE, "%s: %s, a %s, is a part of a %s already",
               klass->function, name, part->klass->name, part->parent->klass->name);
    TERN_CHECK(!part->klass->takes_metric, TERN_ERR_ARG,
               "%s: %s, a %s, takes a metric; step it by itself", klass->function, name,
               part->klass->name);
    TERN_CHECK(part->optim == first->optim, TERN_ERR_ARG, "%s: %s is of another optimizer",
               klass->function, name);
    return TERN_OK;
}

static tern_status check_parts(const tern_sched_class *klass, int64_t count,
                               tern_sched *const *parts)
{
    TERN_CHECK(count > 0, TERN_ERR_ARG, "%s: there are no schedulers", klass->function);
    if (tern_error_pending())
        return tern_error_code();
    for (int64_t i = 0; i < count; i++)
        TERN_TRY(check_part(klass, i, parts[i], parts[0]));
    for (int64_t i = 1; i < count; i++)
        for (int64_t j = 0; j < i; j++)
            TERN_CHECK(parts[i] != parts[j], TERN_ERR_ARG, "%s: schedulers %lld and %lld are one",
                       klass->function, (long long)j, (long long)i);
    return TERN_OK;
}

static void free_all(int64_t count, tern_sched *const *parts)
{
    for (int64_t i = 0; i < count; i++)
        tern_sched_free(parts[i]);
}

// A scheduler that has the parts, which are freed after an error.
static tern_sched *join(const tern_sched_class *klass, int64_t count, tern_sched *const *parts)
{
    tern_sched *sched =
        check_parts(klass, count, parts) ? NULL : tern_sched_make(klass, parts[0]->optim, NULL);
    if (sched)
        sched->parts = tern_mem_alloc((size_t)count * sizeof *parts);
    if (!sched || !sched->parts) {
        tern_sched_free(sched);
        free_all(count, parts);
        return NULL;
    }
    sched->part_count = count;
    for (int64_t i = 0; i < count; i++) {
        sched->parts[i] = parts[i];
        parts[i]->parent = sched;
        if (sched->optim->overwriter == parts[i])
            sched->optim->overwriter = NULL;
    }
    return sched;
}

static tern_status step_part(const char *function, tern_sched *part)
{
    part->now.steps++;
    return tern_sched_advance(function, part, NAN);
}

// ---- one after another --------------------------------------------------------------------------

static tern_status step_sequential(const char *function, tern_sched *s)
{
    const int64_t index = tern_sched_passed(s, s->now.epoch) - 1;
    tern_sched *part = s->parts[index];
    if (s->is_initial)
        return tern_sched_initial_step(function, part);
    if (s->now.epoch == s->milestones[index])
        return tern_sched_advance(function, part, 0);
    return step_part(function, part);
}

static const tern_sched_class sequential_class = {.name = "SequentialLR",
                                                  .function = "sched_sequential_lr",
                                                  .reads_base_lr = true,
                                                  .step_parts = step_sequential};

static tern_status check_milestones(int64_t count, const tern_sched_milestone *scheds)
{
    TERN_CHECK(count <= 0 || scheds[0].begin == 0, TERN_ERR_ARG,
               "sched_sequential_lr: scheduler 0 begins at epoch %lld, but the first must at 0",
               (long long)scheds[0].begin);
    for (int64_t i = 1; i < count; i++)
        TERN_CHECK(scheds[i].begin > scheds[i - 1].begin, TERN_ERR_ARG,
                   "sched_sequential_lr: scheduler %lld begins at epoch %lld, not after the one "
                   "before it at %lld",
                   (long long)i, (long long)scheds[i].begin, (long long)scheds[i - 1].begin);
    for (int64_t i = 0; i < count; i++)
        TERN_CHECK(!scheds[i].sched || !scheds[i].sched->klass->step_parts, TERN_ERR_ARG,
                   "sched_sequential_lr: scheduler %lld is a %s, which has no first epoch to go to",
                   (long long)i, scheds[i].sched->klass->name);
    return TERN_OK;
}

// The parts have not begun, and the rates are as before all schedulers.
static void rewind_parts(tern_sched *s)
{
    for (int64_t i = 0; i < s->group_count; i++) {
        tern_optim_group *group = &s->optim->groups[i];
        group->number[0] = isnan(group->initial_lr) ? group->number[0] : group->initial_lr;
    }
    for (int64_t i = 0; i < s->part_count; i++)
        s->parts[i]->now.epoch--;
}

static tern_sched *make_sequential(int64_t count, tern_sched *const *parts, const int64_t *begins)
{
    tern_sched *s = join(&sequential_class, count, parts);
    if (!s)
        return NULL;
    if (tern_sched_set_milestones(s, begins, count))
        return tern_sched_give_up(s);
    rewind_parts(s);
    return tern_sched_start(s);
}

tern_sched *tern_sched_sequential_lr_new(int64_t count, const tern_sched_milestone *scheds)
{
    const size_t n = count > 0 ? (size_t)count : 0;
    if (n > 0 && !scheds) {
        (void)tern_null_error("sched_sequential_lr", "scheds");
        return NULL;
    }
    tern_sched **parts = tern_mem_alloc(n * sizeof *parts + n * sizeof(int64_t));
    int64_t *begins = parts ? (int64_t *)(void *)(parts + n) : NULL;
    tern_sched *made = NULL;
    const bool wrong = !parts || check_milestones(count, scheds);
    for (size_t i = 0; i < n; i++) {
        if (wrong)
            tern_sched_free(scheds[i].sched);
        else
            parts[i] = scheds[i].sched, begins[i] = scheds[i].begin;
    }
    if (!wrong)
        made = make_sequential(count, parts, begins);
    tern_mem_free(parts, n * sizeof *parts + n * sizeof(int64_t));
    return made;
}

// ---- all at once --------------------------------------------------------------------------------

static tern_status step_chained(const char *function, tern_sched *s)
{
    for (int64_t i = 0; i < s->part_count && !s->is_initial; i++)
        TERN_TRY(step_part(function, s->parts[i]));
    return TERN_OK;
}

static const tern_sched_class chained_class = {
    .name = "ChainedScheduler", .function = "sched_chained", .step_parts = step_chained};

tern_sched *tern_sched_chained_new(int64_t count, tern_sched *const *scheds)
{
    if (count > 0 && !scheds) {
        (void)tern_null_error("sched_chained", "scheds");
        return NULL;
    }
    return tern_sched_start(join(&chained_class, count, scheds));
}

// ---- warm-up ------------------------------------------------------------------------------------

tern_sched *tern_sched_warmup(tern_sched *after, int64_t steps)
{
    const char *function = "sched_warmup";
    if (!after) {
        (void)tern_null_error(function, "after");
        return NULL;
    }
    if (tern_check_sched(function, after))
        return NULL;
    tern_sched *warmup = NULL;
    if (steps > 0 && steps < TERN_OPTIM_MAX_STEPS)
        warmup = tern_sched_linear_lr(after->optim, .start_factor = 1.0 / (double)(steps + 1),
                                      .total_iters = steps);
    else
        (void)tern_error_raise(TERN_ERR_ARG, "sched_warmup: steps is %lld, but must be above 0",
                               (long long)steps);
    if (warmup)
        return tern_sched_sequential_lr({warmup, 0}, {after, steps});
    tern_sched_free(after);
    return NULL;
}
