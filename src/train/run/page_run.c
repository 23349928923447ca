// SPDX-License-Identifier: Apache-2.0
#include "train/run/page_run.h"

#include <math.h>

#include "base/error.h"
#include "base/mem.h"
#include "train/run/page_bins.h"
#include "train/run/thin.h"

enum {
    MAX_POINTS = 2000, // of a curve that is not thinned
    COLUMNS = 640
};

// ---- curves -------------------------------------------------------------------------------------

typedef struct summary {
    int64_t min, max, last, gaps; // indices of finite values, -1: none; how many are not
} summary;

static summary summarize(const tern_run_points *p)
{
    summary s = {-1, -1, -1, 0};
    for (int64_t i = 0; i < p->count; i++) {
        const double value = p->values[i];
        if (!isfinite(value)) {
            s.gaps++;
            continue;
        }
        s.min = s.min < 0 || value < p->values[s.min] ? i : s.min;
        s.max = s.max < 0 || value > p->values[s.max] ? i : s.max;
        s.last = i;
    }
    return s;
}

static void write_point(tern_page *page, const char *key, const tern_run_points *p, int64_t at)
{
    tern_page_format(page, ",\"%s\":", key);
    if (at < 0) {
        tern_page_put(page, "null");
        return;
    }
    tern_page_format(page, "[%lld,", (long long)p->steps[at]);
    tern_page_number(page, p->values[at]);
    tern_page_put(page, "]");
}

// Members of an object: three arrays.
static void write_points(tern_page *page, const tern_run_points *p, const int64_t *at,
                         int64_t count, double started)
{
    tern_page_put(page, "\"steps\":[");
    for (int64_t i = 0; i < count; i++)
        tern_page_format(page, "%s%lld", i > 0 ? "," : "", (long long)p->steps[at ? at[i] : i]);
    tern_page_put(page, "],\"times\":[");
    for (int64_t i = 0; i < count; i++)
        tern_page_format(page, "%s%.3f", i > 0 ? "," : "", p->times[at ? at[i] : i] - started);
    tern_page_put(page, "],\"values\":[");
    for (int64_t i = 0; i < count; i++) {
        tern_page_put(page, i > 0 ? "," : "");
        tern_page_rounded(page, p->values[at ? at[i] : i]);
    }
    tern_page_put(page, "]");
}

// The means of the columns, which a smoothed curve is made of: extremes would pull it.
static void write_means(tern_page *page, const tern_run_points *p, double started)
{
    int64_t steps[COLUMNS], count = 0;
    double times[COLUMNS], values[COLUMNS];
    const int64_t first = p->steps[0], last = p->steps[p->count - 1];
    for (int64_t i = 0; i < p->count;) {
        const int64_t at = tern_run_column(first, last, p->steps[i], COLUMNS), begin = i;
        int64_t finite = 0;
        double sum = 0;
        for (; i < p->count && tern_run_column(first, last, p->steps[i], COLUMNS) == at; i++)
            if (isfinite(p->values[i]))
                sum += p->values[i], finite++;
        const int64_t middle = begin + (i - 1 - begin) / 2;
        steps[count] = p->steps[middle];
        times[count] = p->times[middle];
        values[count++] = finite > 0 ? sum / (double)finite : NAN;
    }
    tern_page_put(page, ",\"means\":{");
    write_points(page, &(tern_run_points){count, steps, times, values}, NULL, count, started);
    tern_page_put(page, "}");
}

static void write_curve(tern_page *page, const tern_run *run, const char *tag, double started)
{
    int64_t kept[TERN_RUN_THIN_POINTS(COLUMNS)];
    tern_run_points p;
    if (tern_run_curve(run, tag, &p))
        return;
    const summary s = summarize(&p);
    tern_page_put(page, "{\"tag\":");
    tern_page_string(page, tag);
    tern_page_format(page, ",\"count\":%lld,\"gaps\":%lld", (long long)p.count, (long long)s.gaps);
    write_point(page, "last", &p, s.last);
    write_point(page, "min", &p, s.min);
    write_point(page, "max", &p, s.max);
    tern_page_put(page, ",");
    if (p.count <= MAX_POINTS) {
        write_points(page, &p, NULL, p.count, started);
    } else {
        const int64_t count = tern_run_thin(p.count, p.steps, p.values, COLUMNS, kept);
        write_points(page, &p, kept, count, started);
        write_means(page, &p, started);
    }
    tern_page_put(page, "}");
}

// ---- the rest -----------------------------------------------------------------------------------

static void write_facts(tern_page *page, const char *key, const tern_run_fact_list *list)
{
    tern_page_format(page, ",\"%s\":[", key);
    for (int64_t i = 0; i < list->count; i++) {
        tern_page_put(page, i > 0 ? ",[" : "[");
        tern_page_string(page, list->at[i].name);
        tern_page_put(page, ",");
        tern_page_string(page, list->at[i].text);
        tern_page_put(page, "]");
    }
    tern_page_put(page, "]");
}

static void write_numbers(tern_page *page, const char *key, const double *values, int64_t count)
{
    tern_page_format(page, ",\"%s\":[", key);
    for (int64_t i = 0; i < count; i++) {
        tern_page_put(page, i > 0 ? "," : "");
        tern_page_number(page, values[i]);
    }
    tern_page_put(page, "]");
}

static void write_picture(tern_page *page, const tern_run_block *block)
{
    const tern_run_picture *p = &block->is.picture;
    tern_page_format(page, ",\"height\":%lld,\"width\":%lld,\"png\":\"", (long long)p->height,
                     (long long)p->width);
    tern_page_put(page, p->png); // base64 alone
    tern_page_put(page, "\",\"text\":");
    tern_page_string(page, p->text);
}

static void write_text(tern_page *page, const tern_run_block *block)
{
    tern_page_put(page, ",\"text\":");
    tern_page_string(page, block->is.text);
}

static void write_cells(tern_page *page, const tern_run_block *block)
{
    const tern_run_cells *c = &block->is.cells;
    tern_page_format(page, ",\"rows\":%lld,\"columns\":%lld,\"names\":", (long long)c->rows,
                     (long long)c->columns);
    tern_page_put(page, c->names ? "[" : "null");
    for (int64_t i = 0; c->names && i < c->rows; i++) {
        tern_page_put(page, i > 0 ? "," : "");
        tern_page_string(page, c->names[i]);
    }
    tern_page_put(page, c->names ? "]" : "");
    write_numbers(page, "values", c->values, c->rows * c->columns);
}

static void write_pr(tern_page *page, const tern_run_block *block)
{
    write_numbers(page, "precision", block->is.pr.precision, block->is.pr.count);
    write_numbers(page, "recall", block->is.pr.recall, block->is.pr.count);
}

// The last one of each tag of a kind.
static void write_last(tern_page *page, const char *key, const tern_run_list *list,
                       void (*write)(tern_page *page, const tern_run_block *block))
{
    bool first = true;
    tern_page_format(page, ",\"%s\":[", key);
    for (int64_t i = 0; i < list->count; i++) {
        const tern_run_entry *e = &list->at[i];
        if (e->blocks_count == 0)
            continue;
        const tern_run_block *block = e->blocks[e->blocks_count - 1];
        tern_page_put(page, first ? "{\"tag\":" : ",{\"tag\":");
        tern_page_string(page, e->tag);
        tern_page_format(page, ",\"step\":%lld", (long long)block->step);
        write(page, block);
        tern_page_put(page, "}");
        first = false;
    }
    tern_page_put(page, "]");
}

static void write_info(tern_page *page, const tern_run_info *info)
{
    tern_page_put(page, "{\"name\":");
    tern_page_string(page, info->name);
    tern_page_put(page, ",\"folder\":");
    tern_page_string(page, info->folder);
    tern_page_format(page,
                     ",\"status\":\"%s\",\"started\":%.3f,\"written\":%.3f,\"seconds\":%.3f,"
                     "\"processes\":%lld,\"lastStep\":%lld,\"lines\":%lld,\"damaged\":%lld,"
                     "\"dropped\":%lld",
                     tern_run_status_name(info->status), info->started, info->written,
                     info->seconds, (long long)info->processes, (long long)info->last_step,
                     (long long)info->lines, (long long)info->damaged, (long long)info->dropped);
}

static void write_curves(tern_page *page, const tern_run *run)
{
    const tern_run_list *list = &run->kinds[TERN_RUN_SCALAR];
    bool first = true;
    tern_page_put(page, ",\"curves\":[");
    for (int64_t i = 0; i < list->count; i++) {
        if (list->at[i].count == 0)
            continue;
        tern_page_put(page, first ? "\n" : ",\n");
        write_curve(page, run, list->at[i].tag, run->info.started);
        first = false;
    }
    tern_page_put(page, "],\"histograms\":[");
    list = &run->kinds[TERN_RUN_HISTOGRAM];
    first = true;
    for (int64_t i = 0; i < list->count; i++) {
        if (list->at[i].blocks_count == 0)
            continue;
        tern_page_put(page, first ? "\n" : ",\n");
        tern_page_histograms(page, &list->at[i]);
        first = false;
    }
    tern_page_put(page, "]");
}

void tern_page_run(tern_page *page, const tern_run *run)
{
    write_info(page, &run->info);
    write_facts(page, "settings", &run->settings);
    write_facts(page, "facts", &run->facts);
    write_curves(page, run);
    write_last(page, "images", &run->kinds[TERN_RUN_IMAGE], write_picture);
    write_last(page, "texts", &run->kinds[TERN_RUN_TEXT], write_text);
    write_last(page, "matrices", &run->kinds[TERN_RUN_MATRIX], write_cells);
    write_last(page, "prCurves", &run->kinds[TERN_RUN_PR_CURVE], write_pr);
    tern_page_put(page, "}");
}
