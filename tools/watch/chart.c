// SPDX-License-Identifier: Apache-2.0
// One chart: a title with the last values, dots, and its axes. A column of dots shows the mean of
// its steps.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

enum { LABEL = 9 }; // columns of the numbers on the left
// What is larger is drawn as infinities are: sums and differences of the others stay finite.
#define MAX_DRAWN 1e300

typedef struct column {
    double sum;
    int64_t count, gaps;
} column;

typedef struct frame {
    int64_t first, last; // steps
    double low, high;    // values, or their logarithms
    int dots;            // columns of dots
    bool log_scale;
} frame;

static bool fits(const frame *f, double value)
{
    return fabs(value) < MAX_DRAWN && (!f->log_scale || value > 0);
}

static int column_of(const frame *f, int64_t step)
{
    const double range = (double)f->last - (double)f->first;
    const double at = range > 0 ? ((double)step - (double)f->first) / range : 1;
    const int k = (int)(at * f->dots);
    return k < f->dots ? k : f->dots - 1;
}

static void gather(const frame *f, const series *s, column *columns)
{
    memset(columns, 0, (size_t)f->dots * sizeof *columns);
    for (int64_t i = 0; i < s->points.count; i++) {
        column *c = &columns[column_of(f, s->points.steps[i])];
        const double value = s->points.values[i];
        if (fits(f, value)) {
            c->sum += f->log_scale ? log10(value) : value;
            c->count++;
        } else {
            c->gaps++;
        }
    }
}

static double mean(const column *c)
{
    return c->sum / (double)c->count;
}

static void find_steps(const chart *c, frame *f)
{
    f->first = INT64_MAX, f->last = INT64_MIN;
    for (int i = 0; i < c->count; i++) {
        const tern_run_points *p = &c->series[i].points;
        f->first = p->steps[0] < f->first ? p->steps[0] : f->first;
        f->last = p->steps[p->count - 1] > f->last ? p->steps[p->count - 1] : f->last;
    }
}

static void find_values(const chart *c, frame *f, column *columns)
{
    f->low = INFINITY, f->high = -INFINITY;
    for (int i = 0; i < c->count; i++) {
        gather(f, &c->series[i], columns);
        for (int k = 0; k < f->dots; k++)
            if (columns[k].count > 0) {
                f->low = fmin(f->low, mean(&columns[k]));
                f->high = fmax(f->high, mean(&columns[k]));
            }
    }
    if (f->low > f->high)
        f->low = 0, f->high = 1;
    if (!(f->high > f->low)) {
        const double half = f->low != 0 ? fabs(f->low) / 2 : 0.5;
        f->low -= half, f->high += half;
    }
}

static int dot_row(const frame *f, const canvas *area, double value)
{
    const int rows = 4 * area->rows;
    const double at = (f->high - value) / (f->high - f->low) * (rows - 1);
    return (int)(at + 0.5);
}

static void draw_series(const frame *f, canvas *area, const series *s, const column *columns,
                        char digit)
{
    int before = -1;
    for (int k = 0; k < f->dots; k++) {
        if (columns[k].gaps > 0 && columns[k].count == 0) {
            canvas_mark(area, k, 0, 'x', s->colour);
            before = -1;
        }
        if (columns[k].count == 0)
            continue;
        const int row = dot_row(f, area, mean(&columns[k]));
        const int from = before < 0 ? k : before;
        canvas_line(area, from, before < 0 ? row : dot_row(f, area, mean(&columns[before])), k, row,
                    s->colour, s->faint);
        before = k;
    }
    if (digit && before >= 0)
        canvas_mark(area, before, dot_row(f, area, mean(&columns[before])), digit, s->colour);
}

// ---- texts --------------------------------------------------------------------------------------

static double last_value(const series *s)
{
    return s->points.values[s->points.count - 1];
}

// Where there are no colours, digits at the ends of the curves tell them apart.
static char digit_of(const chart *c, const text *line, int i)
{
    const int number = c->series[i].number < 0 ? i : c->series[i].number;
    return line->colour || c->count == 1 ? 0 : (char)(number < 9 ? '1' + number : '+');
}

static void draw_title(const chart *c, text *line, int columns)
{
    if (line->colour)
        text_add(line, "\033[1m");
    int used = text_add_name(line, c->metric, columns, 0);
    if (line->colour)
        text_add(line, "\033[0m");
    for (int i = 0; i < c->count; i++) {
        char number[32];
        const series *s = &c->series[i];
        number_text(number, s->tag, last_value(s));
        const int needed = 2 + 2 + (int)strlen(s->label) + 1 + (int)strlen(number);
        if (used + needed > columns)
            break;
        const char digit = digit_of(c, line, i);
        text_add(line, "  ");
        text_colour(line, s->colour, s->faint);
        text_add(line, digit ? "%c " : "━ ", digit);
        text_colour(line, -1, false);
        text_add(line, "%s%s%s", s->label, *s->label ? " " : "", number);
        used += 4 + (int)strlen(s->label) + (*s->label ? 1 : 0) + (int)strlen(number);
    }
    text_add(line, "%*s", columns - used, "");
}

static void draw_label(const chart *c, const frame *f, text *line, int row, int rows)
{
    char number[32] = "";
    const double share = rows > 1 ? (double)row / (rows - 1) : 0;
    const double value = f->high - share * (f->high - f->low);
    if (row == 0 || row == rows - 1 || (rows > 4 && row == rows / 2 && rows % 2 == 1))
        number_text(number, c->metric, f->log_scale ? pow(10, value) : value);
    text_add(line, "%*.*s ", LABEL - 1, LABEL - 1, number);
}

static void draw_steps(const frame *f, text *line, int columns)
{
    char first[32], last[32];
    integer_text(first, f->first);
    integer_text(last, f->last);
    const int space = columns - LABEL - (int)strlen(first);
    text_add(line, "%*s%s", LABEL, "", first);
    if (f->last > f->first && space > (int)strlen(last))
        text_add(line, "%*s", space, last);
    else
        text_add(line, "%*s", space > 0 ? space : 0, "");
}

void chart_draw(const chart *c, text *lines, int columns, int height, bool log_scale)
{
    canvas area;
    frame f = {.dots = 2 * (columns - LABEL), .log_scale = log_scale};
    column *gathered = malloc((size_t)f.dots * sizeof *gathered);
    const int rows = height - 2;
    draw_title(c, &lines[0], columns);
    if (!gathered || !canvas_make(&area, columns - LABEL, rows)) {
        free(gathered);
        return;
    }
    find_steps(c, &f);
    find_values(c, &f, gathered);
    for (int i = 0; i < c->count; i++) {
        gather(&f, &c->series[i], gathered);
        draw_series(&f, &area, &c->series[i], gathered, digit_of(c, &lines[0], i));
    }
    for (int row = 0; row < rows; row++) {
        draw_label(c, &f, &lines[1 + row], row, rows);
        canvas_row(&area, row, &lines[1 + row]);
    }
    draw_steps(&f, &lines[height - 1], columns);
    canvas_free(&area);
    free(gathered);
}
