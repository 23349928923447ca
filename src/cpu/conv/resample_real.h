// SPDX-License-Identifier: Apache-2.0
// Resampling, one dimension after the other. A template: REAL is float or double, REAL_BITS the
// signed integer of its size, RESAMPLE_PICK(LOW) and HIGH the positions of a shuffle, TAPS(name)
// the names. It works from maps: the inputs and weights of every output. The gradient has the same
// loops, and maps with inputs and outputs exchanged.

typedef struct TAPS(map) {
    int64_t in, out;
    int64_t *start; // (out + 1): where an output's taps begin
    int32_t *index; // of the input
    REAL *weight;
    bool copies; // y[o] = x[o]
    // Long windows: output o sums the inputs from start[o] up to end[o], and the weight is that of
    // the window, which is an input of the gradient.
    bool windows, by_input;
    int64_t *end;
} TAPS(map);

// Neighbouring outputs with as many taps.
typedef enum TAPS(pattern) {
    TAPS(GATHER),  // index and weight (taps, count)
    TAPS(STRIDED), // weight[0] * the sum of taps inputs from base + step * j on
    TAPS(REPEATED) // weight[0] * x[j / step]
} TAPS(pattern);
typedef struct TAPS(run) {
    TAPS(pattern) pattern;
    int64_t first, count, taps, base, step;
    const int32_t *index;
    const REAL *weight;
} TAPS(run);

typedef struct TAPS(plan) {
    TAPS(map) d, h, w;
    TAPS(run) * run; // of w
    int64_t runs, slots, units, groups, scratch_size;
    bool rows_first;
    REAL *y, *scratch;
    const REAL *x;
} TAPS(plan);

#include "cpu/conv/resample_window_real.h"

// ---- maps --------------------------------------------------------------------------------------

static int64_t TAPS(count)(const tern_resample_dim *d)
{
    int64_t count = 0;
    for (int64_t o = 0; o < d->out; o++) {
        TAPS(taps) taps;
        TAPS(find)(d, o, &taps);
        count += taps.count;
    }
    return count;
}

// Cuts the memory of a map off *memory.
static void TAPS(map_partition)(TAPS(map) * map, const tern_resample_dim *d, bool transposed,
                                char **memory)
{
    const int64_t taps = TAPS(count)(d);
    map->in = transposed ? d->out : d->in;
    map->out = transposed ? d->in : d->out;
    map->start = partition(memory, (map->out + 2) * (int64_t)sizeof *map->start);
    map->windows = TAPS(has_windows)(d, taps);
    if (map->windows) {
        map->end = partition(memory, map->out * (int64_t)sizeof *map->end);
        map->weight = partition(memory, d->out * (int64_t)sizeof *map->weight);
        return;
    }
    map->weight = partition(memory, taps * (int64_t)sizeof *map->weight);
    map->index = partition(memory, taps * (int64_t)sizeof *map->index);
}

// start[i] begins as the count of what comes before, and ends there after the taps were written.
static void TAPS(map_write)(TAPS(map) * map, const tern_resample_dim *d, bool transposed,
                            REAL scale)
{
    int64_t *next = map->start + 1;
    if (map->windows) {
        TAPS(windows_write)(map, d, transposed, scale);
        return;
    }
    memset(map->start, 0, (size_t)(map->out + 2) * sizeof *map->start);
    map->copies = d->kind == TERN_RESAMPLE_SAME && scale == 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t o = 0; o < d->out; o++) {
            TAPS(taps) taps;
            TAPS(find)(d, o, &taps);
            for (int64_t k = 0; k < taps.count; k++) {
                const int64_t i = TAPS(index)(d, &taps, k), row = transposed ? i : o;
                if (pass == 0) {
                    next[row + 1]++;
                    continue;
                }
                map->index[next[row]] = (int32_t)(transposed ? o : i);
                map->weight[next[row]++] = TAPS(weight)(d, &taps, k) * scale;
            }
        }
        for (int64_t i = 0; pass == 0 && i < map->out; i++)
            next[i + 1] += next[i];
    }
}

// ---- runs --------------------------------------------------------------------------------------

static bool TAPS(uniform)(const REAL *weight, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (weight[i] != weight[0])
            return false;
    return true;
}

static bool TAPS(is_strided)(TAPS(run) * run)
{
    run->base = run->index[0];
    run->step = run->count > 1 ? run->index[1] - run->index[0] : 1;
    for (int64_t t = 0; t < run->taps; t++)
        for (int64_t j = 0; j < run->count; j++)
            if (run->index[t * run->count + j] != run->base + run->step * j + t)
                return false;
    return run->step > 0;
}

static bool TAPS(is_repeated)(TAPS(run) * run)
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
static void TAPS(run_make)(TAPS(run) * run, const TAPS(map) * map, int32_t *index, REAL *weight)
{
    for (int64_t j = 0; j < run->count; j++) {
        for (int64_t t = 0; t < run->taps; t++) {
            index[t * run->count + j] = map->index[map->start[run->first + j] + t];
            weight[t * run->count + j] = map->weight[map->start[run->first + j] + t];
        }
    }
    run->index = index;
    run->weight = weight;
    run->pattern = TAPS(GATHER);
    if (run->taps > 0 && TAPS(uniform)(weight, run->taps * run->count))
        run->pattern = TAPS(is_strided)(run)    ? TAPS(STRIDED)
                       : TAPS(is_repeated)(run) ? TAPS(REPEATED)
                                                : TAPS(GATHER);
}

static void TAPS(runs_make)(TAPS(plan) * plan, char *memory)
{
    const TAPS(map) *map = &plan->w;
    if (map->windows)
        return;
    const int64_t taps = map->start[map->out];
    plan->run = partition(&memory, map->out * (int64_t)sizeof *plan->run);
    REAL *weight = partition(&memory, taps * (int64_t)sizeof *weight);
    int32_t *index = partition(&memory, taps * (int64_t)sizeof *index);
    for (int64_t o = 0; o < map->out;) {
        TAPS(run) *run = &plan->run[plan->runs++];
        *run = (TAPS(run)){.first = o, .taps = map->start[o + 1] - map->start[o]};
        while (o < map->out && map->start[o + 1] - map->start[o] == run->taps)
            o++;
        run->count = o - run->first;
        TAPS(run_make)(run, map, index + map->start[run->first], weight + map->start[run->first]);
    }
}

// ---- along a row -------------------------------------------------------------------------------

static void TAPS(gather)(const TAPS(run) * run, REAL *restrict y, const REAL *restrict x)
{
    const int64_t n = run->count;
    const int32_t *index = run->index;
    const REAL *weight = run->weight;
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

RESAMPLE_FN void TAPS(strided_by)(const TAPS(run) * run, REAL *restrict y, const REAL *restrict x,
                                  int64_t n, int64_t step)
{
    const REAL weight = run->weight[0];
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
static void TAPS(strided)(const TAPS(run) * run, REAL *y, const REAL *x, int64_t n)
{
    if (run->step == 1)
        TAPS(strided_by)(run, y, x + run->base, n, 1);
    else if (run->step == 2)
        TAPS(strided_by)(run, y, x + run->base, n, 2);
    else
        TAPS(strided_by)(run, y, x + run->base, n, run->step);
}

static void TAPS(repeated)(const TAPS(run) * run, REAL *restrict y, const REAL *restrict x,
                           int64_t n)
{
    const REAL weight = run->weight[0];
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
static bool TAPS(seamless)(const TAPS(plan) * plan)
{
    const TAPS(run) *run = plan->run;
    const TAPS(map) *w = &plan->w;
    if (plan->runs != 1 || run->pattern == TAPS(GATHER))
        return false;
    if (run->pattern == TAPS(REPEATED))
        return w->out == w->in * run->step;
    return run->base == 0 && w->in == w->out * run->step && run->taps <= run->step;
}

static void TAPS(along)(const TAPS(run) * run, REAL *y, const REAL *x, int64_t n)
{
    if (run->pattern == TAPS(GATHER))
        TAPS(gather)(run, y, x);
    else if (run->pattern == TAPS(STRIDED))
        TAPS(strided)(run, y, x, n);
    else
        TAPS(repeated)(run, y, x, n);
}

// y (rows, out) from x (rows, in).
static void TAPS(along_rows)(const TAPS(plan) * plan, REAL *y, const REAL *x, int64_t rows)
{
    if (plan->w.windows) {
        for (int64_t r = 0; r < rows; r++)
            TAPS(along_windows)(&plan->w, y + r * plan->w.out, x + r * plan->w.in);
        return;
    }
    if (TAPS(seamless)(plan)) {
        TAPS(along)(plan->run, y, x, rows * plan->w.out);
        return;
    }
    for (int64_t i = 0; i < plan->runs; i++) {
        const TAPS(run) *run = &plan->run[i];
        for (int64_t r = 0; r < rows; r++)
            TAPS(along)(run, y + r * plan->w.out + run->first, x + r * plan->w.in, run->count);
    }
}

// ---- of rows -----------------------------------------------------------------------------------

// y (n) = the weighted sum of output o's rows of x (in, n).
static void TAPS(mix)(const TAPS(map) * map, int64_t o, REAL *restrict y, const REAL *x, int64_t n)
{
    const int64_t taps = map->start[o + 1] - map->start[o];
    const int32_t *index = map->index + map->start[o];
    const REAL *weight = map->weight + map->start[o];
    if (taps == 0) {
        memset(y, 0, (size_t)n * sizeof *y);
        return;
    }
    const REAL *restrict a = x + index[0] * n, *restrict b = x + index[taps > 1] * n;
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
        const REAL *restrict c = x + index[t] * n;
        for (int64_t i = 0; i < n; i++)
            y[i] += weight[t] * c[i];
    }
}

static void TAPS(mix_row)(const TAPS(map) * map, int64_t o, REAL *y, const REAL *x, int64_t n)
{
    (map->windows ? TAPS(mix_window) : TAPS(mix))(map, o, y, x, n);
}

static void TAPS(mix_all)(const TAPS(map) * map, REAL *y, const REAL *x, int64_t n)
{
    for (int64_t o = 0; o < map->out; o++)
        TAPS(mix_row)(map, o, y + o * n, x, n);
}

// ---- all ---------------------------------------------------------------------------------------

// One plane (h, w) of the result.
static void TAPS(plane)(const TAPS(plan) * plan, int64_t unit, REAL *scratch)
{
    const TAPS(map) *d = &plan->d, *h = &plan->h, *w = &plan->w;
    const int64_t n = unit / d->out, in = h->in * w->in;
    const REAL *x = plan->x + (n * d->in + (d->copies ? unit % d->out : 0)) * in;
    REAL *y = plan->y + unit * h->out * w->out, *half = scratch + (d->copies ? 0 : in);
    if (!d->copies) {
        TAPS(mix_row)(d, unit % d->out, scratch, x, in);
        x = scratch;
    }
    if (h->copies && w->copies) {
        memcpy(y, x, (size_t)in * sizeof *y);
    } else if (h->copies) {
        TAPS(along_rows)(plan, y, x, h->in);
    } else if (w->copies) {
        TAPS(mix_all)(h, y, x, w->in);
    } else if (plan->rows_first) {
        TAPS(along_rows)(plan, half, x, h->in);
        TAPS(mix_all)(h, y, half, w->out);
    } else {
        TAPS(mix_all)(h, half, x, w->in);
        TAPS(along_rows)(plan, y, half, h->out);
    }
}

static void TAPS(group)(void *context, int64_t group)
{
    const TAPS(plan) *plan = context;
    const int64_t end = plan->units * (group + 1) / plan->groups;
    for (int64_t unit = plan->units * group / plan->groups; unit < end; unit++)
        TAPS(plane)(plan, unit, plan->scratch + group * plan->scratch_size);
}

static void TAPS(plan_groups)(TAPS(plan) * plan, int64_t rows)
{
    const TAPS(map) *h = &plan->h, *w = &plan->w;
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

typedef REAL TAPS(lanes) __attribute__((vector_size(32)));
typedef REAL TAPS(loose) __attribute__((vector_size(32), aligned(sizeof(REAL)), may_alias));
typedef REAL_BITS TAPS(mask) __attribute__((vector_size(32)));

// The means of as many samples as a vector has lanes, side by side: no sum waits for another, and
// their lanes are added in pairs of samples. n is at least a vector; the last one is masked.
static inline void TAPS(mean_lanes)(REAL *y, const REAL *x, int64_t n)
{
    const int64_t whole = n / TAPS(LANES) * TAPS(LANES);
    TAPS(lanes) sum[TAPS(LANES)] = {{0}};
    TAPS(mask) last;
    for (int l = 0; l < TAPS(LANES); l++)
        last[l] = l < TAPS(LANES) - (n - whole) ? 0 : -1;
    for (int64_t i = 0; i < whole; i += TAPS(LANES))
        for (int r = 0; r < TAPS(LANES); r++)
            sum[r] += *(const TAPS(loose) *)(x + r * n + i);
    for (int r = 0; r < TAPS(LANES); r++) {
        const TAPS(lanes) rest = *(const TAPS(loose) *)(x + r * n + n - TAPS(LANES));
        sum[r] += (TAPS(lanes))((TAPS(mask))rest & last);
    }
    for (int half = TAPS(LANES) / 2; half > 0; half /= 2)
        for (int r = 0; r < half; r++)
            sum[r] = __builtin_shufflevector(sum[r], sum[r + half], RESAMPLE_PICK(LOW)) +
                     __builtin_shufflevector(sum[r], sum[r + half], RESAMPLE_PICK(HIGH));
    *(TAPS(loose) *)y = sum[0] / (REAL)n;
}

static void TAPS(means)(void *context, int64_t group)
{
    const TAPS(plan) *plan = context;
    const int64_t n = plan->scratch_size, end = plan->units * (group + 1) / plan->groups;
    int64_t unit = plan->units * group / plan->groups;
    for (; n >= TAPS(LANES) && unit + TAPS(LANES) <= end; unit += TAPS(LANES))
        TAPS(mean_lanes)(plan->y + unit, plan->x + unit * n, n);
    for (; unit < end; unit++)
        plan->y[unit] = TAPS(sum)(plan->x + unit * n, n) / (REAL)n;
}

static void TAPS(spreads)(void *context, int64_t group)
{
    const TAPS(plan) *plan = context;
    const int64_t n = plan->scratch_size, end = plan->units * (group + 1) / plan->groups;
    for (int64_t unit = plan->units * group / plan->groups; unit < end; unit++) {
        const REAL share = plan->x[unit] / (REAL)n;
        for (int64_t i = 0; i < n; i++)
            plan->y[unit * n + i] = share;
    }
}

// The mean of each sample of n elements, or n shares of each number.
static void TAPS(whole)(bool transposed, void *y, const void *x, int64_t rows, int64_t n)
{
    TAPS(plan) plan = {.y = y, .x = x, .units = rows, .scratch_size = n};
    plan.groups = rows / (GROUP_ELEMENTS / (n + 1) + 1) + 1;
    plan.groups = plan.groups > rows ? rows : plan.groups;
    tern_pool_run(plan.groups, transposed ? TAPS(spreads) : TAPS(means), &plan);
}

static int64_t TAPS(map_bytes)(const tern_resample_dim *d, bool transposed)
{
    const int64_t rows = transposed ? d->in : d->out, taps = TAPS(count)(d);
    if (TAPS(has_windows)(d, taps))
        return (2 * rows + 2) * (int64_t)sizeof(int64_t) + d->out * (int64_t)sizeof(REAL) + 3 * 64;
    return (rows + 2) * (int64_t)sizeof(int64_t) + taps * (int64_t)(sizeof(REAL) + 4) + 3 * 64;
}

// y (rows, out..) from x (rows, in..), or the other way round.
static tern_status TAPS(resample)(const tern_resample_args *args, bool transposed, void *y,
                                  const void *x, int64_t rows)
{
    TAPS(plan) plan = {.y = y, .x = x};
    int64_t bytes = TAPS(map_bytes)(&args->dim[2], transposed) + 64;
    for (int i = 0; i < 3; i++)
        bytes += TAPS(map_bytes)(&args->dim[i], transposed);
    bytes += (transposed ? args->dim[2].in : args->dim[2].out) * (int64_t)sizeof *plan.run;
    char *const memory = tern_cache_alloc((size_t)bytes), *left = memory;
    if (!memory)
        return TERN_ERR_NOMEM;
    TAPS(map) *const maps[] = {&plan.d, &plan.h, &plan.w};
    for (int i = 0; i < 3; i++) {
        TAPS(map_partition)(maps[i], &args->dim[i], transposed, &left);
        TAPS(map_write)(maps[i], &args->dim[i], transposed, i == 2 ? (REAL)args->scale : 1);
    }
    TAPS(runs_make)(&plan, left);
    TAPS(plan_groups)(&plan, rows);
    const size_t scratch_size = (size_t)(plan.groups * plan.scratch_size) * sizeof(REAL);
    plan.scratch = tern_cache_alloc(scratch_size);
    if (plan.scratch)
        tern_pool_run(plan.groups, TAPS(group), &plan);
    const tern_status status = plan.scratch ? TERN_OK : TERN_ERR_NOMEM;
    tern_cache_free(plan.scratch, scratch_size);
    tern_cache_free(memory, (size_t)bytes);
    return status;
}
