// SPDX-License-Identifier: Apache-2.0
// Resampling: averages over windows, interpolation, padding that repeats; and its gradient. One
// dimension after the other, by its map; the gradient has the same loops.
#include "base/mem.h"
#include "base/thread_pool.h"
#include "cpu/conv/resample_map.h"
#include "cpu/conv/resample_sum.h"
#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

#define GROUP_ELEMENTS 32768 // in and out, of one group of planes
#define MAX_GROUPS     64
#define FEW_GROUPS     8
#define ROOMY          65536 // elements of scratch, from which on there are few groups

// Neighbouring outputs with as many taps.
typedef enum resample_pattern {
    GATHER,  // index and weight (taps, count)
    STRIDED, // weight[0] * the sum of taps inputs from base + step * j on
    REPEATED // weight[0] * x[j / step]
} resample_pattern;
typedef struct resample_run {
    resample_pattern pattern;
    int64_t first, count, taps, base, step;
    const int32_t *index;
    const real *weight;
} resample_run;

typedef struct resample_plan {
    resample_map d, h, w;
    resample_run *run; // of w
    int64_t runs, units, groups, scratch_size;
    bool rows_first;
    real *y, *scratch;
    const real *x;
} resample_plan;

// ---- runs --------------------------------------------------------------------------------------

static bool uniform(const real *weight, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (weight[i] != weight[0])
            return false;
    return true;
}

static bool is_strided(resample_run *run)
{
    run->base = run->index[0];
    run->step = run->count > 1 ? run->index[1] - run->index[0] : 1;
    for (int64_t t = 0; t < run->taps; t++)
        for (int64_t j = 0; j < run->count; j++)
            if (run->index[t * run->count + j] != run->base + run->step * j + t)
                return false;
    return run->step > 0;
}

static bool is_repeated(resample_run *run)
{
    run->step = 1;
    while (run->step < run->count && run->index[run->step] == 0)
        run->step++;
    for (int64_t j = 0; j < run->count; j++)
        if (run->index[j] != j / run->step)
            return false;
    return run->taps == 1;
}

// Outputs first ... first + count - 1 of the map, their taps one after the other.
static void run_make(resample_run *run, const resample_map *map, int32_t *index, real *weight)
{
    for (int64_t j = 0; j < run->count; j++) {
        for (int64_t t = 0; t < run->taps; t++) {
            index[t * run->count + j] = map->index[map->start[run->first + j] + t];
            weight[t * run->count + j] = map->weight[map->start[run->first + j] + t];
        }
    }
    run->index = index;
    run->weight = weight;
    run->pattern = GATHER;
    if (run->taps > 0 && uniform(weight, run->taps * run->count))
        run->pattern = is_strided(run) ? STRIDED : is_repeated(run) ? REPEATED : GATHER;
}

static void runs_make(resample_plan *plan, char *memory)
{
    const resample_map *map = &plan->w;
    if (map->windows)
        return;
    const int64_t taps = map->start[map->out];
    plan->run = partition(&memory, map->out * (int64_t)sizeof *plan->run);
    real *weight = partition(&memory, taps * (int64_t)sizeof *weight);
    int32_t *index = partition(&memory, taps * (int64_t)sizeof *index);
    for (int64_t o = 0; o < map->out;) {
        resample_run *run = &plan->run[plan->runs++];
        *run = (resample_run){.first = o, .taps = map->start[o + 1] - map->start[o]};
        while (o < map->out && map->start[o + 1] - map->start[o] == run->taps)
            o++;
        run->count = o - run->first;
        run_make(run, map, index + map->start[run->first], weight + map->start[run->first]);
    }
}

// ---- along a row -------------------------------------------------------------------------------

static void gather(const resample_run *run, real *restrict y, const real *restrict x)
{
    const int64_t n = run->count;
    const int32_t *index = run->index;
    const real *weight = run->weight;
    if (run->taps == 0) {
        memset(y, 0, (size_t)n * sizeof *y);
    } else if (run->taps == 1) {
        for (int64_t j = 0; j < n; j++)
            y[j] = weight[j] * x[index[j]];
    } else {
        for (int64_t j = 0; j < n; j++)
            y[j] = weight[j] * x[index[j]] + weight[n + j] * x[index[n + j]];
        for (int64_t t = 2; t < run->taps; t++)
            for (int64_t j = 0; j < n; j++)
                y[j] += weight[t * n + j] * x[index[t * n + j]];
    }
}

RESAMPLE_FN void strided_by(const resample_run *run, real *restrict y, const real *restrict x,
                            int64_t n, int64_t step)
{
    const real weight = run->weight[0];
    const int64_t taps = run->taps;
    if (taps == 1) {
        for (int64_t j = 0; j < n; j++)
            y[j] = weight * x[step * j];
    } else if (taps == 2) {
        for (int64_t j = 0; j < n; j++)
            y[j] = weight * (x[step * j] + x[step * j + 1]);
    } else {
        for (int64_t j = 0; j < n; j++)
            y[j] = x[step * j] + x[step * j + 1];
        for (int64_t t = 2; t < taps - 1; t++)
            for (int64_t j = 0; j < n; j++)
                y[j] += x[step * j + t];
        for (int64_t j = 0; j < n; j++)
            y[j] = weight * (y[j] + x[step * j + taps - 1]);
    }
}

// n = count, or that of several rows which lie behind one another.
static void strided(const resample_run *run, real *y, const real *x, int64_t n)
{
    if (run->step == 1)
        strided_by(run, y, x + run->base, n, 1);
    else if (run->step == 2)
        strided_by(run, y, x + run->base, n, 2);
    else
        strided_by(run, y, x + run->base, n, run->step);
}

static void repeated(const resample_run *run, real *restrict y, const real *restrict x, int64_t n)
{
    const real weight = run->weight[0];
    const int64_t step = run->step, whole = n / step;
    if (step == 2) {
        for (int64_t j = 0; j < whole; j++)
            y[2 * j] = y[2 * j + 1] = weight * x[j];
    } else {
        for (int64_t j = 0; j < whole; j++)
            for (int64_t k = 0; k < step; k++)
                y[j * step + k] = weight * x[j];
    }
    for (int64_t j = whole * step; j < n; j++)
        y[j] = weight * x[whole];
}

// Rows that follow one another like the outputs of one.
static bool seamless(const resample_plan *plan)
{
    const resample_run *run = plan->run;
    const resample_map *w = &plan->w;
    if (plan->runs != 1 || run->pattern == GATHER)
        return false;
    if (run->pattern == REPEATED)
        return w->out == w->in * run->step;
    return run->base == 0 && w->in == w->out * run->step && run->taps <= run->step;
}

static void along(const resample_run *run, real *y, const real *x, int64_t n)
{
    if (run->pattern == GATHER)
        gather(run, y, x);
    else if (run->pattern == STRIDED)
        strided(run, y, x, n);
    else
        repeated(run, y, x, n);
}

// y (out) from x (in).
static void along_windows(const resample_map *map, real *y, const real *x)
{
    for (int64_t o = 0; o < map->out; o++) {
        const int64_t first = map->start[o], n = map->end[o] - first;
        y[o] = map->by_input ? dot(map->weight + first, x + first, n)
                             : map->weight[o] * sum(x + first, n);
    }
}

// y (rows, out) from x (rows, in).
static void along_rows(const resample_plan *plan, real *y, const real *x, int64_t rows)
{
    if (plan->w.windows) {
        for (int64_t r = 0; r < rows; r++)
            along_windows(&plan->w, y + r * plan->w.out, x + r * plan->w.in);
        return;
    }
    if (seamless(plan)) {
        along(plan->run, y, x, rows * plan->w.out);
        return;
    }
    for (int64_t i = 0; i < plan->runs; i++) {
        const resample_run *run = &plan->run[i];
        for (int64_t r = 0; r < rows; r++)
            along(run, y + r * plan->w.out + run->first, x + r * plan->w.in, run->count);
    }
}

// ---- of rows -----------------------------------------------------------------------------------

// y (n) = the weighted sum of output o's rows of x (in, n).
static void mix(const resample_map *map, int64_t o, real *restrict y, const real *x, int64_t n)
{
    const int64_t taps = map->start[o + 1] - map->start[o];
    const int32_t *index = map->index + map->start[o];
    const real *weight = map->weight + map->start[o];
    if (taps == 0) {
        memset(y, 0, (size_t)n * sizeof *y);
        return;
    }
    const real *restrict a = x + index[0] * n, *restrict b = x + index[taps > 1] * n;
    if (taps == 1 && weight[0] == 1) {
        memcpy(y, a, (size_t)n * sizeof *y);
    } else if (taps == 1) {
        for (int64_t i = 0; i < n; i++)
            y[i] = weight[0] * a[i];
    } else {
        for (int64_t i = 0; i < n; i++)
            y[i] = weight[0] * a[i] + weight[1] * b[i];
    }
    for (int64_t t = 2; t < taps; t++) {
        const real *restrict c = x + index[t] * n;
        for (int64_t i = 0; i < n; i++)
            y[i] += weight[t] * c[i];
    }
}

// y (n) = the weighted sum of output o's rows of x (in, n).
static void mix_window(const resample_map *map, int64_t o, real *restrict y, const real *x,
                       int64_t n)
{
    memset(y, 0, (size_t)n * sizeof *y);
    for (int64_t t = map->start[o]; t < map->end[o]; t++) {
        const real weight = map->weight[map->by_input ? t : o], *restrict row = x + t * n;
        for (int64_t i = 0; i < n; i++)
            y[i] += weight * row[i];
    }
}

static void mix_row(const resample_map *map, int64_t o, real *y, const real *x, int64_t n)
{
    (map->windows ? mix_window : mix)(map, o, y, x, n);
}

static void mix_all(const resample_map *map, real *y, const real *x, int64_t n)
{
    for (int64_t o = 0; o < map->out; o++)
        mix_row(map, o, y + o * n, x, n);
}

// ---- all ---------------------------------------------------------------------------------------

// One plane (h, w) of the result.
static void plane(const resample_plan *plan, int64_t unit, real *scratch)
{
    const resample_map *d = &plan->d, *h = &plan->h, *w = &plan->w;
    const int64_t n = unit / d->out, in = h->in * w->in;
    const real *x = plan->x + (n * d->in + (d->copies ? unit % d->out : 0)) * in;
    real *y = plan->y + unit * h->out * w->out, *half = scratch + (d->copies ? 0 : in);
    if (!d->copies) {
        mix_row(d, unit % d->out, scratch, x, in);
        x = scratch;
    }
    if (h->copies && w->copies) {
        memcpy(y, x, (size_t)in * sizeof *y);
    } else if (h->copies) {
        along_rows(plan, y, x, h->in);
    } else if (w->copies) {
        mix_all(h, y, x, w->in);
    } else if (plan->rows_first) {
        along_rows(plan, half, x, h->in);
        mix_all(h, y, half, w->out);
    } else {
        mix_all(h, half, x, w->in);
        along_rows(plan, y, half, h->out);
    }
}

static void group(void *context, int64_t group)
{
    const resample_plan *plan = context;
    const int64_t end = plan->units * (group + 1) / plan->groups;
    for (int64_t unit = plan->units * group / plan->groups; unit < end; unit++)
        plane(plan, unit, plan->scratch + group * plan->scratch_size);
}

static void plan_groups(resample_plan *plan, int64_t rows)
{
    const resample_map *h = &plan->h, *w = &plan->w;
    const int64_t in = h->in * w->in, out = h->out * w->out;
    plan->rows_first = h->in <= h->out;
    plan->units = rows * plan->d.out;
    plan->scratch_size =
        (plan->d.copies ? 0 : in) + (plan->rows_first ? h->in * w->out : h->out * w->in);
    plan->scratch_size = (plan->scratch_size + 15) / 16 * 16;
    plan->groups = plan->units / (GROUP_ELEMENTS / (in + out) + 1) + 1;
    const int64_t limit = plan->scratch_size > ROOMY ? FEW_GROUPS : MAX_GROUPS;
    plan->groups = plan->groups > limit ? limit : plan->groups;
    plan->groups = plan->groups > plan->units ? plan->units : plan->groups;
}

// ---- one window a sample -----------------------------------------------------------------------

static void means(void *context, int64_t group)
{
    const resample_plan *plan = context;
    const int64_t n = plan->scratch_size, end = plan->units * (group + 1) / plan->groups;
    int64_t unit = plan->units * group / plan->groups;
    for (; n >= LANES && unit + LANES <= end; unit += LANES)
        mean_lanes(plan->y + unit, plan->x + unit * n, n);
    for (; unit < end; unit++)
        plan->y[unit] = sum(plan->x + unit * n, n) / (real)n;
}

static void spreads(void *context, int64_t group)
{
    const resample_plan *plan = context;
    const int64_t n = plan->scratch_size, end = plan->units * (group + 1) / plan->groups;
    for (int64_t unit = plan->units * group / plan->groups; unit < end; unit++) {
        const real share = plan->x[unit] / (real)n;
        for (int64_t i = 0; i < n; i++)
            plan->y[unit * n + i] = share;
    }
}

// The mean of each sample of n elements, or n shares of each number.
static void whole(bool transposed, void *y, const void *x, int64_t rows, int64_t n)
{
    resample_plan plan = {.y = y, .x = x, .units = rows, .scratch_size = n};
    plan.groups = rows / (GROUP_ELEMENTS / (n + 1) + 1) + 1;
    plan.groups = plan.groups > rows ? rows : plan.groups;
    tern_pool_run(plan.groups, transposed ? spreads : means, &plan);
}

// ---- the kernels --------------------------------------------------------------------------------

// y (rows, out..) from x (rows, in..), or the other way round.
static tern_status resample(const tern_resample_args *args, bool transposed, void *y, const void *x,
                            int64_t rows)
{
    resample_plan plan = {.y = y, .x = x};
    int64_t bytes = map_bytes(&args->dim[2], transposed) + 64;
    for (int i = 0; i < 3; i++)
        bytes += map_bytes(&args->dim[i], transposed);
    bytes += (transposed ? args->dim[2].in : args->dim[2].out) * (int64_t)sizeof *plan.run;
    char *const memory = tern_cache_alloc((size_t)bytes), *left = memory;
    if (!memory)
        return TERN_ERR_NOMEM;
    resample_map *const maps[] = {&plan.d, &plan.h, &plan.w};
    for (int i = 0; i < 3; i++) {
        map_partition(maps[i], &args->dim[i], transposed, &left);
        map_write(maps[i], &args->dim[i], transposed, i == 2 ? (real)args->scale : 1);
    }
    runs_make(&plan, left);
    plan_groups(&plan, rows);
    const size_t scratch_size = (size_t)(plan.groups * plan.scratch_size) * sizeof(real);
    plan.scratch = tern_cache_alloc(scratch_size);
    if (plan.scratch)
        tern_pool_run(plan.groups, group, &plan);
    const tern_status status = plan.scratch ? TERN_OK : TERN_ERR_NOMEM;
    tern_cache_free(plan.scratch, scratch_size);
    tern_cache_free(memory, (size_t)bytes);
    return status;
}

// Means over all three dimensions: their elements; else 0.
static int64_t whole_of(const tern_resample_args *args)
{
    int64_t elements = 1;
    bool averages = false;
    for (int i = 0; i < 3; i++) {
        const tern_resample_dim *d = &args->dim[i];
        averages |= d->kind == TERN_RESAMPLE_AREA;
        if (d->out != 1 || (d->kind != TERN_RESAMPLE_AREA && d->in != 1))
            return 0;
        elements *= d->in;
    }
    return averages && args->scale == 1 ? elements : 0;
}

typedef tern_status resample_fn(const tern_resample_args *args, bool transposed,
                                const tern_strided *y, const tern_strided *x);
REAL_DECLARE(resample_fn, resample);

tern_status REAL_NAME(resample)(const tern_resample_args *args, bool transposed,
                                const tern_strided *y, const tern_strided *x)
{
    if (tern_strided_numel(y) == 0)
        return TERN_OK;
    const int64_t n = whole_of(args);
    if (n == 0)
        return resample(args, transposed, y->data, x->data, y->size[0]);
    whole(transposed, y->data, x->data, y->size[0], n);
    return TERN_OK;
}

#if REAL_IS_FLOAT
static tern_status run(const char *name, const tern_resample_args *args, bool transposed,
                       const tern_strided *y, const tern_strided *x)
{
    TERN_TRY(tern_kernel_floating(name, x->dtype));
    if (!upcast_needed(x->dtype))
        return REAL_SELECT(x->dtype, resample)(args, transposed, y, x);
    const tern_strided *views[] = {y, x};
    tern_strided copies[2];
    tern_status status = upcast_begin(copies, views, 2);
    if (status == TERN_OK)
        status = TERN_ISA_NAME(resample_float)(args, transposed, views[0], views[1]);
    return upcast_end(copies, 2, y, status);
}

tern_status TERN_ISA_NAME(resample)(const tern_exec *exec, const tern_resample_args *args,
                                    const tern_strided *y, const tern_strided *x)
{
    (void)exec;
    return run("resample", args, false, y, x);
}

tern_status TERN_ISA_NAME(resample_grad)(const tern_exec *exec, const tern_resample_args *args,
                                         const tern_strided *dx, const tern_strided *dy)
{
    (void)exec;
    return run("resample_grad", args, true, dx, dy);
}
#endif
