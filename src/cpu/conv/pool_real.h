// SPDX-License-Identifier: Apache-2.0
// Max pooling. A template: REAL is float or double, REAL_BITS the signed integer of its size,
// POOL(name) the names, POOL_PICK(EVEN), ODD, LOW and HIGH the positions of a shuffle. Along rows
// first, then of rows: each keeps the tap of the largest, and the first of equal ones stays.

// v is better than the best so far.
#define POOL_BETTER(v, best) (((v) > (best)) | ((v) != (v)))

// ---- along a row -------------------------------------------------------------------------------

POOL_LOOP void POOL(scan)(REAL *restrict best, int32_t *restrict tap, const REAL *restrict x,
                          int64_t n, int64_t stride, int64_t step, int64_t kernel)
{
    for (int64_t j = 0; j < n; j++) {
        REAL top = x[j * stride];
        int32_t at = 0;
        for (int64_t t = 1; t < kernel; t++) {
            const REAL v = x[j * stride + t * step];
            at = v > top ? (int32_t)t : at;
            top = v > top ? v : top;
            at = v != v ? (int32_t)t : at;
            top = v != v ? v : top;
        }
        best[j] = top;
        tap[j] = at;
    }
}

static void POOL(whole)(const pool_job *job, REAL *best, int32_t *tap, const REAL *x, int64_t n)
{
    const tern_pool_dim *w = &job->w;
    if (w->kernel == 3 && w->stride == 2 && w->dilation == 1)
        POOL(scan)(best, tap, x, n, 2, 1, 3);
    else if (w->kernel == 3 && w->stride == 1 && w->dilation == 1)
        POOL(scan)(best, tap, x, n, 1, 1, 3);
    else if (w->kernel == 2 && w->stride == 2 && w->dilation == 1)
        POOL(scan)(best, tap, x, n, 2, 1, 2);
    else if (w->kernel == 2 && w->stride == 1 && w->dilation == 1)
        POOL(scan)(best, tap, x, n, 1, 1, 2);
    else
        POOL(scan)(best, tap, x, n, w->stride, w->dilation, w->kernel);
}

static void POOL(cut)(const pool_job *job, REAL *best, int32_t *tap, const REAL *x, int64_t from,
                      int64_t to)
{
    const int64_t step = job->w.dilation;
    for (int64_t o = from; o < to; o++) {
        const pool_window *w = &job->window[o];
        REAL top = x[w->base + w->first * step];
        int64_t at = w->first;
        for (int64_t t = w->first + 1; t < w->end; t++) {
            const REAL v = x[w->base + t * step];
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
static void POOL(along)(const pool_job *job, REAL *best, int32_t *tap, const REAL *x)
{
    const int64_t first = job->first, last = job->last;
    POOL(cut)(job, best, tap, x, 0, first);
    if (first < last)
        POOL(whole)
    (job, best + first, tap + first, x + first * job->w.stride - job->w.padding, last - first);
    POOL(cut)(job, best, tap, x, last, job->w.out);
}

// ---- of rows -----------------------------------------------------------------------------------

// What is at v replaces the best where it is better; its taps count from `from`.
static void POOL(merge)(REAL *restrict best, int32_t *restrict tap, const REAL *restrict v,
                        const int32_t *restrict at, int32_t from, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        const REAL old = best[j], new = v[j];
        const int32_t was = tap[j], is = at[j] + from;
        REAL top = new > old ? new : old;
        int32_t where = new > old ? is : was;
        top = new != new ? new : top;
        where = new != new ? is : where;
        best[j] = top;
        tap[j] = where;
    }
}

static void POOL(store)(const pool_job *job, int64_t at, const int32_t *tap, int64_t base)
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
typedef struct POOL(rows) {
    REAL *best;    // (depths * h.in, w.out)
    int32_t *tap;  // likewise
    int32_t *line; // (w.out): taps of the row that is made
} POOL(rows);

// Output row oh of plane od.
static void POOL(row)(const pool_job *job, const POOL(rows) * rows, const pool_window *depth,
                      int64_t oh, int64_t at)
{
    const tern_pool_dim *h = &job->h;
    const int64_t n = job->w.out;
    const pool_window high = pool_find_window(h, oh);
    REAL *y = (REAL *)job->y + at;
    bool begun = false;
    for (int64_t t = depth->first; t < depth->end; t++) {
        for (int64_t r = high.first; r < high.end; r++) {
            const int64_t from = (t - depth->first) * h->in + high.base + r * h->dilation;
            const int32_t tap = (int32_t)((t * h->kernel + r) * job->w.kernel);
            if (begun) {
                POOL(merge)(y, rows->line, rows->best + from * n, rows->tap + from * n, tap, n);
                continue;
            }
            begun = true;
            memcpy(y, rows->best + from * n, (size_t)n * sizeof *y);
            for (int64_t j = 0; j < n; j++)
                rows->line[j] = rows->tap[from * n + j] + tap;
        }
    }
    POOL(store)(job, at, rows->line, (depth->base * h->in + high.base) * job->w.in);
}

// Plane od of sample unit / d.out.
static void POOL(plane)(const pool_job *job, int64_t unit, char *scratch)
{
    const tern_pool_dim *d = &job->d, *h = &job->h, *w = &job->w;
    const int64_t lines = d->kernel * h->in * w->out;
    POOL(rows) rows = {.best = (REAL *)(void *)scratch};
    rows.tap = (int32_t *)(void *)(rows.best + lines);
    rows.line = rows.tap + lines;
    const pool_window depth = pool_find_window(d, unit % d->out);
    const REAL *x = (const REAL *)job->x + unit / d->out * d->in * h->in * w->in;
    for (int64_t t = depth.first; t < depth.end; t++) {
        const REAL *plane = x + (depth.base + t * d->dilation) * h->in * w->in;
        const int64_t to = (t - depth.first) * h->in;
        for (int64_t r = 0; r < h->in; r++)
            POOL(along)
        (job, rows.best + (to + r) * w->out, rows.tap + (to + r) * w->out, plane + r * w->in);
    }
    for (int64_t oh = 0; oh < h->out; oh++)
        POOL(row)(job, &rows, &depth, oh, (unit * h->out + oh) * w->out);
}

static void POOL(planes)(void *context, int64_t group)
{
    const pool_job *job = context;
    const int64_t end = job->units * (group + 1) / job->groups;
    for (int64_t unit = job->units * group / job->groups; unit < end; unit++)
        POOL(plane)(job, unit, job->scratch + group * job->scratch_nbytes);
}

// ---- windows of 2 x 2, side by side ------------------------------------------------------------

enum { POOL(LANES) = POOL_BYTES / sizeof(REAL) };
typedef REAL POOL(vec) __attribute__((vector_size(POOL_BYTES)));
typedef REAL POOL(unaligned)
    __attribute__((vector_size(POOL_BYTES), aligned(sizeof(REAL)), may_alias));
typedef REAL_BITS POOL(mask) __attribute__((vector_size(POOL_BYTES)));

POOL_LOOP POOL(vec) POOL(load)(const REAL *x)
{
    return *(const POOL(unaligned) *)x;
}

// x where the mask is set, else y.
POOL_LOOP POOL(mask) POOL(choose)(POOL(mask) mask, POOL(mask) x, POOL(mask) y)
{
    return (x & mask) | (y & ~mask);
}

// Of two vectors the larger, v after best; *tap becomes `at` where v is.
POOL_LOOP POOL(vec) POOL(max)(POOL(vec) best, POOL(vec) v, POOL(mask) * tap, POOL(mask) at)
{
    const POOL(mask) better = (v > best) | (v != v);
    *tap = POOL(choose)(better, at, *tap);
    return (POOL(vec))POOL(choose)(better, (POOL(mask))v, (POOL(mask))best);
}

// The larger of neighbours in two vectors.
POOL_LOOP POOL(vec) POOL(neighbours)(const REAL *x, POOL(mask) * tap)
{
    const POOL(vec) low = POOL(load)(x), high = POOL(load)(x + POOL(LANES));
    const POOL(mask) zero = {0};
    *tap = zero;
    return POOL(max)(__builtin_shufflevector(low, high, POOL_PICK(EVEN)),
                     __builtin_shufflevector(low, high, POOL_PICK(ODD)), tap, zero + 1);
}

// A vector of outputs from two rows of x.
POOL_LOOP void POOL(pair_lanes)(REAL *y, uint8_t *tap, const REAL *x, const REAL *below,
                                bool tapped)
{
    POOL(mask) at, at_below;
    const POOL(vec) top = POOL(neighbours)(x, &at), low = POOL(neighbours)(below, &at_below);
    *(POOL(unaligned) *)y = POOL(max)(top, low, &at, at_below + 2);
    for (int l = 0; tapped && l < POOL(LANES); l++)
        tap[l] = (uint8_t)at[l];
}

// One output row; what is written past its end, if `spare` outputs lie behind it, is made later.
POOL_LOOP void POOL(pair_row)(REAL *y, uint8_t *tap, const REAL *x, const REAL *below, int64_t n,
                              bool spare, bool tapped)
{
    int64_t j = 0;
    for (; j + POOL(LANES) <= n || (spare && j < n); j += POOL(LANES))
        POOL(pair_lanes)(y + j, tapped ? tap + j : NULL, x + 2 * j, below + 2 * j, tapped);
    for (; j < n; j++) {
        REAL best = x[2 * j];
        int at = 0;
        for (int t = 1; t < 4; t++) {
            const REAL v = (t < 2 ? x : below)[2 * j + t % 2];
            if (POOL_BETTER(v, best)) {
                best = v;
                at = t;
            }
        }
        y[j] = best;
        if (tapped)
            tap[j] = (uint8_t)at;
    }
}

POOL_LOOP void POOL(pair_rows)(const pool_job *job, int64_t first, int64_t end, bool tapped)
{
    const int64_t n = job->w.out, width = job->w.in;
    const int64_t from = first * job->h.out, rows = end * job->h.out;
    for (int64_t r = from; r < rows; r++) {
        const REAL *x =
            (const REAL *)job->x + (r / job->h.out * job->h.in + 2 * (r % job->h.out)) * width;
        POOL(pair_row)
        ((REAL *)job->y + r * n, tapped ? job->small + r * n : NULL, x, x + width, n,
         (rows - 1 - r) * n >= POOL(LANES), tapped);
    }
}

static void POOL(pairs)(void *context, int64_t group)
{
    const pool_job *job = context;
    const int64_t first = job->units * group / job->groups;
    const int64_t end = job->units * (group + 1) / job->groups;
    if (job->small)
        POOL(pair_rows)(job, first, end, true);
    else
        POOL(pair_rows)(job, first, end, false);
}

// A row of dx, of which tap - `from` is 0 or 1 where an element of it was the largest.
POOL_LOOP void POOL(spread_row)(REAL *dx, const REAL *dy, const uint8_t *tap, int64_t n,
                                int32_t from, bool spare)
{
    int64_t j = 0;
    for (; j + POOL(LANES) <= n || (spare && j < n); j += POOL(LANES)) {
        POOL(mask) at;
        for (int l = 0; l < POOL(LANES); l++)
            at[l] = tap[j + l] - from;
        const POOL(mask) value = (POOL(mask))POOL(load)(dy + j), zero = {0};
        const POOL(vec) even = (POOL(vec))(value & (at == zero));
        const POOL(vec) odd = (POOL(vec))(value & (at == zero + 1));
        *(POOL(unaligned) *)(dx + 2 * j) = __builtin_shufflevector(even, odd, POOL_PICK(LOW));
        *(POOL(unaligned) *)(dx + 2 * j + POOL(LANES)) =
            __builtin_shufflevector(even, odd, POOL_PICK(HIGH));
    }
    for (; j < n; j++) {
        dx[2 * j] = tap[j] == from ? dy[j] : 0;
        dx[2 * j + 1] = tap[j] == from + 1 ? dy[j] : 0;
    }
}

// One sample of a group that goes up to `end`, behind which others write.
static void POOL(spread)(const pool_job *job, int64_t unit, int64_t end)
{
    const int64_t n = job->w.out, width = job->w.in, rows = job->h.out;
    REAL *dx = (REAL *)job->y + unit * job->h.in * width;
    for (int64_t r = 0; r < 2 * rows; r++) {
        const int64_t at = (unit * rows + r / 2) * n;
        const bool spare = ((end - unit) * rows - 1 - r / 2) * n >= POOL(LANES);
        POOL(spread_row)
        (dx + r * width, (const REAL *)job->x + at, job->small + at, n, r % 2 ? 2 : 0, spare);
        for (int64_t j = 2 * n; j < width; j++)
            dx[r * width + j] = 0;
    }
    memset(dx + 2 * rows * width, 0, (size_t)((job->h.in - 2 * rows) * width) * sizeof *dx);
}

static void POOL(spreads)(void *context, int64_t group)
{
    const pool_job *job = context;
    const int64_t end = job->units * (group + 1) / job->groups;
    for (int64_t unit = job->units * group / job->groups; unit < end; unit++)
        POOL(spread)(job, unit, end);
}

// ---- backward ----------------------------------------------------------------------------------

static void POOL(scatter_row)(const pool_job *job, REAL *dx, const REAL *dy, int64_t at)
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
static void POOL(sample)(const pool_job *job, int64_t unit)
{
    const tern_pool_dim *d = &job->d, *h = &job->h, *w = &job->w;
    const int64_t in = d->in * h->in * w->in;
    REAL *dx = (REAL *)job->y + unit * in;
    memset(dx, 0, (size_t)in * sizeof *dx);
    for (int64_t od = 0; od < d->out; od++) {
        const int64_t plane = pool_find_window(d, od).base * h->in;
        for (int64_t oh = 0; oh < h->out; oh++)
            POOL(scatter_row)
        (job, dx + (plane + pool_find_window(h, oh).base) * w->in, job->x,
         ((unit * d->out + od) * h->out + oh) * w->out);
    }
}

static void POOL(samples)(void *context, int64_t group)
{
    const pool_job *job = context;
    const int64_t end = job->units * (group + 1) / job->groups;
    for (int64_t unit = job->units * group / job->groups; unit < end; unit++)
        POOL(sample)(job, unit);
}
