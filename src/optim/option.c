// SPDX-License-Identifier: Apache-2.0
// The numbers of a group: what they may be, and getting and setting them by name.
#include <float.h>
#include <stdio.h>
#include <string.h>
#include "optim/optim.h"

static tern_status check_number(const char *function, const tern_optim_number *number, double value)
{
    switch (number->range) {
    case TERN_RANGE_FINITE:
        TERN_CHECK(isfinite(value), TERN_ERR_ARG, "%s: %s is %g", function, number->name, value);
        break;
    case TERN_RANGE_NOT_NEGATIVE:
        TERN_CHECK(isfinite(value) && value >= 0, TERN_ERR_ARG,
                   "%s: %s is %g, but must be 0 or more", function, number->name, value);
        break;
    case TERN_RANGE_FRACTION:
        TERN_CHECK(value >= 0 && value < 1, TERN_ERR_ARG,
                   "%s: %s is %g, but must be from 0 to below 1", function, number->name, value);
        break;
    case TERN_RANGE_UNIT:
        TERN_CHECK(value >= 0 && value <= 1, TERN_ERR_ARG, "%s: %s is %g, but must be from 0 to 1",
                   function, number->name, value);
        break;
    case TERN_RANGE_COUNT:
        TERN_CHECK(value >= 1 && value <= 0x1p53 && value == floor(value), TERN_ERR_ARG,
                   "%s: %s is %g, but must be a whole number of 1 or more", function, number->name,
                   value);
        break;
    case TERN_RANGE_WHOLE:
        TERN_CHECK(value >= 0 && value <= 0x1p53 && value == floor(value), TERN_ERR_ARG,
                   "%s: %s is %g, but must be a whole number of 0 or more", function, number->name,
                   value);
        break;
    case TERN_RANGE_FLAG:
        TERN_CHECK(value == 0 || value == 1, TERN_ERR_ARG, "%s: %s is %g, but must be 0 or 1",
                   function, number->name, value);
        break;
    }
    return TERN_OK;
}

tern_status tern_optim_check_group(const char *function, const tern_optim_class *klass,
                                   const tern_optim_group *group)
{
    for (int i = 0; i < klass->number_count; i++)
        TERN_TRY(check_number(function, &klass->numbers[i], group->number[i]));
    return klass->check ? klass->check(function, group->number) : TERN_OK;
}

tern_status tern_optim_check_params(const char *function, const tern_optim *optim, int64_t group,
                                    const tern_optim_group *numbers)
{
    for (int64_t i = 0; optim->klass->check_param && i < optim->entry_count; i++) {
        const tern_optim_entry *entry = &optim->entries[i];
        if (entry->group == group)
            TERN_TRY(
                optim->klass->check_param(function, numbers->number, entry->name, entry->param));
    }
    return TERN_OK;
}

double tern_optim_tiny(double eps, bool wide)
{
    const double smallest = wide ? DBL_MIN : (double)FLT_MIN;
    const double epsilon = wide ? DBL_EPSILON : (double)FLT_EPSILON;
    return sqrt(smallest) <= eps * epsilon / 4 ? smallest : 0;
}

tern_status tern_optim_pair(const char *function, const char *name, const double *given,
                            const double *usual, double *pair)
{
    const bool one = given[1] == TERN_OPTION_UNSAID_;
    TERN_CHECK(!one || given[0] == usual[0], TERN_ERR_ARG,
               "%s: %s is one number, %g: give both, .%s = {%g, %g}", function, name, given[0],
               name, given[0], usual[1]);
    pair[0] = given[0];
    pair[1] = one ? usual[1] : given[1];
    return TERN_OK;
}

int tern_optim_number_of(const tern_optim_class *klass, const char *name)
{
    for (int i = 0; i < klass->number_count; i++)
        if (strcmp(klass->numbers[i].name, name) == 0)
            return i;
    return -1;
}

// ---- getting and setting ------------------------------------------------------------------------

static tern_status check_group(const char *function, const tern_optim *optim, int group)
{
    TERN_TRY(tern_check_optim(function, optim));
    TERN_CHECK(group >= 0 && group < optim->group_count, TERN_ERR_INDEX,
               "%s: there is no group %d; %s has %lld", function, group, optim->klass->name,
               (long long)optim->group_count);
    return TERN_OK;
}

// "lr, momentum and nesterov".
static void list_numbers(const tern_optim_class *klass, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < klass->number_count; i++) {
        const char *before = i == 0 ? "" : i + 1 < klass->number_count ? ", " : " and ";
        const size_t length = strlen(text);
        snprintf(text + length, size - length, "%s%s", before, klass->numbers[i].name);
    }
}

// The place of the name in the optimizer's groups; -1 on failure.
static int find_number(const char *function, const tern_optim *optim, const char *name)
{
    if (!name) {
        (void)tern_null_error(function, "name");
        return -1;
    }
    const int index = tern_optim_number_of(optim->klass, name);
    char known[256];
    if (index >= 0)
        return index;
    list_numbers(optim->klass, known, sizeof known);
    tern_error_raise(TERN_ERR_ARG, "%s: %s has no \"%.64s\"; it has %s", function,
                     optim->klass->name, name, known);
    return -1;
}

static double get_initial_lr(const tern_optim *optim, int group)
{
    const double initial_lr = optim->groups[group].initial_lr;
    if (isnan(initial_lr))
        tern_error_raise(TERN_ERR_STATE,
                         "optim_get: group %d has no initial_lr: no scheduler was "
                         "made for it",
                         group);
    return initial_lr;
}

double tern_optim_get(const tern_optim *optim, int group, const char *name)
{
    if (check_group("optim_get", optim, group))
        return NAN;
    if (name && strcmp(name, "initial_lr") == 0)
        return get_initial_lr(optim, group);
    const int index = find_number("optim_get", optim, name);
    return index < 0 ? NAN : optim->groups[group].number[index];
}

static bool has_state(const tern_optim *optim)
{
    for (int64_t i = 0; i < optim->entry_count; i++)
        for (int k = 0; k < optim->klass->slot_count; k++)
            if (optim->entries[i].state[k])
                return true;
    return false;
}

static tern_status set_number(const char *function, tern_optim *optim, int group, const char *name,
                              double value)
{
    TERN_TRY(tern_check_optim(function, optim));
    const int first = group == TERN_ALL_GROUPS ? 0 : group;
    const int last = group == TERN_ALL_GROUPS ? (int)optim->group_count - 1 : group;
    TERN_TRY(check_group(function, optim, first));
    const int index = find_number(function, optim, name);
    if (index < 0)
        return tern_error_code();
    TERN_CHECK(!optim->klass->numbers[index].is_state, TERN_ERR_ARG,
               "%s: %s is state, which steps change, not an option", function, name);
    TERN_CHECK(!optim->klass->numbers[index].is_fixed || !has_state(optim), TERN_ERR_STATE,
               "%s: %s has to stay as it is: the state of %s was made with it", function, name,
               optim->klass->name);
    for (int i = first; i <= last; i++) {
        tern_optim_group changed = optim->groups[i];
        changed.number[index] = value;
        TERN_TRY(tern_optim_check_group(function, optim->klass, &changed));
        TERN_TRY(tern_optim_check_params(function, optim, i, &changed));
    }
    for (int i = first; i <= last; i++)
        optim->groups[i].number[index] = value;
    optim->made_with_lr_0 &= index != 0; // a 0 that is set is meant
    return TERN_OK;
}

tern_status tern_optim_set(tern_optim *optim, int group, const char *name, double value)
{
    return set_number("optim_set", optim, group, name, value);
}

double tern_optim_lr(const tern_optim *optim, int group)
{
    return check_group("optim_lr", optim, group) ? NAN : optim->groups[group].number[0];
}

tern_status tern_optim_set_lr(tern_optim *optim, int group, double lr)
{
    return set_number("optim_set_lr", optim, group, "lr", lr);
}

int tern_optim_num_groups(const tern_optim *optim)
{
    return tern_check_optim("optim_num_groups", optim) ? -1 : (int)optim->group_count;
}
