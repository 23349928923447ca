// SPDX-License-Identifier: Apache-2.0
// Making schedulers, and their references.
#include "optim/sched/sched.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

// ---- references ---------------------------------------------------------------------------------

tern_sched *tern_sched_retain(tern_sched *sched)
{
    if (!sched || tern_check_sched_not_freed("sched_retain", sched))
        return NULL;
    tern_refs_retain(&sched->refs);
    return sched;
}

static void free_parts(tern_sched *sched)
{
    for (int64_t i = 0; i < sched->part_count; i++) {
        sched->parts[i]->parent = NULL;
        tern_sched_free(sched->parts[i]);
    }
    tern_mem_free(sched->parts, (size_t)sched->part_count * sizeof(tern_sched *));
}

void tern_sched_free(tern_sched *sched)
{
    if (!sched || tern_check_sched_not_freed("sched_free", sched) ||
        !tern_refs_release(&sched->refs))
        return;
    free_parts(sched);
    if (sched->optim->overwriter == sched)
        sched->optim->overwriter = NULL;
    tern_mem_free(sched->milestones, (size_t)sched->milestone_count * sizeof *sched->milestones);
    tern_mem_free(sched->groups, (size_t)sched->group_capacity * sizeof *sched->groups);
    tern_optim_free(sched->optim);
    tern_mem_free_deferred(sched, sizeof *sched, offsetof(tern_sched, optim));
}

// ---- making one ---------------------------------------------------------------------------------

tern_sched *tern_sched_no_options(const tern_sched_class *klass)
{
    (void)tern_null_error(klass->function, "options");
    return NULL;
}

tern_sched *tern_sched_give_up(tern_sched *sched)
{
    tern_sched_free(sched);
    return NULL;
}

tern_sched *tern_sched_make(const tern_sched_class *klass, tern_optim *optim, const double *option)
{
    if (tern_check_optim(klass->function, optim))
        return NULL;
    tern_sched *sched = tern_mem_alloc(sizeof *sched);
    if (!sched)
        return NULL;
    sched->klass = klass;
    atomic_init(&sched->refs, 1);
    sched->optim = tern_optim_retain(optim);
    sched->now.epoch = -1;
    sched->momentum = -1;
    if (klass->option_count > 0)
        memcpy(sched->option, option, (size_t)klass->option_count * sizeof *option);
    if (tern_mem_grow((void **)&sched->groups, &sched->group_capacity, optim->group_count,
                      sizeof *sched->groups))
        return tern_sched_give_up(sched);
    sched->group_count = optim->group_count;
    for (int64_t i = 0; i < sched->group_count; i++)
        sched->groups[i] = (tern_sched_group){.before = optim->groups[i]};
    return sched;
}

tern_status tern_sched_check_count(const tern_sched_class *klass, const char *name, int64_t count)
{
    TERN_CHECK(count > 0 && count <= TERN_OPTIM_MAX_STEPS, TERN_ERR_ARG,
               "%s: %s is %lld, but must be from 1 to 2^53", klass->function, name,
               (long long)count);
    return TERN_OK;
}

static int compare(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

tern_status tern_sched_set_milestones(tern_sched *sched, const int64_t *milestones, int64_t count)
{
    sched->milestones = tern_mem_alloc((size_t)count * sizeof *milestones);
    if (!sched->milestones)
        return TERN_ERR_NOMEM;
    sched->milestone_count = count;
    memcpy(sched->milestones, milestones, (size_t)count * sizeof *milestones);
    qsort(sched->milestones, (size_t)count, sizeof *milestones, compare);
    return TERN_OK;
}

tern_status tern_sched_set_each(tern_sched *sched, const char *name, size_t offset, double value,
                                const double *list, int64_t count)
{
    const char *function = sched->klass->function;
    TERN_CHECK(list || count == 0, TERN_ERR_ARG, "%s: %s is NULL, but its count is %lld", function,
               name, (long long)count);
    TERN_CHECK(!list || count == sched->group_count, TERN_ERR_ARG,
               "%s: %s has %lld numbers for %lld groups", function, name, (long long)count,
               (long long)sched->group_count);
    sched->has_list |= list != NULL;
    for (int64_t i = 0; i < sched->group_count; i++) {
        const double each = list ? list[i] : value;
        TERN_CHECK(isfinite(each) && each >= 0, TERN_ERR_ARG, "%s: %s is %g, but must be 0 or more",
                   function, name, each);
        *(double *)((char *)&sched->groups[i] + offset) = each;
    }
    return TERN_OK;
}

tern_status tern_sched_find_momentum(tern_sched *sched)
{
    const tern_optim_class *klass = sched->optim->klass;
    sched->momentum = tern_optim_number_of(klass, "betas[0]");
    if (sched->momentum < 0)
        sched->momentum = tern_optim_number_of(klass, "momentum");
    TERN_CHECK(sched->momentum < 0 || !klass->numbers[sched->momentum].is_fixed, TERN_ERR_ARG,
               "%s: %s of %s cannot be cycled: the state is made with it; give "
               ".cycle_momentum = false",
               sched->klass->function, klass->numbers[sched->momentum].name, klass->name);
    TERN_CHECK(sched->momentum >= 0, TERN_ERR_ARG,
               "%s: %s has neither momentum nor betas to cycle; give .cycle_momentum = false",
               sched->klass->function, klass->name);
    return TERN_OK;
}
