// SPDX-License-Identifier: Apache-2.0
// What is kept of each tag: points of curves, and the last of everything else.
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "train/run/run.h"

// Settings that are kept; nobody reads more.
#define MAX_FACTS 4096

tern_run_entry *tern_run_entry_find(const tern_run *run, tern_run_kind kind, const char *tag)
{
    const tern_run_list *list = &run->kinds[kind];
    const int64_t index = tern_name_table_find(&list->table, TERN_NAMED_ARRAY(list->at), tag);
    return index < 0 ? NULL : &list->at[index];
}

static tern_status add_entry(tern_run *run, tern_run_list *list, const char *tag)
{
    TERN_TRY(tern_mem_grow((void **)&list->at, &list->capacity, list->count + 1, sizeof *list->at));
    TERN_TRY(tern_name_table_reserve(&list->table, TERN_NAMED_ARRAY(list->at), list->count,
                                     list->count + 1));
    const char *copy = tern_arena_text(&run->arena, tag, strlen(tag));
    if (!copy)
        return TERN_ERR_NOMEM;
    list->at[list->count] = (tern_run_entry){.tag = copy, .stride = 1};
    tern_name_table_add(&list->table, TERN_NAMED_ARRAY(list->at), list->count++);
    return TERN_OK;
}

tern_run_entry *tern_run_entry_make(tern_run *run, tern_run_kind kind, const char *tag)
{
    tern_run_list *list = &run->kinds[kind];
    tern_run_entry *entry = tern_run_entry_find(run, kind, tag);
    if (entry)
        return entry;
    return add_entry(run, list, tag) ? NULL : &list->at[list->count - 1];
}

// ---- points -------------------------------------------------------------------------------------

tern_status tern_run_add_point(tern_run_entry *e, int64_t step, double time, double value)
{
    const int64_t last = e->count - 1;
    const bool again = e->count > 0 && !e->unsorted && e->steps[last] == step;
    const int64_t at = again ? last : e->count;
    TERN_TRY(tern_mem_grow((void **)&e->steps, &e->steps_capacity, at + 1, sizeof *e->steps));
    TERN_TRY(tern_mem_grow((void **)&e->times, &e->times_capacity, at + 1, sizeof *e->times));
    TERN_TRY(tern_mem_grow((void **)&e->values, &e->values_capacity, at + 1, sizeof *e->values));
    if (!e->unsorted && at > 0 && e->steps[at - 1] > step) {
        e->unsorted = true;
        e->ordered = at;
    }
    e->steps[at] = step;
    e->times[at] = time;
    e->values[at] = value;
    e->count = at + 1;
    return TERN_OK;
}

typedef struct point {
    int64_t step, order;
    double time, value;
} point;

static int compare(const void *left, const void *right)
{
    const point *a = left, *b = right;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static void take_back(tern_run_entry *e, const point *points, int64_t count)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i + 1 < count && points[i + 1].step == points[i].step)
            continue;
        e->steps[kept] = points[i].step;
        e->times[kept] = points[i].time;
        e->values[kept++] = points[i].value;
    }
    e->count = kept;
}

tern_status tern_run_sort(tern_run_entry *e)
{
    const size_t nbytes = (size_t)e->count * sizeof(point);
    if (!e->unsorted)
        return TERN_OK;
    point *points = tern_mem_alloc(nbytes);
    if (!points)
        return TERN_ERR_NOMEM;
    for (int64_t i = 0; i < e->count; i++)
        points[i] = (point){e->steps[i], i, e->times[i], e->values[i]};
    qsort(points, (size_t)e->count, sizeof *points, compare);
    take_back(e, points, e->count);
    e->unsorted = false;
    tern_mem_free(points, nbytes);
    return TERN_OK;
}

// ---- blocks -------------------------------------------------------------------------------------

static void free_block(tern_run_block *block)
{
    tern_mem_free(block, block->nbytes);
}

// Every second one goes, so that what stays is even over the run.
static void thin(tern_run_entry *e)
{
    int64_t kept = 0;
    e->stride *= 2;
    for (int64_t i = 0; i < e->blocks_count; i++) {
        if (e->blocks[i]->ordinal % e->stride == 0)
            e->blocks[kept++] = e->blocks[i];
        else
            free_block(e->blocks[i]);
    }
    e->blocks_count = kept;
}

// The last one stays whatever its number is, until there is a later one.
void tern_run_add_block(tern_run_entry *e, tern_run_block *block)
{
    while (e->blocks_count > 0 && e->blocks[e->blocks_count - 1]->step >= block->step) {
        e->blocks_count--;
        e->logged = e->blocks[e->blocks_count]->ordinal;
        free_block(e->blocks[e->blocks_count]);
    }
    if (e->blocks_count > 0 && e->blocks[e->blocks_count - 1]->ordinal % e->stride != 0)
        free_block(e->blocks[--e->blocks_count]);
    if (e->blocks_count == TERN_RUN_HISTOGRAMS_KEPT)
        thin(e);
    block->ordinal = e->logged++;
    e->blocks[e->blocks_count++] = block;
}

// ---- taking away --------------------------------------------------------------------------------

static tern_status cut_entry(tern_run_entry *e, int64_t step)
{
    TERN_TRY(tern_run_sort(e));
    while (e->count > 0 && e->steps[e->count - 1] > step)
        e->count--;
    while (e->blocks_count > 0 && e->blocks[e->blocks_count - 1]->step > step) {
        e->blocks_count--;
        e->logged = e->blocks[e->blocks_count]->ordinal;
        free_block(e->blocks[e->blocks_count]);
    }
    return TERN_OK;
}

tern_status tern_run_cut(tern_run *run, int64_t step)
{
    for (int kind = 0; kind < TERN_RUN_KINDS; kind++)
        for (int64_t i = 0; i < run->kinds[kind].count; i++)
            TERN_TRY(cut_entry(&run->kinds[kind].at[i], step));
    if (run->info.last_step > step)
        run->info.last_step = step;
    return TERN_OK;
}

static void clear_entry(tern_run_entry *e)
{
    tern_mem_free(e->steps, (size_t)e->steps_capacity * sizeof *e->steps);
    tern_mem_free(e->times, (size_t)e->times_capacity * sizeof *e->times);
    tern_mem_free(e->values, (size_t)e->values_capacity * sizeof *e->values);
    for (int64_t i = 0; i < e->blocks_count; i++)
        free_block(e->blocks[i]);
}

static void clear_facts(tern_run_fact_list *list)
{
    tern_mem_free(list->at, (size_t)list->capacity * sizeof *list->at);
    *list = (tern_run_fact_list){0};
}

void tern_run_clear(tern_run *run)
{
    for (int kind = 0; kind < TERN_RUN_KINDS; kind++) {
        tern_run_list *list = &run->kinds[kind];
        for (int64_t i = 0; i < list->count; i++)
            clear_entry(&list->at[i]);
        tern_mem_free(list->at, (size_t)list->capacity * sizeof *list->at);
        tern_name_table_free(&list->table);
        *list = (tern_run_list){0};
    }
    clear_facts(&run->settings);
    clear_facts(&run->facts);
    tern_arena_free(&run->arena);
}

// ---- facts --------------------------------------------------------------------------------------

tern_status tern_run_set_fact(tern_run *run, tern_run_fact_list *list, const char *name,
                              const char *text, bool is_text)
{
    int64_t at = 0;
    while (at < list->count && strcmp(list->at[at].name, name) != 0)
        at++;
    if (at < list->count && strcmp(list->at[at].text, text) == 0 && list->at[at].is_text == is_text)
        return TERN_OK;
    if (at == MAX_FACTS)
        return TERN_OK;
    TERN_TRY(tern_mem_grow((void **)&list->at, &list->capacity, at + 1, sizeof *list->at));
    const char *copy = tern_arena_text(&run->arena, text, strlen(text));
    const char *key =
        at < list->count ? list->at[at].name : tern_arena_text(&run->arena, name, strlen(name));
    if (!copy || !key)
        return TERN_ERR_NOMEM;
    list->at[at] = (tern_run_fact){key, copy, is_text};
    list->count = list->count > at ? list->count : at + 1;
    return TERN_OK;
}
