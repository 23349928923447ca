// SPDX-License-Identifier: Apache-2.0
// The numbers of a group: what they may be, and getting and setting them.
#include "optim/optim.h"

static tern_status check_not_negative(const char *function, const char *name, double value)
{
    TERN_CHECK(isfinite(value) && value >= 0, TERN_ERR_ARG, "%s: %s is %g, but must be 0 or more",
               function, name, value);
    return TERN_OK;
}

static tern_status check_sgd(const char *function, const tern_optim *optim,
                             const tern_optim_group *group)
{
    TERN_TRY(check_not_negative(function, "momentum", group->momentum));
    TERN_CHECK(isfinite(group->dampening), TERN_ERR_ARG, "%s: dampening is %g", function,
               group->dampening);
    TERN_CHECK(!optim->nesterov || (group->momentum > 0 && group->dampening == 0), TERN_ERR_ARG,
               "%s: nesterov wants momentum above 0 and dampening 0, not %g and %g", function,
               group->momentum, group->dampening);
    return TERN_OK;
}

static tern_status check_adam(const char *function, const tern_optim_group *group)
{
    for (int i = 0; i < 2; i++)
        TERN_CHECK(group->betas[i] >= 0 && group->betas[i] < 1, TERN_ERR_ARG,
                   "%s: betas[%d] is %g, but must be from 0 to below 1", function, i,
                   group->betas[i]);
    return check_not_negative(function, "eps", group->eps);
}

tern_status tern_optim_check_group(const char *function, const tern_optim *optim,
                                   const tern_optim_group *group)
{
    TERN_TRY(check_not_negative(function, "lr", group->lr));
    TERN_TRY(check_not_negative(function, "weight_decay", group->weight_decay));
    return optim->klass->is_sgd ? check_sgd(function, optim, group) : check_adam(function, group);
}

// ---- getting and setting ------------------------------------------------------------------------

// Where an option lives in a group; NULL when the optimizer does not have it.
static double *place_of(const tern_optim *optim, tern_optim_group *group, tern_optim_option option)
{
    bool sgd = optim->klass->is_sgd;
    switch (option) {
    case TERN_OPTIM_LR:
        return &group->lr;
    case TERN_OPTIM_WEIGHT_DECAY:
        return &group->weight_decay;
    case TERN_OPTIM_MOMENTUM:
        return sgd ? &group->momentum : NULL;
    case TERN_OPTIM_DAMPENING:
        return sgd ? &group->dampening : NULL;
    case TERN_OPTIM_BETA1:
        return sgd ? NULL : &group->betas[0];
    case TERN_OPTIM_BETA2:
        return sgd ? NULL : &group->betas[1];
    case TERN_OPTIM_EPS:
        return sgd ? NULL : &group->eps;
    case TERN_OPTIM_UNSPECIFIED:
        break;
    }
    return NULL;
}

static tern_status check_place(const char *function, const tern_optim *optim, int group,
                               tern_optim_option option)
{
    static const char *const names[] = {"option 0",  "lr",    "weight decay", "momentum",
                                        "dampening", "beta1", "beta2",        "eps"};
    tern_optim_group any;
    TERN_TRY(tern_check_optim(function, optim));
    TERN_CHECK(group >= 0 && group < optim->group_count, TERN_ERR_INDEX,
               "%s: there is no group %d; %s has %lld", function, group, optim->klass->name,
               (long long)optim->group_count);
    bool known = (unsigned)option < sizeof names / sizeof names[0];
    TERN_CHECK(place_of(optim, &any, option), TERN_ERR_ARG, "%s: %s has no %s", function,
               optim->klass->name, known ? names[option] : "such option");
    return TERN_OK;
}

double tern_optim_get(const tern_optim *optim, int group, tern_optim_option option)
{
    if (check_place("optim_get", optim, group, option))
        return NAN;
    return *place_of(optim, &optim->groups[group], option);
}

static tern_status set_option(const char *function, tern_optim *optim, int group,
                              tern_optim_option option, double value)
{
    TERN_TRY(tern_check_optim(function, optim));
    int first = group == TERN_ALL_GROUPS ? 0 : group;
    int last = group == TERN_ALL_GROUPS ? (int)optim->group_count - 1 : group;
    for (int i = first; i <= last; i++) {
        TERN_TRY(check_place(function, optim, i, option));
        tern_optim_group changed = optim->groups[i];
        *place_of(optim, &changed, option) = value;
        TERN_TRY(tern_optim_check_group(function, optim, &changed));
    }
    for (int i = first; i <= last; i++)
        *place_of(optim, &optim->groups[i], option) = value;
    return TERN_OK;
}

tern_status tern_optim_set(tern_optim *optim, int group, tern_optim_option option, double value)
{
    return set_option("optim_set", optim, group, option, value);
}

double tern_optim_lr(const tern_optim *optim, int group)
{
    if (check_place("optim_lr", optim, group, TERN_OPTIM_LR))
        return NAN;
    return optim->groups[group].lr;
}

tern_status tern_optim_set_lr(tern_optim *optim, int group, double lr)
{
    return set_option("optim_set_lr", optim, group, TERN_OPTIM_LR, lr);
}

int tern_optim_num_groups(const tern_optim *optim)
{
    return tern_check_optim("optim_num_groups", optim) ? -1 : (int)optim->group_count;
}
