// SPDX-License-Identifier: Apache-2.0
// Groups by the names of parameters.
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "optim/optim.h"

static bool is_named(const tern_optim_entry *entry, const char *pattern)
{
    return fnmatch(pattern, entry->name, 0) == 0;
}

static int64_t count_named(const tern_optim *optim, const char *pattern)
{
    int64_t count = 0;
    for (int64_t i = 0; i < optim->entry_count; i++)
        count += is_named(&optim->entries[i], pattern);
    return count;
}

static tern_status none_is_named(const tern_optim *optim, const char *pattern)
{
    char known[256] = "";
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
                            "optim_group_names: no parameter of %s has a name like \"%.64s\"; they "
                            "are %s",
                            optim->klass->name, pattern, known);
}

static tern_status check_names(const tern_optim *optim, const char *pattern)
{
    TERN_TRY(tern_check_optim("optim_group_names", optim));
    if (!pattern)
        return tern_null_error("optim_group_names", "pattern");
    for (int64_t i = 0; i < optim->entry_count; i++)
        TERN_CHECK(optim->entries[i].step == 0, TERN_ERR_STATE,
                   "optim_group_names: %s was updated already; make groups before the first step",
                   optim->entries[i].name);
    return TERN_OK;
}

// The entries that have the name go behind the others, which stay in order, as they do.
static void move_named(tern_optim *optim, const char *pattern, tern_optim_entry *moved)
{
    int64_t stayed = 0, count = 0;
    for (int64_t i = 0; i < optim->entry_count; i++) {
        const tern_optim_entry entry = optim->entries[i];
        if (is_named(&entry, pattern))
            moved[count++] = entry;
        else
            optim->entries[stayed++] = entry;
    }
    for (int64_t i = 0; i < count; i++) {
        optim->entries[stayed + i] = moved[i];
        optim->entries[stayed + i].group = (int)optim->group_count;
    }
}

tern_status tern_optim_group_names_with(const tern_optim_group_names_options *options)
{
    const char *function = "optim_group_names";
    tern_optim_group group;
    if (!options)
        return tern_null_error(function, "options");
    tern_optim *optim = options->optim;
    TERN_TRY(check_names(optim, options->pattern));
    TERN_TRY(tern_optim_make_group(function, optim, options->lr, options->weight_decay, &group));
    TERN_TRY(tern_optim_check_group(function, optim->klass, &group));
    const int64_t count = count_named(optim, options->pattern);
    if (count == 0)
        return none_is_named(optim, options->pattern);
    TERN_TRY(tern_mem_grow((void **)&optim->groups, &optim->group_capacity, optim->group_count + 1,
                           sizeof *optim->groups));
    tern_optim_entry *moved = tern_mem_alloc((size_t)count * sizeof *moved);
    if (!moved)
        return TERN_ERR_NOMEM;
    move_named(optim, options->pattern, moved);
    tern_mem_free(moved, (size_t)count * sizeof *moved);
    optim->groups[optim->group_count++] = group;
    return TERN_OK;
}
