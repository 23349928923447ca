// SPDX-License-Identifier: Apache-2.0
#include "state/key_report.h"

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
