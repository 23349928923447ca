// SPDX-License-Identifier: Apache-2.0
#include "state/key_report.h"

#include <stdio.h>
#include <string.h>
#include "base/mem.h"

tern_status tern_key_list_add(tern_key_list *list, const char *name)
{
    TERN_TRY(tern_mem_grow((void **)&list->at, &list->capacity, list->count + 1, sizeof *list->at));
    char *copy = tern_mem_string(name);
    if (!copy)
        return TERN_ERR_NOMEM;
    list->at[list->count++] = copy;
    return TERN_OK;
}

void tern_key_list_free(tern_key_list *list)
{
    for (int64_t i = 0; i < list->count; i++)
        tern_mem_free_string(list->at[i]);
    tern_mem_free(list->at, (size_t)list->capacity * sizeof *list->at);
    *list = (tern_key_list){0};
}

void tern_load_lists_free(tern_load_lists *lists)
{
    tern_key_list_free(&lists->missing);
    tern_key_list_free(&lists->unexpected);
    tern_key_list_free(&lists->mismatched);
}

// ---- the report ---------------------------------------------------------------------------------

tern_status tern_load_report_fill(tern_load_report *report, tern_load_lists *lists)
{
    tern_load_lists *kept = tern_mem_alloc(sizeof *kept);
    if (!kept)
        return TERN_ERR_NOMEM;
    *kept = *lists;
    *lists = (tern_load_lists){0};
    *report = (tern_load_report){
        .missing_count = kept->missing.count,
        .unexpected_count = kept->unexpected.count,
        .mismatched_count = kept->mismatched.count,
        .missing = (const char *const *)kept->missing.at,
        .unexpected = (const char *const *)kept->unexpected.at,
        .mismatched = (const char *const *)kept->mismatched.at,
        .lists_ = kept,
    };
    return TERN_OK;
}

void tern_load_report_free(tern_load_report *report)
{
    if (!report)
        return;
    if (report->lists_) {
        tern_load_lists_free(report->lists_);
        tern_mem_free(report->lists_, sizeof *report->lists_);
    }
    *report = (tern_load_report){0};
}

// ---- names --------------------------------------------------------------------------------------

// What comes after `begin`; NULL where it does not begin so, or nothing comes.
static const char *after(const char *name, const char *begin)
{
    const size_t length = begin ? strlen(begin) : 0;
    return strncmp(name, begin ? begin : "", length) == 0 && name[length] ? name + length : NULL;
}

const char *tern_load_name(const tern_state_load_options *options, const char *name)
{
    const char *rest = after(name, options->prefix);
    const char *stripped = rest && options->strip ? after(rest, options->strip) : NULL;
    return stripped ? stripped : rest;
}

static tern_state_entry *find(const tern_state_load_options *options, const char *strip,
                              const char *name)
{
    char full[3 * TERN_STATE_NAME_SIZE];
    const char *prefix = options->prefix ? options->prefix : "";
    const int length = snprintf(full, sizeof full, "%s%s%s", prefix, strip, name);
    return length < (int)sizeof full ? tern_state_find(options->state, full) : NULL;
}

// One that strip is taken from comes before one that never had it.
tern_state_entry *tern_load_find(const tern_state_load_options *options, const char *name)
{
    tern_state_entry *found = NULL;
    if (options->strip)
        found = find(options, options->strip, name);
    if (found || (options->strip && after(name, options->strip)))
        return found;
    return find(options, "", name);
}
