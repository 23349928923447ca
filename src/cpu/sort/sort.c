// SPDX-License-Identifier: Apache-2.0
// The elements of lines in order, or the first of them: as keys, which are sorted or selected with
// their positions. Lines are done by threads side by side; a few long ones each by all threads.
#include "base/mem.h"
#include "base/thread_pool.h"
#include "cpu/real.h"
#include "cpu/reduce/scan.h"
#include "cpu/sort/line.h"
#include "cpu/sort/long.h"
#include "cpu/sort/long_select.h"
#include "cpu/work.h"

#define STRIP       16     // neighbouring lines at most whose elements are read together
#define STRIP_NUMEL 131072 // keys of them
#define UNIT_NUMEL  8192   // elements of the lines that are one item of work, at least one strip

typedef tern_status sort_fn(bool descending, const tern_strided *values,
                            const tern_strided *indices, const tern_strided *x, int dim);
REAL_DECLARE(sort_fn, sort);

// ---- strips of lines ----------------------------------------------------------------------------

static void run_strip(const sort_job *job, sort_scratch *s, int64_t strip)
{
    char *data[VIEWS];
    const int64_t first = strip % job->strips * job->width;
    const int64_t cols = min_int64(job->cols - first, job->width);
    scan_line(job->views, VIEWS, job->dim, strip / job->strips * job->cols + first, data);
    const bool load = !job->selects || job->width > 1;
    if (load)
        load_strip(job, s->loaded, data[X], cols);
    for (int64_t c = 0; c < cols; c++) {
        const sort_key *keys = load ? s->loaded + c * job->n : NULL;
        if (job->selects)
            select_line(job, s, keys, data[X], c);
        else
            sort_line(job, s, keys, c);
    }
    store_line(job, s->keys, s->positions, data, 0, job->k, cols);
}

static void run_item(void *context, int64_t item, void *memory)
{
    const sort_job *job = context;
    sort_scratch scratch;
    partition(job, memory, &scratch);
    const int64_t end = min_int64((item + 1) * job->units_per_item, job->units);
    for (int64_t strip = item * job->units_per_item; strip < end; strip++)
        run_strip(job, &scratch, strip);
}

// ---- all of them --------------------------------------------------------------------------------

// The lines along the innermost of the other dimensions.
static void plan_strips(sort_job *job)
{
    const tern_strided *x = job->views[X];
    const int last = x->rank - 1, inner = job->dim == last ? last - 1 : last;
    job->cols = inner < 0 ? 1 : x->size[inner];
    for (int v = 0; v < VIEWS; v++)
        job->next[v] = inner < 0 || !job->views[v] ? 0 : job->views[v]->stride[inner];
    // Lines whose neighbours share cache lines are read together, and short ones.
    const bool apart = job->next[X] >= x->stride[job->dim] && job->n > SHORT;
    job->width = apart ? 1 : min_int64(STRIP, max_int64(1, STRIP_NUMEL / job->n));
    job->width = min_int64(job->width, job->cols);
    job->strips = ceil_div(job->cols, job->width);
    job->units = scan_lines(x, job->dim) / job->cols * job->strips;
    job->units_per_item = max_int64(1, UNIT_NUMEL / (job->width * job->n));
}

static tern_status run_lines(sort_job *job)
{
    sort_scratch none;
    const int64_t items = ceil_div(job->units, job->units_per_item);
    work_scratch scratches = {.nbytes = partition(job, NULL, &none),
                              .count = work_scratch_count(items, tern_num_threads())};
    const size_t nbytes = (size_t)(scratches.nbytes * scratches.count);
    scratches.memory = tern_cache_alloc(nbytes);
    if (!scratches.memory)
        return TERN_ERR_NOMEM;
    work_run(&scratches, items, run_item, job);
    tern_cache_free(scratches.memory, nbytes);
    return TERN_OK;
}

tern_status REAL_NAME(sort)(bool descending, const tern_strided *values,
                            const tern_strided *indices, const tern_strided *x, int dim)
{
    sort_job job = {.views = {x, indices, values},
                    .dim = dim,
                    .n = x->size[dim],
                    .k = indices->size[dim],
                    .flip = descending ? ~(sort_key)0 : 0};
    job.selects = job.k <= (job.n > SHORT ? job.n / 2 : min_int64(job.n / 4, SELECT_FEW));
    plan_strips(&job);
    if (!is_long(&job))
        return run_lines(&job);
    return selects_in_chunks(&job) ? select_long_lines(&job) : sort_long_lines(&job);
}

#if REAL_IS_FLOAT
tern_status TERN_ISA_NAME(sort)(const tern_exec *exec, bool descending, const tern_strided *values,
                                const tern_strided *indices, const tern_strided *x, int dim)
{
    (void)exec;
    if (tern_strided_numel(indices) == 0)
        return TERN_OK;
    return tern_dtype_size(x->dtype) == 8
               ? TERN_ISA_NAME(sort_double)(descending, values, indices, x, dim)
               : TERN_ISA_NAME(sort_float)(descending, values, indices, x, dim);
}
#endif
