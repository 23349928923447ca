// SPDX-License-Identifier: Apache-2.0
// What is saved of an optimizer: the numbers of its groups, then of each parameter, by its name,
// the group, the updates and the state.
#include <float.h>
#include <stdio.h>
#include <string.h>
#include "optim/optim.h"
#include "state/visitor.h"

typedef struct visited {
    tern_optim *optim;
    bool numbers; // of the groups are loaded
} visited;

// ---- groups -------------------------------------------------------------------------------------

typedef struct visited_group {
    const visited *of;
    tern_optim_group *group;
} visited_group;

// It is there once a scheduler was made for the group.
static tern_status visit_initial_lr(double *initial_lr, tern_state_visitor *visitor)
{
    double saved;
    const bool loading = tern_visit_is_loading(visitor);
    if (loading && !tern_visit_peek_double(visitor, "initial_lr", &saved))
        return TERN_OK;
    if (loading && !(isfinite(saved) && saved >= 0))
        return tern_visit_refuse(visitor, "initial_lr", "is %g", saved);
    if (!loading && isnan(*initial_lr))
        return TERN_OK;
    return tern_visit_double(visitor, "initial_lr", initial_lr);
}

static tern_status visit_group(void *object, tern_state_visitor *visitor)
{
    const visited_group *at = object;
    const tern_optim_class *klass = at->of->optim->klass;
    tern_optim_group loaded = *at->group, unused = *at->group;
    tern_optim_group *options = at->of->numbers ? at->group : &unused;
    for (int i = 0; i < klass->number_count; i++)
        (void)tern_visit_peek_double(visitor, klass->numbers[i].name, &loaded.number[i]);
    if (tern_visit_is_loading(visitor)) {
        const char *function = "optim_load_state_dict";
        const tern_optim *optim = at->of->optim;
        TERN_TRY(tern_optim_check_group(function, klass, &loaded));
        TERN_TRY(tern_optim_check_params(function, optim, at->group - optim->groups, &loaded));
    }
    for (int i = 0; i < klass->number_count; i++) {
        const tern_optim_number *number = &klass->numbers[i];
        double *value = &(number->is_state || number->is_fixed ? at->group : options)->number[i];
        TERN_TRY(tern_visit_double(visitor, number->name, value));
    }
    return visit_initial_lr(&options->initial_lr, visitor);
}

static tern_status visit_groups(const visited *of, tern_state_visitor *visitor)
{
    for (int64_t i = 0; i < of->optim->group_count; i++) {
        visited_group group = {of, &of->optim->groups[i]};
        TERN_TRY(tern_visit_item(visitor, "param_groups", i, visit_group, &group));
    }
    return TERN_OK;
}

// ---- parameters ---------------------------------------------------------------------------------

typedef struct visited_entry {
    const visited *of;
    tern_optim_entry *entry;
} visited_entry;

// Numbers of a group are loaded where the parameter is in the group of that number.
static tern_status visit_group_index(const visited_entry *at, tern_state_visitor *visitor)
{
    int64_t here = at->entry->group, saved;
    if (at->of->numbers && tern_visit_peek_int(visitor, "group", &saved) && saved != here)
        return tern_visit_refuse(visitor, "group", "is %lld in the state and %lld here",
                                 (long long)saved, (long long)here);
    return tern_visit_int(visitor, "group", &here);
}

static tern_status visit_step(tern_optim_entry *entry, tern_state_visitor *visitor)
{
    int64_t saved;
    if (tern_visit_peek_int(visitor, "step", &saved) && (saved < 0 || saved > TERN_OPTIM_MAX_STEPS))
        return tern_visit_refuse(visitor, "step", "is %lld updates", (long long)saved);
    return tern_visit_int(visitor, "step", &entry->step);
}

// It is there once the parameter had an update.
static tern_status visit_scalar(tern_state_visitor *visitor, const char *name, float *scalar)
{
    double value = (double)*scalar;
    const bool loading = tern_visit_is_loading(visitor);
    const bool there = loading ? tern_visit_peek_double(visitor, name, &value) : !isnan(*scalar);
    if (there && !(fabs(value) <= (double)FLT_MAX))
        return tern_visit_refuse(visitor, name, "is %g", value);
    if (there)
        TERN_TRY(tern_visit_double(visitor, name, &value));
    if (tern_visit_is_taking(visitor))
        *scalar = there ? (float)value : NAN;
    return TERN_OK;
}

static tern_status visit_like_slot(const visited_entry *at, tern_state_visitor *visitor, int slot,
                                   tern_tensor **state)
{
    const tern_optim_class *klass = at->of->optim->klass;
    const tern_tensor *param = at->entry->param;
    tern_status status = TERN_ERR_NOMEM;
    // Taking does not look at what it is like, nor may it fail.
    if (klass->slots[slot].shape == TERN_SHAPE_PARAM || tern_visit_is_taking(visitor))
        return tern_visit_optional_retained(visitor, klass->slots[slot].name, state, param);
    tern_with_scope {
        const tern_tensor *like = tern_empty(tern_optim_state_shape(klass, slot, param),
                                             .dtype = param->dtype, .device = tern_dev(param));
        status = like ? tern_visit_optional_retained(visitor, klass->slots[slot].name, state, like)
                      : tern_error_code();
    }
    return status;
}

// A state tensor that no update has written yet is as if it were not there.
static tern_status visit_slot(const visited_entry *at, tern_state_visitor *visitor, int slot)
{
    const tern_optim_slot *kind = &at->of->optim->klass->slots[slot];
    tern_optim_entry *entry = at->entry;
    tern_tensor *none = NULL;
    if (kind->at_construction && entry->state[slot])
        return tern_visit_tensor(visitor, kind->name, &entry->state[slot]);
    const bool hidden = !tern_visit_is_loading(visitor) && entry->fresh & 1u << slot;
    TERN_TRY(visit_like_slot(at, visitor, slot, hidden ? &none : &entry->state[slot]));
    if (tern_visit_is_taking(visitor) && tern_visit_peek_tensor(visitor, kind->name))
        entry->fresh &= ~(1u << slot);
    return TERN_OK;
}

static tern_status visit_entry(void *object, tern_state_visitor *visitor)
{
    const visited_entry *at = object;
    TERN_TRY(visit_group_index(at, visitor));
    const tern_optim_class *klass = at->of->optim->klass;
    TERN_TRY(visit_step(at->entry, visitor));
    for (int i = 0; i < klass->scalar_count; i++)
        TERN_TRY(visit_scalar(visitor, klass->scalars[i], &at->entry->scalar[i]));
    for (int i = 0; i < klass->slot_count; i++)
        TERN_TRY(visit_slot(at, visitor, i));
    if (klass->visit && at->entry == at->of->optim->entries)
        return klass->visit(at->of->optim, visitor);
    return TERN_OK;
}

// Parameters of two sources may have one name: of the second it is "weight.1".
void tern_optim_name_entry(const tern_optim *optim, int64_t index, char *name, size_t size)
{
    const char *own = optim->entries[index].name;
    int64_t before = 0;
    for (int64_t i = 0; optim->group_count > 1 && i < index; i++)
        before += strcmp(optim->entries[i].name, own) == 0;
    if (before == 0)
        snprintf(name, size, "%s", own);
    else
        snprintf(name, size, "%s.%lld", own, (long long)before);
}

bool tern_optim_has_names(const tern_optim *optim)
{
    for (int64_t i = 0; i < optim->entry_count; i++)
        if (strncmp(optim->entries[i].name, "params[", 7) == 0)
            return false;
    return true;
}

static tern_status visit_entries(const visited *of, tern_state_visitor *visitor)
{
    for (int64_t i = 0; i < of->optim->entry_count; i++) {
        char name[TERN_STATE_NAME_SIZE];
        visited_entry entry = {of, &of->optim->entries[i]};
        tern_optim_name_entry(of->optim, i, name, sizeof name);
        TERN_TRY(tern_visit_part(visitor, name, visit_entry, &entry));
    }
    return TERN_OK;
}

// ---- the whole ----------------------------------------------------------------------------------

// A scheduler may go on where the steps of the saved optimizer stand before its own first one.
static void record_steps(tern_optim *optim)
{
    for (int64_t i = 0; i < optim->entry_count; i++)
        optim->has_stepped = optim->has_stepped || optim->entries[i].step > 0;
}

static tern_status visit(void *object, tern_state_visitor *visitor)
{
    const visited *of = object;
    TERN_CHECK(
        of->optim->accumulated == 0 || tern_visit_is_loading(visitor), TERN_ERR_STATE,
        "optim_state_dict: %lld of %lld gradients are accumulated, which are not saved; save "
        "after the step that uses them",
        (long long)of->optim->accumulated, (long long)of->optim->accumulate_every);
    TERN_TRY(tern_visit_kind(visitor, "optimizer", of->optim->klass->name));
    TERN_TRY(visit_groups(of, visitor));
    TERN_TRY(visit_entries(of, visitor));
    if (tern_visit_is_taking(visitor))
        record_steps(of->optim);
    return TERN_OK;
}

tern_status tern_visit_optim(tern_state_visitor *visitor, const char *name, tern_optim *optim)
{
    TERN_TRY(tern_check_optim("visit_optim", optim));
    return tern_visit_part(visitor, name, visit, &(visited){optim, true});
}

tern_state *tern_optim_state_dict(tern_optim *optim)
{
    if (tern_check_optim("optim_state_dict", optim))
        return NULL;
    return tern_state_of_as("optim_state_dict", visit, &(visited){optim, true});
}

tern_status tern_optim_load_as(const tern_load_caller *caller,
                               const tern_optim_load_state_dict_options *options)
{
    visited without = {options->optim, false};
    tern_load_caller own = *caller;
    if (own.options != TERN_LOAD_NO_OPTIONS && options->numbers)
        own.without_numbers = &without;
    return tern_state_load_as(&own, &(tern_state_load_options){
                                        TERN_LOAD_OPTIONS(options),
                                        .visit = visit,
                                        .object = &(visited){options->optim, options->numbers},
                                    });
}

tern_status tern_optim_load_state_dict_with(const tern_optim_load_state_dict_options *options)
{
    if (!options)
        return tern_null_error("optim_load_state_dict", "options");
    TERN_TRY(tern_check_optim("optim_load_state_dict", options->optim));
    return tern_optim_load_as(
        &(tern_load_caller){.function = "optim_load_state_dict", .options = TERN_LOAD_NAMES},
        options);
}
