// SPDX-License-Identifier: Apache-2.0
// What is saved of a scheduler: where it is, and its options, by which it is recognised.
#include <stdio.h>
#include "optim/sched/sched.h"
#include "state/visitor.h"

// What the constructor says stays: another number is refused.
static tern_status visit_option(tern_state_visitor *visitor, const char *name, double here)
{
    double saved;
    if (tern_visit_is_loading(visitor) && tern_visit_peek_double(visitor, name, &saved) &&
        saved != here)
        return tern_visit_refuse(visitor, name, "is %g in the state and %g here", saved, here);
    return tern_visit_double(visitor, name, &here);
}

static const char *item_name(char (*text)[64], const char *name, int64_t index)
{
    snprintf(*text, sizeof *text, "%s.%lld", name, (long long)index);
    return *text;
}

static tern_status visit_options(tern_sched *s, tern_state_visitor *visitor)
{
    const tern_sched_class *klass = s->klass;
    char name[64];
    for (int i = 0; i < klass->option_count; i++)
        TERN_TRY(visit_option(visitor, klass->options[i], s->option[i]));
    for (int64_t i = 0; i < s->milestone_count; i++)
        TERN_TRY(
            visit_option(visitor, item_name(&name, "milestones", i), (double)s->milestones[i]));
    for (int64_t i = 0; klass->high && i < s->group_count; i++)
        TERN_TRY(visit_option(visitor, item_name(&name, klass->high, i), s->groups[i].high));
    for (int64_t i = 0; klass->low && i < s->group_count; i++)
        TERN_TRY(visit_option(visitor, item_name(&name, klass->low, i), s->groups[i].low));
    return TERN_OK;
}

static tern_status visit_count(tern_state_visitor *visitor, const char *name, int64_t min,
                               int64_t *count)
{
    int64_t saved;
    if (tern_visit_is_loading(visitor) && tern_visit_peek_int(visitor, name, &saved) &&
        (saved < min || saved > TERN_OPTIM_MAX_STEPS))
        return tern_visit_refuse(visitor, name, "is %lld", (long long)saved);
    return tern_visit_int(visitor, name, count);
}

static tern_status visit_rate(tern_state_visitor *visitor, const char *name, double *rate)
{
    double saved;
    if (tern_visit_is_loading(visitor) && tern_visit_peek_double(visitor, name, &saved) &&
        !(isfinite(saved) && saved >= 0))
        return tern_visit_refuse(visitor, name, "is %g", saved);
    return tern_visit_double(visitor, name, rate);
}

static tern_status visit_position(tern_sched *s, tern_state_visitor *visitor)
{
    char name[64];
    TERN_TRY(visit_count(visitor, "last_epoch", s->parent ? -1 : 0, &s->now.epoch));
    TERN_TRY(visit_count(visitor, "step_count", 0, &s->now.steps));
    for (int i = 0; i < s->klass->moving_count; i++)
        TERN_TRY(tern_visit_double(visitor, s->klass->moving[i], &s->now.moving[i]));
    for (int64_t i = 0; s->klass->reads_base_lr && i < s->group_count; i++)
        TERN_TRY(visit_rate(visitor, item_name(&name, "base_lrs", i), &s->groups[i].base_lr));
    for (int64_t i = 0; i < s->group_count; i++)
        TERN_TRY(visit_rate(visitor, item_name(&name, "last_lr", i), &s->groups[i].last_lr));
    return TERN_OK;
}

static tern_status visit(void *object, tern_state_visitor *visitor)
{
    tern_sched *s = object;
    TERN_TRY(tern_visit_kind(visitor, "scheduler", s->klass->name));
    TERN_TRY(visit_position(s, visitor));
    TERN_TRY(visit_options(s, visitor));
    for (int64_t i = 0; i < s->part_count; i++)
        TERN_TRY(tern_visit_item(visitor, "schedulers", i, visit, s->parts[i]));
    return TERN_OK;
}

tern_status tern_visit_sched(tern_state_visitor *visitor, const char *name, tern_sched *sched)
{
    TERN_TRY(tern_check_sched("visit_sched", sched));
    return tern_visit_part(visitor, name, visit, sched);
}

tern_state *tern_sched_state_dict(tern_sched *sched)
{
    if (tern_check_sched("sched_state_dict", sched))
        return NULL;
    return tern_state_of_as("sched_state_dict", visit, sched);
}

tern_status tern_sched_load_state_dict(tern_sched *sched, const tern_state *state)
{
    TERN_TRY(tern_check_sched("sched_load_state_dict", sched));
    return tern_state_load_as(
        &(tern_load_caller){.function = "sched_load_state_dict", .options = TERN_LOAD_NO_OPTIONS},
        &(tern_state_load_options){
            .strict = true, .state = state, .visit = visit, .object = sched});
}
