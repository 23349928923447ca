// SPDX-License-Identifier: Apache-2.0
// Making optimizers: their parameters, groups and references.
#include "optim/optim.h"

#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/pointer_map.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

tern_optim *tern_optim_retain(tern_optim *optim)
{
    if (!optim || tern_check_optim_not_freed("optim_retain", optim))
        return NULL;
    tern_refs_retain(&optim->refs);
    return optim;
}

static void free_entry(tern_optim_entry *entry)
{
    for (int i = 0; i < TERN_STEP_STATES; i++)
        tern_tensor_release_as(entry->state[i], TERN_STAMP_HOLDER);
    tern_tensor_release_as(entry->param, TERN_STAMP_HOLDER);
    tern_mem_free_string(entry->name);
}

// Takes back the entries from `count` on.
static void cut_entries(tern_optim *optim, int64_t count)
{
    while (optim->entry_count > count)
        free_entry(&optim->entries[--optim->entry_count]);
}

void tern_optim_free(tern_optim *optim)
{
    if (!optim || tern_check_optim_not_freed("optim_free", optim) ||
        !tern_refs_release(&optim->refs))
        return;
    tern_optim_mark_leaves(optim, false);
    if (optim->klass->free)
        optim->klass->free(optim);
    cut_entries(optim, 0);
    tern_mem_free(optim->tensors, (size_t)optim->tensor_capacity * sizeof *optim->tensors);
    for (int64_t i = 0; i < optim->device_capacity; i++)
        tern_storage_release(optim->devices[i].plan);
    tern_mem_free(optim->devices, (size_t)optim->device_capacity * sizeof *optim->devices);
    tern_mem_free(optim->entries, (size_t)optim->entry_capacity * sizeof *optim->entries);
    tern_mem_free(optim->groups, (size_t)optim->group_capacity * sizeof *optim->groups);
    tern_mem_free_deferred(optim, sizeof *optim, offsetof(tern_optim, groups));
}

// ---- parameters ---------------------------------------------------------------------------------

// A group that is being added.
typedef struct addition {
    const char *function;
    tern_optim *optim;
    tern_pointer_map seen;
} addition;

static tern_status check_param(const char *function, const char *name, const tern_tensor *t)
{
    TERN_TRY(tern_check_tensor(function, name, t));
    TERN_CHECK(!t->node, TERN_ERR_STATE, "%s: %s is the result of %s; only leaves can be optimized",
               function, name, t->op);
    TERN_CHECK(tern_dtype_is_floating(t->dtype), TERN_ERR_DTYPE,
               "%s: %s is %s; only floating tensors can be optimized", function, name,
               tern_tensor_string(t));
    TERN_CHECK(t->contiguous, TERN_ERR_STATE, "%s: %s is not contiguous", function, name);
    return TERN_OK;
}

static tern_status add_param(addition *a, const char *name, tern_tensor *t)
{
    tern_optim *optim = a->optim;
    int64_t known = a->seen.count, number;
    TERN_TRY(check_param(a->function, name, t));
    TERN_TRY(tern_pointer_map_add(&a->seen, t, &number));
    TERN_CHECK(number == known, TERN_ERR_ARG,
               "%s: %s is in the optimizer already; a parameter belongs to one group", a->function,
               name);
    TERN_TRY(tern_mem_grow((void **)&optim->entries, &optim->entry_capacity, optim->entry_count + 1,
                           sizeof *optim->entries));
    char *copy = tern_mem_string(name);
    if (!copy)
        return TERN_ERR_NOMEM;
    optim->entries[optim->entry_count++] = (tern_optim_entry){
        .param = tern_tensor_retain(t),
        .name = copy,
        .group = (int)optim->group_count,
        .scalar = {NAN, NAN},
    };
    return TERN_OK;
}

static tern_status add_of_module(const tern_module_entry *entry, void *user)
{
    return add_param(user, entry->name, entry->tensor);
}

static tern_status add_of_list(addition *a, const tern_optim_source *source)
{
    for (int64_t i = 0; i < source->param_count; i++) {
        char name[TERN_LABEL_SIZE + 32];
        tern_tensor *t = source->params[i];
        snprintf(name, sizeof name, "params[%lld]", (long long)i);
        TERN_TRY(tern_check_tensor(a->function, name, t));
        snprintf(name, sizeof name, "params[%lld]%s%s", (long long)i, t->label[0] ? " " : "",
                 t->label);
        TERN_TRY(add_param(a, name, t));
    }
    return TERN_OK;
}

static tern_status check_source(const char *function, const tern_optim_source *source)
{
    TERN_CHECK(!source->module || !source->params, TERN_ERR_ARG,
               "%s: give a module or a list of params, not both", function);
    TERN_CHECK(source->param_count >= 0, TERN_ERR_ARG, "%s: param_count is %lld", function,
               (long long)source->param_count);
    if (!source->module && !source->params && source->param_count > 0)
        return tern_null_error(function, "params");
    if (!source->module && !source->params)
        return tern_null_error(function, "module");
    return TERN_OK;
}

static tern_status add_params(addition *a, const tern_optim_source *source)
{
    tern_optim *optim = a->optim;
    int64_t before = optim->entry_count, number;
    for (int64_t i = 0; i < before; i++)
        TERN_TRY(tern_pointer_map_add(&a->seen, optim->entries[i].param, &number));
    if (source->module)
        TERN_TRY(tern_module_each_parameter(source->module, add_of_module, a));
    else
        TERN_TRY(add_of_list(a, source));
    TERN_CHECK(optim->entry_count > before, TERN_ERR_ARG, "%s: there are no parameters to optimize",
               a->function);
    return TERN_OK;
}

// What steps work with: as much as they may ever need, so that only missing state is made there.
static tern_status reserve_group(tern_optim *optim)
{
    TERN_TRY(tern_mem_grow((void **)&optim->tensors, &optim->tensor_capacity, optim->entry_count,
                           sizeof *optim->tensors));
    return tern_mem_grow((void **)&optim->devices, &optim->device_capacity, optim->entry_count,
                         sizeof *optim->devices);
}

static bool ends_with_name(const char *label, const char *name)
{
    const size_t length = strlen(label), end = strlen(name);
    return length >= end && strcmp(label + (length - end), name) == 0 &&
           (length == end || label[length - end - 1] == '.');
}

// Messages call parameters of a module by their full names, as seen from the outermost module that
// an optimizer was given.
static void set_labels(const tern_optim *optim, int64_t from)
{
    for (int64_t i = from; i < optim->entry_count; i++) {
        const tern_optim_entry *entry = &optim->entries[i];
        if (!ends_with_name(entry->param->label, entry->name))
            tern_tensor_set_label(entry->param, entry->name);
    }
}

// Adds a group, all or nothing. `function` is for messages.
static tern_status append(const char *function, tern_optim *optim, const tern_optim_group *group,
                          const tern_optim_source *source)
{
    addition a = {.function = function, .optim = optim};
    int64_t before = optim->entry_count;
    TERN_TRY(tern_optim_check_group(function, optim->klass, group));
    TERN_TRY(check_source(function, source));
    TERN_TRY(tern_mem_grow((void **)&optim->groups, &optim->group_capacity, optim->group_count + 1,
                           sizeof *optim->groups));
    optim->groups[optim->group_count] = *group;
    tern_status status = add_params(&a, source);
    tern_pointer_map_free(&a.seen);
    if (!status)
        status = tern_optim_check_params(function, optim, optim->group_count, group);
    if (!status)
        status = reserve_group(optim);
    if (!status)
        status = tern_optim_begin_states(function, optim, before);
    if (status) {
        cut_entries(optim, before);
        return status;
    }
    if (source->module)
        set_labels(optim, before);
    if (optim->accumulate_every > 1)
        tern_optim_mark_leaves(optim, true);
    optim->group_count++;
    return TERN_OK;
}

tern_optim *tern_optim_no_options(const tern_optim_class *klass)
{
    (void)tern_null_error(klass->function, "options");
    return NULL;
}

tern_optim *tern_optim_make(const tern_optim_class *klass, const double *number,
                            const tern_optim_source *source)
{
    tern_optim *optim = tern_mem_alloc(sizeof *optim);
    if (!optim)
        return NULL;
    optim->klass = klass;
    atomic_init(&optim->refs, 1);
    memcpy(optim->defaults.number, number, (size_t)klass->number_count * sizeof *number);
    optim->defaults.initial_lr = NAN;
    optim->accumulate_every = 1;
    optim->made_with_lr_0 = number[0] == 0;
    if (append(klass->function, optim, &optim->defaults, source)) {
        tern_optim_free(optim);
        return NULL;
    }
    return optim;
}

// ---- more groups --------------------------------------------------------------------------------

// Replaces the number of that name; a value of NAN keeps what is there.
static tern_status take(const char *function, const tern_optim_class *klass,
                        tern_optim_group *group, const char *name, double value)
{
    if (isnan(value))
        return TERN_OK;
    const int index = tern_optim_number_of(klass, name);
    TERN_CHECK(index >= 0, TERN_ERR_ARG, "%s: %s has no \"%s\"", function, klass->name, name);
    group->number[index] = value;
    return TERN_OK;
}

tern_status tern_optim_make_group(const char *function, const tern_optim *optim, double lr,
                                  double weight_decay, tern_optim_group *group)
{
    const tern_optim_mode *mode = optim->klass->mode;
    *group = optim->defaults;
    if (mode)
        group->number[mode->number] = optim->groups[0].number[mode->number];
    TERN_CHECK(!optim->klass->step_closure, TERN_ERR_ARG, "%s: %s has one group", function,
               optim->klass->name);
    TERN_TRY(take(function, optim->klass, group, "lr", lr));
    return take(function, optim->klass, group, "weight_decay", weight_decay);
}

tern_status tern_optim_add_group_with(const tern_optim_add_group_options *options)
{
    const char *function = "optim_add_group";
    tern_optim_group group;
    if (!options)
        return tern_null_error(function, "options");
    TERN_TRY(tern_check_optim(function, options->optim));
    TERN_TRY(tern_optim_make_group(function, options->optim, options->lr, options->weight_decay,
                                   &group));
    return append(function, options->optim, &group,
                  &(tern_optim_source){options->module, options->params, options->param_count});
}
