// SPDX-License-Identifier: Apache-2.0
// What stands on the screen: a line for each run, charts beside and below each other, and the keys.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "watch.h"

enum {
    MOST_ACROSS = 3,    // charts beside each other
    CHART_COLUMNS = 60, // that each should have
    MOST_HEIGHT = 14,
    LEAST_HEIGHT = 6,
    USUAL_HEIGHT = 12,
    GAP = 2 // columns between charts
};

// ---- runs ---------------------------------------------------------------------------------------

static void run_line(text *t, const arguments *given, const tern_run *run, int number, int columns)
{
    char steps[32], time[32], more[128];
    tern_run_info info;
    const bool several = given->count > 1;
    if (several) {
        text_colour(t, number, false);
        text_add(t, t->colour ? "━ " : "%c ", number < 9 ? '1' + number : '+');
        text_colour(t, -1, false);
    }
    const int left = columns - (several ? 2 : 0);
    if (!run || tern_run_describe(run, &info)) {
        const int used = text_add_name(t, given->folders[number], left > 24 ? left - 22 : left, 0);
        if (left > 24)
            text_add(t, ": waiting for its log%*s", left - used > 21 ? left - used - 21 : 0, "");
        return;
    }
    integer_text(steps, info.last_step < 0 ? 0 : info.last_step);
    duration_text(time, info.seconds);
    int length = snprintf(more, sizeof more, "  %s  step %s  %s", tern_run_status_name(info.status),
                          steps, time);
    if (info.damaged > 0)
        length += snprintf(more + length, sizeof more - (size_t)length, "  %lld damaged lines",
                           (long long)info.damaged);
    const int name = left - length;
    if (t->colour)
        text_add(t, "\033[1m");
    const int used = text_add_name(t, info.name, name > 4 ? name : left, 0);
    if (t->colour)
        text_add(t, "\033[0m");
    if (name > 4)
        text_add(t, "%s%*s", more, left - used - length, "");
}

// Where no chart fits: the run and its first curve, in one line.
static void one_line(text *t, const arguments *given, tern_run *const *runs, const charts *all,
                     int columns)
{
    char line[512], number[32];
    tern_run_info info = {.last_step = -1};
    if (all->count == 0) {
        text_add_name(t, "no curves yet", columns, 0);
        return;
    }
    const chart *first = &all->at[0];
    const series *s = &first->series[first->count - 1];
    if (runs[s->run] && tern_run_describe(runs[s->run], &info))
        tern_error_clear();
    (void)given;
    number_text(number, s->tag, s->points.values[s->points.count - 1]);
    (void)snprintf(line, sizeof line, "%s %s %lld", number, first->metric,
                   (long long)info.last_step);
    text_add_name(t, line, columns, 0);
}

// ---- charts -------------------------------------------------------------------------------------

typedef struct grid {
    int across, down, columns, height;
} grid;

// Without a limit of rows all charts are below each other, as high as they usually are.
static grid layout(const view *shown, int count, int rows)
{
    grid g = {.across = shown->columns / CHART_COLUMNS};
    g.across = g.across < 1 ? 1 : g.across > MOST_ACROSS ? MOST_ACROSS : g.across;
    g.across = g.across > count ? count : g.across;
    g.columns = (shown->columns - (g.across - 1) * GAP) / g.across;
    const int needed = (count + g.across - 1) / g.across;
    if (shown->rows == 0)
        return g.down = needed, g.height = USUAL_HEIGHT, g;
    g.down = rows / (LEAST_HEIGHT + 1);
    g.down = g.down < 1 ? 1 : g.down > needed ? needed : g.down;
    g.height = rows / g.down - 1;
    g.height = g.height > MOST_HEIGHT ? MOST_HEIGHT : g.height < 3 ? 3 : g.height;
    return g;
}

static void draw_row(text *t, const charts *all, int first, const grid *g, bool log_scale,
                     const char *newline)
{
    text lines[MOST_ACROSS][MOST_HEIGHT] = {{{.at = NULL}}};
    const int count = all->count - first < g->across ? all->count - first : g->across;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < g->height; k++)
            lines[i][k].colour = t->colour;
        chart_draw(&all->at[first + i], lines[i], g->columns, g->height, log_scale);
    }
    for (int k = 0; k < g->height; k++) {
        for (int i = 0; i < count; i++)
            text_add(t, "%s%.*s", i > 0 ? "  " : "", (int)lines[i][k].length,
                     lines[i][k].at ? lines[i][k].at : "");
        text_add(t, "%s", newline);
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < g->height; k++)
            text_free(&lines[i][k]);
}

static void last_line(text *t, const view *shown, const charts *all, int drawn)
{
    char words[128];
    const bool more = drawn < all->count;
    int length = 0;
    if (more)
        length = snprintf(words, sizeof words, "%d to %d of %d charts  ", shown->first + 1,
                          shown->first + drawn, all->count);
    (void)snprintf(words + length, sizeof words - (size_t)length, "%sl: %s  q: quit",
                   more ? "space: more  " : "", shown->log_scale ? "linear" : "log");
    text_add_name(t, words, shown->columns, 0);
}

static bool is_small(const view *shown)
{
    return shown->columns < LEAST_COLUMNS || (shown->rows > 0 && shown->rows < LEAST_ROWS);
}

int picture_draw(text *t, const arguments *given, tern_run *const *runs, const view *shown,
                 const char *newline)
{
    charts all;
    int drawn = 0;
    if (!charts_make(&all, given, runs) || is_small(shown)) {
        one_line(t, given, runs, &all, shown->columns);
        text_add(t, "%s", shown->rows == 0 ? newline : "");
        charts_free(&all);
        return 0;
    }
    const int most = shown->rows == 0 ? given->count : shown->rows / 3;
    const int heads = given->count < most ? given->count : most;
    for (int i = 0; i < heads; i++) {
        run_line(t, given, runs[i], i, shown->columns);
        text_add(t, "%s", newline);
    }
    text_add(t, "%s", newline);
    const grid g = all.count > 0 ? layout(shown, all.count, shown->rows - heads - 2) : (grid){0};
    for (int row = 0; row < g.down && shown->first + drawn < all.count; row++) {
        draw_row(t, &all, shown->first + drawn, &g, shown->log_scale, newline);
        drawn += g.across;
        text_add(t, "%s", shown->rows == 0 && row == g.down - 1 ? "" : newline);
    }
    if (all.count == 0)
        text_add(t, "no curves yet%s", newline);
    drawn = drawn > all.count - shown->first ? all.count - shown->first : drawn;
    if (shown->keys)
        last_line(t, shown, &all, drawn);
    charts_free(&all);
    return drawn;
}
