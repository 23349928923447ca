// SPDX-License-Identifier: Apache-2.0
// What a run is asked for.
#include "base/error.h"
#include "train/run/run.h"

static tern_status check_run(const char *op, const tern_run *run)
{
    return run ? TERN_OK : tern_null_error(op, "run");
}

tern_status tern_run_describe(const tern_run *run, tern_run_info *info)
{
    TERN_TRY(check_run("run_describe", run));
    if (!info)
        return tern_null_error("run_describe", "info");
    *info = run->info;
    return TERN_OK;
}

// ---- tags ---------------------------------------------------------------------------------------

static tern_status check_kind(const char *op, tern_run_kind kind)
{
    TERN_CHECK(kind >= TERN_RUN_SCALAR && kind <= TERN_RUN_PR_CURVE, TERN_ERR_ARG,
               "%s: %d is no kind of a run", op, (int)kind);
    return TERN_OK;
}

int64_t tern_run_tags(const tern_run *run, tern_run_kind kind)
{
    if (check_run("run_tags", run) || check_kind("run_tags", kind))
        return -1;
    return run->kinds[kind].count;
}

const char *tern_run_tag(const tern_run *run, tern_run_kind kind, int64_t index)
{
    if (check_run("run_tag", run) || check_kind("run_tag", kind))
        return NULL;
    TERN_CHECK_PTR(index >= 0 && index < run->kinds[kind].count, TERN_ERR_INDEX,
                   "run_tag: there is no tag %lld of this kind, the run has %lld", (long long)index,
                   (long long)run->kinds[kind].count);
    return run->kinds[kind].at[index].tag;
}

// ---- what a tag has -----------------------------------------------------------------------------

static tern_run_entry *entry_of(const char *op, const tern_run *run, tern_run_kind kind,
                                const char *tag)
{
    static const char *const nouns[] = {
        [TERN_RUN_SCALAR] = "curve",  [TERN_RUN_HISTOGRAM] = "histogram",
        [TERN_RUN_IMAGE] = "image",   [TERN_RUN_TEXT] = "text",
        [TERN_RUN_MATRIX] = "matrix", [TERN_RUN_PR_CURVE] = "precision-recall curve"};
    if (check_run(op, run) || (!tag && tern_null_error(op, "tag")))
        return NULL;
    tern_run_entry *entry = tern_run_entry_find(run, kind, tag);
    TERN_CHECK_PTR(entry && entry->count + entry->blocks_count > 0, TERN_ERR_INDEX,
                   "%s: the run %s has no %s %s", op, run->info.name, nouns[kind], tag);
    return entry;
}

static const tern_run_block *last_block(const char *op, const tern_run *run, tern_run_kind kind,
                                        const char *tag)
{
    const tern_run_entry *entry = entry_of(op, run, kind, tag);
    return entry ? entry->blocks[entry->blocks_count - 1] : NULL;
}

tern_status tern_run_curve(const tern_run *run, const char *tag, tern_run_points *points)
{
    const tern_run_entry *entry = entry_of("run_curve", run, TERN_RUN_SCALAR, tag);
    if (!entry)
        return tern_error_code();
    if (!points)
        return tern_null_error("run_curve", "points");
    // An update that had no memory to sort leaves what came out of order for the next one.
    *points = (tern_run_points){entry->unsorted ? entry->ordered : entry->count, entry->steps,
                                entry->times, entry->values};
    return TERN_OK;
}

int64_t tern_run_histograms(const tern_run *run, const char *tag)
{
    const tern_run_entry *entry = entry_of("run_histograms", run, TERN_RUN_HISTOGRAM, tag);
    return entry ? entry->blocks_count : -1;
}

tern_status tern_run_histogram(const tern_run *run, const char *tag, int64_t index,
                               tern_run_buckets *buckets)
{
    const tern_run_entry *entry = entry_of("run_histogram", run, TERN_RUN_HISTOGRAM, tag);
    if (!entry)
        return tern_error_code();
    if (!buckets)
        return tern_null_error("run_histogram", "buckets");
    TERN_CHECK(index >= 0 && index < entry->blocks_count, TERN_ERR_INDEX,
               "run_histogram: there is no histogram %lld of %s, %lld are kept", (long long)index,
               tag, (long long)entry->blocks_count);
    *buckets = entry->blocks[index]->is.buckets;
    return TERN_OK;
}

tern_status tern_run_image(const tern_run *run, const char *tag, tern_run_picture *picture)
{
    const tern_run_block *block = last_block("run_image", run, TERN_RUN_IMAGE, tag);
    if (!block)
        return tern_error_code();
    if (!picture)
        return tern_null_error("run_image", "picture");
    *picture = block->is.picture;
    return TERN_OK;
}

const char *tern_run_text(const tern_run *run, const char *tag)
{
    const tern_run_block *block = last_block("run_text", run, TERN_RUN_TEXT, tag);
    return block ? block->is.text : NULL;
}

tern_status tern_run_matrix(const tern_run *run, const char *tag, tern_run_cells *cells)
{
    const tern_run_block *block = last_block("run_matrix", run, TERN_RUN_MATRIX, tag);
    if (!block)
        return tern_error_code();
    if (!cells)
        return tern_null_error("run_matrix", "cells");
    *cells = block->is.cells;
    return TERN_OK;
}

tern_status tern_run_pr_curve(const tern_run *run, const char *tag, tern_run_pr *curve)
{
    const tern_run_block *block = last_block("run_pr_curve", run, TERN_RUN_PR_CURVE, tag);
    if (!block)
        return tern_error_code();
    if (!curve)
        return tern_null_error("run_pr_curve", "curve");
    *curve = block->is.pr;
    return TERN_OK;
}

// ---- facts --------------------------------------------------------------------------------------

static tern_run_fact fact_at(const char *op, const tern_run_fact_list *list, int64_t index)
{
    if (index >= 0 && index < list->count)
        return list->at[index];
    (void)tern_error_raise(TERN_ERR_INDEX, "%s: there is no number %lld, the run has %lld", op,
                           (long long)index, (long long)list->count);
    return (tern_run_fact){.name = NULL};
}

int64_t tern_run_settings(const tern_run *run)
{
    return check_run("run_settings", run) ? -1 : run->settings.count;
}

tern_run_fact tern_run_setting(const tern_run *run, int64_t index)
{
    if (check_run("run_setting", run))
        return (tern_run_fact){.name = NULL};
    return fact_at("run_setting", &run->settings, index);
}

int64_t tern_run_facts(const tern_run *run)
{
    return check_run("run_facts", run) ? -1 : run->facts.count;
}

tern_run_fact tern_run_fact_at(const tern_run *run, int64_t index)
{
    if (check_run("run_fact_at", run))
        return (tern_run_fact){.name = NULL};
    return fact_at("run_fact_at", &run->facts, index);
}
