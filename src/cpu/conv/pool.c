// SPDX-License-Identifier: Apache-2.0
// Max pooling, and its gradient by the taps of the largest elements. Along rows first, then of
// rows: each keeps the tap of the largest, and the first of equal ones stays.
#include "cpu/conv/pool_pairs.h"
#include "cpu/conv/pool_plan.h"
#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

#define GROUP_ELEMENTS 32768 // in and out, of one group of planes
#define MAX_GROUPS     64

// ---- along a row -------------------------------------------------------------------------------

POOL_LOOP void scan(real *restrict best, int32_t *restrict tap, const real *restrict x, int64_t n,
                    int64_t stride, int64_t step, int64_t kernel)
{
    for (int64_t j = 0; j < n; j++) {
        real top = x[j * stride];
        int32_t at = 0;
        for (int64_t t = 1; t < kernel; t++) {
            const real v = x[j * stride + t * step];
            at = v > top ? (int32_t)t : at;
            top = v > top ? v : top;
            at = v != v ? (int32_t)t : at;
            top = v != v ? v : top;
        }
        best[j] = top;
        tap[j] = at;
    }
}

static void scan_whole(const pool_job *job, real *best, int32_t *tap, const real *x, int64_t n)
{
    const tern_pool_dim *w = &job->w;
    if (w->kernel == 3 && w->stride == 2 && w->dilation == 1)
        scan(best, tap, x, n, 2, 1, 3);
    else if (w->kernel == 3 && w->stride == 1 && w->dilation == 1)
        scan(best, tap, x, n, 1, 1, 3);
    else if (w->kernel == 2 && w->stride == 2 && w->dilation == 1)
        scan(best, tap, x, n, 2, 1, 2);
    else if (w->kernel == 2 && w->stride == 1 && w->dilation == 1)
        scan(best, tap, x, n, 1, 1, 2);
    else
        scan(best, tap, x, n, w->stride, w->dilation, w->kernel);
}

static void scan_cut(const pool_job *job, real *best, int32_t *tap, const real *x, int64_t from,
                     int64_t to)
{
    const int64_t step = job->w.dilation;
    for (int64_t o = from; o < to; o++) {
        const pool_window *w = &job->window[o];
        real top = x[w->base + w->first * step];
        int64_t at = w->first;
        for (int64_t t = w->first + 1; t < w->end; t++) {
            const real v = x[w->base + t * step];
            if (POOL_BETTER(v, top)) {
                top = v;
                at = t;
            }
        }
        best[o] = top;
        tap[o] = (int32_t)at;
    }
}

// best and tap (w.out) of a row of x.
static void along(const pool_job *job, real *best, int32_t *tap, const real *x)
{
    const int64_t first = job->first, last = job->last;
    scan_cut(job, best, tap, x, 0, first);
    if (first < last)
        scan_whole(job, best + first, tap + first, x + first * job->w.stride - job->w.padding,
                   last - first);
    scan_cut(job, best, tap, x, last, job->w.out);
}

// ---- of rows -----------------------------------------------------------------------------------

// What is at v replaces the best where it is better; its taps count from `from`.
static void merge(real *restrict best, int32_t *restrict tap, const real *restrict v,
                  const int32_t *restrict at, int32_t from, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        const real old = best[j], new = v[j];
        const int32_t was = tap[j], is = at[j] + from;
        real top = new > old ? new : old;
        int32_t where = new > old ? is : was;
        top = new != new ? new : top;
        where = new != new ? is : where;
        best[j] = top;
        tap[j] = where;
    }
}

static void store_taps(const pool_job *job, int64_t at, const int32_t *tap, int64_t base)
{
    const int64_t n = job->w.out;
    for (int64_t j = 0; job->small && j < n; j++)
        job->small[at + j] = (uint8_t)tap[j];
    for (int64_t j = 0; job->large && j < n; j++)
        job->large[at + j] = tap[j];
    for (int64_t j = 0; job->index && j < n; j++)
        job->index[at + j] = base + job->window[j].base + job->offset[tap[j]];
}

// Rows of x that were pooled along their elements: row r of depth t at (t * h.in + r).
typedef struct pool_rows {
    real *best;    // (depths * h.in, w.out)
    int32_t *tap;  // likewise
    int32_t *line; // (w.out): taps of the row that is made
} pool_rows;

// Output row oh of plane od.
static void output_row(const pool_job *job, const pool_rows *rows, const pool_window *depth,
                       int64_t oh, int64_t at)
{
    const tern_pool_dim *h = &job->h;
    const int64_t n = job->w.out;
    const pool_window high = pool_find_window(h, oh);
    real *y = (real *)job->y + at;
    bool begun = false;
    for (int64_t t = depth->first; t < depth->end; t++) {
        for (int64_t r = high.first; r < high.end; r++) {
            const int64_t from = (t - depth->first) * h->in + high.base + r * h->dilation;
            const int32_t tap = (int32_t)((t * h->kernel + r) * job->w.kernel);
            if (begun) {
                merge(y, rows->line, rows->best + from * n, rows->tap + from * n, tap, n);
                continue;
            }
            begun = true;
            memcpy(y, rows->best + from * n, (size_t)n * sizeof *y);
            for (int64_t j = 0; j < n; j++)
                rows->line[j] = rows->tap[from * n + j] + tap;
        }
    }
    store_taps(job, at, rows->line, (depth->base * h->in + high.base) * job->w.in);
}

// Plane od of sample unit / d.out.
static void pool_plane(const pool_job *job, int64_t unit, char *scratch)
{
    const tern_pool_dim *d = &job->d, *h = &job->h, *w = &job->w;
    const int64_t lines = d->kernel * h->in * w->out;
    pool_rows rows = {.best = (real *)(void *)scratch};
    rows.tap = (int32_t *)(void *)(rows.best + lines);
    rows.line = rows.tap + lines;
    const pool_window depth = pool_find_window(d, unit % d->out);
    const real *x = (const real *)job->x + unit / d->out * d->in * h->in * w->in;
    for (int64_t t = depth.first; t < depth.end; t++) {
        const real *plane = x + (depth.base + t * d->dilation) * h->in * w->in;
        const int64_t to = (t - depth.first) * h->in;
        for (int64_t r = 0; r < h->in; r++)
            along(job, rows.best + (to + r) * w->out, rows.tap + (to + r) * w->out,
                  plane + r * w->in);
    }
    for (int64_t oh = 0; oh < h->out; oh++)
        output_row(job, &rows, &depth, oh, (unit * h->out + oh) * w->out);
}

static void planes(void *context, int64_t group)
{
    const pool_job *job = context;
    const int64_t end = job->units * (group + 1) / job->groups;
    for (int64_t unit = job->units * group / job->groups; unit < end; unit++)
        pool_plane(job, unit, job->scratch + group * job->scratch_nbytes);
}

// ---- backward ----------------------------------------------------------------------------------

static void scatter_row(const pool_job *job, real *dx, const real *dy, int64_t at)
{
    const pool_window *window = job->window;
    if (job->small) {
        for (int64_t j = 0; j < job->w.out; j++)
            dx[window[j].base + job->offset[job->small[at + j]]] += dy[at + j];
    } else {
        for (int64_t j = 0; j < job->w.out; j++)
            dx[window[j].base + job->offset[job->large[at + j]]] += dy[at + j];
    }
}

// One sample of dx, which is job->y.
static void scatter_sample(const pool_job *job, int64_t unit)
{
    const tern_pool_dim *d = &job->d, *h = &job->h, *w = &job->w;
    const int64_t in = d->in * h->in * w->in;
    real *dx = (real *)job->y + unit * in;
    memset(dx, 0, (size_t)in * sizeof *dx);
    for (int64_t od = 0; od < d->out; od++) {
        const int64_t plane = pool_find_window(d, od).base * h->in;
        for (int64_t oh = 0; oh < h->out; oh++)
            scatter_row(job, dx + (plane + pool_find_window(h, oh).base) * w->in, job->x,
                        ((unit * d->out + od) * h->out + oh) * w->out);
    }
}

static void samples(void *context, int64_t group)
{
    const pool_job *job = context;
    const int64_t end = job->units * (group + 1) / job->groups;
    for (int64_t unit = job->units * group / job->groups; unit < end; unit++)
        scatter_sample(job, unit);
}

static int64_t volume_of(const tern_max_pool_args *args)
{
    return args->dim[0].kernel * args->dim[1].kernel * args->dim[2].kernel;
}

static size_t tables_bytes(const tern_max_pool_args *args)
{
    return (size_t)args->dim[2].out * sizeof(pool_window) +
           (size_t)volume_of(args) * sizeof(int64_t);
}

static void offsets_write(const pool_job *job)
{
    int64_t *to = job->offset;
    for (int64_t t = 0; t < job->d.kernel; t++)
        for (int64_t r = 0; r < job->h.kernel; r++)
            for (int64_t c = 0; c < job->w.kernel; c++)
                *to++ = (t * job->d.dilation * job->h.in + r * job->h.dilation) * job->w.in +
                        c * job->w.dilation;
}

static void windows_write(pool_job *job)
{
    const tern_pool_dim *w = &job->w;
    for (int64_t o = 0; o < w->out; o++)
        job->window[o] = pool_find_window(w, o);
    while (job->first < w->out && (w->adaptive || job->window[job->first].first > 0))
        job->first++;
    job->last = job->first;
    while (job->last < w->out && job->window[job->last].end == w->kernel)
        job->last++;
}

// `in` and `out` elements for each of the units.
static void groups_of(pool_job *job, int64_t units, int64_t elements)
{
    job->units = units;
    job->groups = units / (GROUP_ELEMENTS / (elements + 1) + 1) + 1;
    job->groups = job->groups > MAX_GROUPS ? MAX_GROUPS : job->groups;
    job->groups = job->groups > units ? units : job->groups;
}

static pool_job job_of(const tern_max_pool_args *args, const tern_strided *y, const tern_strided *x)
{
    pool_job job = {.d = args->dim[0], .h = args->dim[1], .w = args->dim[2]};
    job.y = y->data;
    job.x = x->data;
    if (args->tap && args->tap->dtype == TERN_UINT8)
        job.small = args->tap->data;
    else if (args->tap)
        job.large = args->tap->data;
    if (args->index)
        job.index = args->index->data;
    return job;
}

static bool is_pair(const tern_pool_dim *d)
{
    return !d->adaptive && d->kernel == 2 && d->stride == 2 && d->padding == 0 &&
           d->dilation == 1 && 2 * d->out <= d->in;
}

// Windows of 2 x 2 in planes, whose indices nobody asks for.
static bool are_pairs(const pool_job *job)
{
    return job->d.in == 1 && job->d.kernel == 1 && job->d.out == 1 && is_pair(&job->h) &&
           is_pair(&job->w) && !job->index && !job->large;
}

static tern_status run(pool_job *job, const tern_max_pool_args *args, tern_pool_fn *fn)
{
    const size_t tables = tables_bytes(args),
                 scratch_nbytes = (size_t)(job->groups * job->scratch_nbytes);
    job->window = tern_cache_alloc(tables);
    job->scratch = job->window ? tern_cache_alloc(scratch_nbytes) : NULL;
    if (job->scratch) {
        job->offset = (int64_t *)(void *)(job->window + job->w.out);
        offsets_write(job);
        windows_write(job);
        tern_pool_run(job->groups, fn, job);
    }
    const tern_status status = job->scratch ? TERN_OK : TERN_ERR_NOMEM;
    tern_cache_free(job->scratch, scratch_nbytes);
    tern_cache_free(job->window, tables);
    return status;
}

typedef tern_status max_pool_fn(const tern_max_pool_args *args, const tern_strided *y,
                                const tern_strided *x);
REAL_DECLARE(max_pool_fn, max_pool);
REAL_DECLARE(max_pool_fn, max_pool_grad);

tern_status REAL_NAME(max_pool)(const tern_max_pool_args *args, const tern_strided *y,
                                const tern_strided *x)
{
    pool_job job = job_of(args, y, x);
    const int64_t lines = job.d.kernel * job.h.in * job.w.out;
    if (tern_strided_numel(y) == 0)
        return TERN_OK;
    job.scratch_nbytes = lines * (int64_t)(sizeof(real) + 4) + job.w.out * 4;
    job.scratch_nbytes = (job.scratch_nbytes + 63) / 64 * 64;
    groups_of(&job, y->size[0] * job.d.out, job.h.in * job.w.in + job.h.out * job.w.out);
    if (are_pairs(&job)) {
        tern_pool_run(job.groups, pairs, &job);
        return TERN_OK;
    }
    return run(&job, args, planes);
}

tern_status REAL_NAME(max_pool_grad)(const tern_max_pool_args *args, const tern_strided *dx,
                                     const tern_strided *dy)
{
    pool_job job = job_of(args, dx, dy);
    if (tern_strided_numel(dx) == 0)
        return TERN_OK;
    groups_of(&job, dx->size[0],
              job.d.in * job.h.in * job.w.in + job.d.out * job.h.out * job.w.out);
    if (are_pairs(&job) && job.small) {
        tern_pool_run(job.groups, spreads, &job);
        return TERN_OK;
    }
    return run(&job, args, samples);
}

#if REAL_IS_FLOAT
static tern_status run_upcast(max_pool_fn *run_float, const tern_max_pool_args *args,
                              const tern_strided *y, const tern_strided *x)
{
    const tern_strided *views[] = {y, x};
    tern_strided copies[2];
    tern_status status = upcast_begin(copies, views, 2);
    if (status == TERN_OK)
        status = run_float(args, views[0], views[1]);
    return upcast_end(copies, 2, y, status);
}

tern_status TERN_ISA_NAME(max_pool)(const tern_exec *exec, const tern_max_pool_args *args,
                                    const tern_strided *y, const tern_strided *x)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating("max_pool", x->dtype));
    if (upcast_needed(x->dtype))
        return run_upcast(TERN_ISA_NAME(max_pool_float), args, y, x);
    return REAL_SELECT(x->dtype, max_pool)(args, y, x);
}

tern_status TERN_ISA_NAME(max_pool_grad)(const tern_exec *exec, const tern_max_pool_args *args,
                                         const tern_strided *dx, const tern_strided *dy)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating("max_pool_grad", dx->dtype));
    if (upcast_needed(dx->dtype))
        return run_upcast(TERN_ISA_NAME(max_pool_grad_float), args, dx, dy);
    return REAL_SELECT(dx->dtype, max_pool_grad)(args, dx, dy);
}
#endif
