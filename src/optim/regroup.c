// SPDX-License-Identifier: Apache-2.0
// Groups of parameters chosen among those that there are, by name or by a function.
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/pointer_map.h"
#include "optim/optim.h"

// Which entries go to the new group.
typedef struct choice {
    const char *function; // for messages
    const char *pattern;  // of names; NULL: the parameters in `chosen`
    tern_pointer_map chosen;
} choice;

static bool is_chosen(const tern_optim_entry *entry, const choice *c)
{
    return c->pattern ? fnmatch(c->pattern, entry->name, 0) == 0
                      : tern_pointer_map_find(&c->chosen, entry->param) >= 0;
}

static int64_t count_chosen(const tern_optim *optim, const choice *c)
{
    int64_t count = 0;
    for (int64_t i = 0; i < optim->entry_count; i++)
        count += is_chosen(&optim->entries[i], c);
    return count;
}

static tern_status none_is_chosen(const tern_optim *optim, const choice *c)
{
    char known[256] = "";
    TERN_CHECK(c->pattern, TERN_ERR_ARG, "%s: the function chose no parameter", c->function);
    for (int64_t i = 0; i < optim->entry_count; i++) {
        const size_t length = strlen(known);
        const char *name = optim->entries[i].name;
        if (length + strlen(name) + sizeof ", ..." > sizeof known) {
            snprintf(known + length, sizeof known - length, ", ...");
            break;
        }
        snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", name);
    }
    return tern_error_raise(TERN_ERR_ARG,
                            "%s: no parameter of %s has a name like \"%.64s\"; they are %s",
                            c->function, optim->klass->name, c->pattern, known);
}

static tern_status check_unused(const char *function, const tern_optim *optim)
{
    for (int64_t i = 0; i < optim->entry_count; i++)
        TERN_CHECK(optim->entries[i].step == 0, TERN_ERR_STATE,
                   "%s: %s was updated already; make groups before the first step", function,
                   optim->entries[i].name);
    return TERN_OK;
}

// The entries that are chosen go behind the others, which stay in order, as they do.
static void move_chosen(tern_optim *optim, const choice *c, tern_optim_entry *moved)
{
    int64_t stayed = 0, count = 0;
    for (int64_t i = 0; i < optim->entry_count; i++) {
        const tern_optim_entry entry = optim->entries[i];
        if (is_chosen(&entry, c))
            moved[count++] = entry;
        else
            optim->entries[stayed++] = entry;
    }
    for (int64_t i = 0; i < count; i++) {
        optim->entries[stayed + i] = moved[i];
        optim->entries[stayed + i].group = (int)optim->group_count;
    }
}

static tern_status regroup(tern_optim *optim, const tern_optim_group *group, const choice *c)
{
    const int64_t count = count_chosen(optim, c);
    if (count == 0)
        return none_is_chosen(optim, c);
    TERN_TRY(tern_mem_grow((void **)&optim->groups, &optim->group_capacity, optim->group_count + 1,
                           sizeof *optim->groups));
    tern_optim_entry *moved = tern_mem_alloc((size_t)count * sizeof *moved);
    if (!moved)
        return TERN_ERR_NOMEM;
    move_chosen(optim, c, moved);
    tern_mem_free(moved, (size_t)count * sizeof *moved);
    optim->groups[optim->group_count++] = *group;
    return TERN_OK;
}

// ---- by name ------------------------------------------------------------------------------------

tern_status tern_optim_group_names_with(const tern_optim_group_names_options *options)
{
    const char *function = "optim_group_names";
    tern_optim_group group;
    if (!options)
        return tern_null_error(function, "options");
    tern_optim *optim = options->optim;
    TERN_TRY(tern_check_optim(function, optim));
    if (!options->pattern)
        return tern_null_error(function, "pattern");
    TERN_TRY(check_unused(function, optim));
    TERN_TRY(tern_optim_make_group(function, optim, options->lr, options->weight_decay, &group));
    TERN_TRY(tern_optim_check_group(function, optim->klass, &group));
    return regroup(optim, &group, &(choice){.function = function, .pattern = options->pattern});
}

// ---- by a function ------------------------------------------------------------------------------

typedef struct choosing {
    const tern_optim_group_if_options *options;
    choice choice;
} choosing;

static tern_status choose(const tern_module_entry *entry, void *user)
{
    choosing *c = user;
    const tern_optim *optim = c->options->optim;
    int64_t index, at = 0;
    const bool wanted = c->options->function(entry, c->options->user);
    TERN_TRY(tern_error_code());
    if (!wanted)
        return TERN_OK;
    while (at < optim->entry_count && optim->entries[at].param != entry->tensor)
        at++;
    TERN_CHECK(at < optim->entry_count, TERN_ERR_ARG, "%s: %s is not a parameter of this %s",
               c->choice.function, entry->name, optim->klass->name);
    return tern_pointer_map_add(&c->choice.chosen, entry->tensor, &index);
}

// The function may free the optimizer.
static tern_status choose_and_regroup(choosing *c, const tern_optim_group *group)
{
    tern_optim *optim = tern_optim_retain(c->options->optim);
    tern_status status = tern_module_each_parameter(c->options->module, choose, c);
    if (!status)
        status = regroup(optim, group, &c->choice);
    tern_pointer_map_free(&c->choice.chosen);
    tern_optim_free(optim);
    return status;
}

tern_status tern_optim_group_if_with(const tern_optim_group_if_options *options)
{
    const char *function = "optim_group_if";
    tern_optim_group group;
    if (!options)
        return tern_null_error(function, "options");
    TERN_TRY(tern_check_optim(function, options->optim));
    if (!options->module)
        return tern_null_error(function, "module");
    if (!options->function)
        return tern_null_error(function, "function");
    TERN_TRY(tern_error_code());
    TERN_TRY(check_unused(function, options->optim));
    TERN_TRY(tern_optim_make_group(function, options->optim, options->lr, options->weight_decay,
                                   &group));
    TERN_TRY(tern_optim_check_group(function, options->optim->klass, &group));
    return choose_and_regroup(&(choosing){options, {.function = function}}, &group);
}
