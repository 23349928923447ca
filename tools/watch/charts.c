// SPDX-License-Identifier: Apache-2.0
// Which curves are drawn together: those of one metric, of every split and every run.
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

static const char *const splits[] = {"train", "valid", "val", "validation", "test", "eval"};

// Of "valid/loss" the split 1, and "loss" behind it; -1 where there is none.
static int split_of(const char *tag, const char **metric)
{
    for (int i = 0; i < (int)(sizeof splits / sizeof *splits); i++) {
        const size_t length = strlen(splits[i]);
        if (strncmp(tag, splits[i], length) == 0 && tag[length] == '/')
            return *metric = tag + length + 1, i;
    }
    return *metric = tag, -1;
}

static int rank_of(int split, const char *metric)
{
    if (split >= 0)
        return strcmp(metric, "loss") == 0 ? 0 : strcmp(metric, "accuracy") == 0 ? 1 : 2;
    return strncmp(metric, "resources/", 10) == 0 ? 5 : strcmp(metric, "lr") == 0 ? 3 : 4;
}

static bool is_wanted(const arguments *given, const char *tag)
{
    bool wanted = given->patterns_count == 0;
    for (int i = 0; i < given->patterns_count; i++)
        wanted = wanted || fnmatch(given->patterns[i], tag, 0) == 0;
    return wanted;
}

static bool grow(void **array, int *capacity, int count, size_t size)
{
    if (count < *capacity)
        return true;
    void *grown = realloc(*array, (size_t)(2 * *capacity + 8) * size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = 2 * *capacity + 8;
    return true;
}

static chart *chart_of(charts *all, int split, const char *metric)
{
    const int rank = rank_of(split, metric);
    char name[sizeof all->at->metric];
    (void)snprintf(name, sizeof name, "%s", metric);
    for (int i = 0; i < all->count; i++)
        if (all->at[i].rank == rank && strcmp(all->at[i].metric, name) == 0)
            return &all->at[i];
    if (!grow((void **)&all->at, &all->capacity, all->count, sizeof *all->at))
        return NULL;
    chart *c = &all->at[all->count++];
    *c = (chart){.rank = rank};
    memcpy(c->metric, name, sizeof name);
    return c;
}

static bool add_curve(charts *all, const tern_run *run, int number, bool several, const char *tag)
{
    const char *metric;
    const int split = split_of(tag, &metric);
    series s = {.tag = tag, .run = number, .colour = several ? number : split > 0};
    s.label = split < 0 ? "" : splits[split];
    s.number = several ? number : -1;
    s.faint = several && split == 0;
    if (tern_run_curve(run, tag, &s.points)) {
        tern_error_clear(); // taken back by a process that resumed
        return true;
    }
    chart *c = chart_of(all, split, metric);
    if (!c || !grow((void **)&c->series, &c->capacity, c->count, sizeof *c->series))
        return false;
    c->series[c->count++] = s;
    return true;
}

static int compare(const void *left, const void *right)
{
    const chart *a = left, *b = right;
    return a->rank != b->rank ? a->rank - b->rank : strcmp(a->metric, b->metric);
}

bool charts_make(charts *all, const arguments *given, tern_run *const *runs)
{
    *all = (charts){.at = NULL};
    for (int i = 0; i < given->count; i++) {
        const int64_t count = runs[i] ? tern_run_tags(runs[i], TERN_RUN_SCALAR) : 0;
        for (int64_t k = 0; k < count; k++) {
            const char *tag = tern_run_tag(runs[i], TERN_RUN_SCALAR, k);
            if (is_wanted(given, tag) && !add_curve(all, runs[i], i, given->count > 1, tag))
                return false;
        }
    }
    if (all->count > 1)
        qsort(all->at, (size_t)all->count, sizeof *all->at, compare);
    return true;
}

void charts_free(charts *all)
{
    for (int i = 0; i < all->count; i++)
        free(all->at[i].series);
    free(all->at);
    *all = (charts){.at = NULL};
}
