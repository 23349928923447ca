// SPDX-License-Identifier: Apache-2.0
// Units of batch_norm.c, a template over row.h's parameters, included after sums_real.h. A channel
// of a sample is a run of S elements; where runs are short, columns of (N, C S) are done side by
// side.

static ROW(channel) ROW(channel_of)(const channel_job *job, int64_t c)
{
    const tern_batch_norm_args *args = job->args;
    const REAL *weight = job->weight, *bias = job->bias;
    const REAL rstd = ((const REAL *)args->rstd.data)[c];
    return (ROW(channel)){.mean = ((const REAL *)args->mean.data)[c],
                          .scale = weight ? rstd * weight[c] : rstd,
                          .shift = bias ? bias[c] : 0,
                          .relu = args->relu};
}

static ROW(slope) ROW(slope_of)(const channel_job *job, int64_t c)
{
    const double *means = job->partial + c * 2;
    return (ROW(slope)){.rstd = ((const REAL *)job->args->rstd.data)[c],
                        .first = (REAL)means[0],
                        .second = (REAL)means[1],
                        .scale = ROW(channel_of)(job, c).scale,
                        .constant = !job->args->batch};
}

// ---- runs ---------------------------------------------------------------------------------------

// A channel of some samples: run i is `step` behind run i - 1.
typedef struct ROW(runs) {
    int64_t count, at, step;
    int64_t ahead; // bytes of the next run that are prefetched
} ROW(runs);

static ROW(runs) ROW(runs_of)(const channel_job *job, int64_t c, int64_t segment)
{
    const int64_t nbytes = job->s * (int64_t)sizeof(REAL);
    const bool ahead = nbytes <= PREFETCHED && job->n * job->c * job->s >= CACHED;
    return (ROW(runs)){.count = samples_of(job, segment),
                       .at = (segment * job->samples * job->c + c) * job->s,
                       .step = job->c * job->s,
                       .ahead = ahead ? nbytes : 0};
}

// The processor finds the lines of a long run, but not where the next run begins.
FOLD_INLINE void ROW(prefetch_run)(const void *data, const ROW(runs) * r, int64_t i)
{
    const char *x = (const char *)((const REAL *)data + r->at + (i + 1) * r->step);
    for (int64_t line = 0; i + 1 < r->count && line < r->ahead; line += 64)
        __builtin_prefetch(x + line);
}

static void ROW(moments_of_runs)(const channel_job *job, int64_t c, int64_t segment)
{
    const ROW(runs) r = ROW(runs_of)(job, c, segment);
    const REAL *x = (const REAL *)job->x + r.at;
    double *part = job->partial + (segment * job->c + c) * 2;
    const double count = (double)r.count * (double)job->s;
    ROW(adder) sum = {.count = 0}, off = {.count = 0}, squares = {.count = 0};
    for (int64_t i = 0; i < r.count; i++) {
        ROW(prefetch_run)(job->x, &r, i);
        ROW(add_values)(&sum, x + i * r.step, job->s);
    }
    ROW(flush)(&sum);
    const REAL mean = (REAL)(count > 0 ? sum.total / count : 0);
    for (int64_t i = 0; i < r.count; i++)
        ROW(add_off)(&off, &squares, x + i * r.step, mean, job->s);
    ROW(flush)(&off);
    ROW(flush)(&squares);
    join_moments(part, (double)mean, count, off.total, squares.total);
}

static void ROW(sums_of_runs)(const channel_job *job, int64_t c, int64_t segment)
{
    const ROW(runs) r = ROW(runs_of)(job, c, segment);
    const ROW(channel) channel = ROW(channel_of)(job, c);
    const REAL *x = (const REAL *)job->x + r.at, *dy = (const REAL *)job->dy + r.at;
    double *part = job->partial + (segment * job->c + c) * 2;
    ROW(adder) gradient = {.count = 0}, product = {.count = 0};
    for (int64_t i = 0; i < r.count; i++) {
        ROW(prefetch_run)(job->x, &r, i);
        ROW(prefetch_run)(job->dy, &r, i);
        ROW(add_pairs)(&gradient, &product, dy + i * r.step, x + i * r.step, &channel, job->s);
    }
    ROW(flush)(&gradient);
    ROW(flush)(&product);
    part[0] = gradient.total;
    part[1] = product.total;
}

// ---- columns ------------------------------------------------------------------------------------

// Columns of some samples, from channel `first` on.
typedef struct ROW(strip) {
    int64_t first, channels, cols, rows, at, step;
} ROW(strip);

static ROW(strip) ROW(strip_of)(const channel_job *job, int64_t block, int64_t segment)
{
    const int64_t first = block * job->block, channels = smaller(job->block, job->c - first);
    return (ROW(strip)){.first = first,
                        .channels = channels,
                        .cols = channels * job->s,
                        .rows = samples_of(job, segment),
                        .at = (segment * job->samples * job->c + first) * job->s,
                        .step = job->c * job->s};
}

// Row r of the sums in REAL goes to those in double every FOLD_ROWS rows, and at the end.
FOLD_INLINE void ROW(widen_sums)(double *total, REAL *part, int64_t r, const ROW(strip) * strip)
{
    if ((r + 1) % FOLD_ROWS != 0 && r + 1 != strip->rows)
        return;
    for (int64_t j = 0; j < strip->cols; j++) {
        total[j] += (double)part[j];
        part[j] = 0;
    }
}

// The columns of a channel, together.
static double ROW(of_channel)(const double *total, const channel_job *job, int64_t k)
{
    double sum = 0;
    for (int64_t j = 0; j < job->s; j++)
        sum += total[k * job->s + j];
    return sum;
}

static void ROW(moments_of_columns)(const channel_job *job, const ROW(strip) * strip,
                                    int64_t segment)
{
    const REAL *x = (const REAL *)job->x + strip->at;
    double *part = job->partial + (segment * job->c + strip->first) * 2;
    const double count = (double)strip->rows * (double)job->s;
    double sum[COLS] = {0}, squares[COLS] = {0};
    REAL some[COLS] = {0}, products[COLS] = {0}, mean[COLS] = {0};
    for (int64_t r = 0; r < strip->rows; r++) {
        ELEMENTWISE_LOOP
        for (int64_t j = 0; j < strip->cols; j++)
            some[j] += x[r * strip->step + j];
        ROW(widen_sums)(sum, some, r, strip);
    }
    for (int64_t k = 0; k < strip->channels; k++) {
        part[k * 2] = count > 0 ? ROW(of_channel)(sum, job, k) / count : 0;
        for (int64_t j = 0; j < job->s; j++)
            mean[k * job->s + j] = (REAL)part[k * 2];
    }
    memset(sum, 0, sizeof sum);
    for (int64_t r = 0; r < strip->rows; r++) {
        ELEMENTWISE_LOOP
        for (int64_t j = 0; j < strip->cols; j++) {
            const REAL off = x[r * strip->step + j] - mean[j];
            some[j] += off;
            products[j] += off * off;
        }
        ROW(widen_sums)(sum, some, r, strip);
        ROW(widen_sums)(squares, products, r, strip);
    }
    for (int64_t k = 0; k < strip->channels; k++)
        join_moments(part + k * 2, (double)(REAL)part[k * 2], count, ROW(of_channel)(sum, job, k),
                     ROW(of_channel)(squares, job, k));
}

// What each column goes through.
typedef struct ROW(columns) {
    REAL mean[COLS], scale[COLS], shift[COLS], rstd[COLS], first[COLS], second[COLS];
} ROW(columns);

static void ROW(spread)(ROW(columns) * to, const channel_job *job, const ROW(strip) * strip,
                        bool backward)
{
    for (int64_t j = 0, k = 0; k < strip->channels; k++) {
        const ROW(channel) c = ROW(channel_of)(job, strip->first + k);
        const ROW(slope) s =
            backward ? ROW(slope_of)(job, strip->first + k) : (ROW(slope)){.rstd = 0};
        for (const int64_t end = j + job->s; j < end; j++) {
            to->mean[j] = c.mean;
            to->scale[j] = c.scale;
            to->shift[j] = c.shift;
            to->rstd[j] = s.rstd;
            to->first[j] = s.first;
            to->second[j] = s.second;
        }
    }
}

static void ROW(sums_of_columns)(const channel_job *job, const ROW(strip) * strip, int64_t segment)
{
    ROW(columns) of;
    const bool relu = job->args->relu;
    double *part = job->partial + (segment * job->c + strip->first) * 2;
    double gradient[COLS] = {0}, product[COLS] = {0};
    REAL some[COLS] = {0}, products[COLS] = {0};
    ROW(spread)(&of, job, strip, false);
    for (int64_t r = 0; r < strip->rows; r++) {
        const REAL *x = (const REAL *)job->x + strip->at + r * strip->step;
        const REAL *dy = (const REAL *)job->dy + strip->at + r * strip->step;
        ELEMENTWISE_LOOP
        for (int64_t j = 0; j < strip->cols; j++) {
            const REAL off = x[j] - of.mean[j];
            const REAL dz = relu && off * of.scale[j] + of.shift[j] <= 0 ? 0 : dy[j];
            some[j] += dz;
            products[j] += dz * off;
        }
        ROW(widen_sums)(gradient, some, r, strip);
        ROW(widen_sums)(product, products, r, strip);
    }
    for (int64_t k = 0; k < strip->channels; k++) {
        part[k * 2] = ROW(of_channel)(gradient, job, k);
        part[k * 2 + 1] = ROW(of_channel)(product, job, k);
    }
}

static void ROW(elements_of_columns)(const channel_job *job, const ROW(strip) * strip)
{
    ROW(columns) of;
    const bool relu = job->args->relu;
    ROW(spread)(&of, job, strip, false);
    for (int64_t r = 0; r < strip->rows; r++) {
        const REAL *x = (const REAL *)job->x + strip->at + r * strip->step;
        REAL *y = (REAL *)job->y + strip->at + r * strip->step;
        ELEMENTWISE_LOOP
        for (int64_t j = 0; j < strip->cols; j++) {
            const REAL z = (x[j] - of.mean[j]) * of.scale[j] + of.shift[j];
            y[j] = relu && z <= 0 ? 0 : z;
        }
    }
}

static void ROW(gradients_of_columns)(const channel_job *job, const ROW(strip) * strip)
{
    ROW(columns) of;
    const bool relu = job->args->relu, constant = !job->args->batch;
    ROW(spread)(&of, job, strip, true);
    for (int64_t r = 0; r < strip->rows; r++) {
        const REAL *x = (const REAL *)job->x + strip->at + r * strip->step;
        const REAL *dy = (const REAL *)job->dy + strip->at + r * strip->step;
        REAL *dx = (REAL *)job->y + strip->at + r * strip->step;
        ELEMENTWISE_LOOP
        for (int64_t j = 0; j < strip->cols; j++) {
            const REAL off = x[j] - of.mean[j];
            const REAL dz = relu && off * of.scale[j] + of.shift[j] <= 0 ? 0 : dy[j];
            const REAL all = dz - of.first[j] - off * of.rstd[j] * of.second[j];
            dx[j] = (constant ? dz : all) * of.scale[j];
        }
    }
}

// ---- units --------------------------------------------------------------------------------------

static bool ROW(has_runs)(const channel_job *job)
{
    return job->s >= SHORT_RUN;
}

static void ROW(moments)(const channel_job *job, int64_t block, int64_t segment)
{
    const ROW(strip) strip = ROW(strip_of)(job, block, segment);
    if (ROW(has_runs)(job))
        ROW(moments_of_runs)(job, block, segment);
    else
        ROW(moments_of_columns)(job, &strip, segment);
}

static void ROW(sums)(const channel_job *job, int64_t block, int64_t segment)
{
    const ROW(strip) strip = ROW(strip_of)(job, block, segment);
    if (ROW(has_runs)(job))
        ROW(sums_of_runs)(job, block, segment);
    else
        ROW(sums_of_columns)(job, &strip, segment);
}

static void ROW(elements)(const channel_job *job, int64_t block, int64_t segment)
{
    if (!ROW(has_runs)(job)) {
        const ROW(strip) strip = ROW(strip_of)(job, block, segment);
        ROW(elements_of_columns)(job, &strip);
        return;
    }
    const ROW(runs) r = ROW(runs_of)(job, block, segment);
    const ROW(channel) c = ROW(channel_of)(job, block);
    for (int64_t i = 0; i < r.count; i++) {
        const int64_t at = r.at + i * r.step;
        ROW(prefetch_run)(job->y, &r, i);
        ROW(normalise)((REAL *)job->y + at, (const REAL *)job->x + at, &c, job->s);
    }
}

static void ROW(gradients)(const channel_job *job, int64_t block, int64_t segment)
{
    if (!ROW(has_runs)(job)) {
        const ROW(strip) strip = ROW(strip_of)(job, block, segment);
        ROW(gradients_of_columns)(job, &strip);
        return;
    }
    const ROW(runs) r = ROW(runs_of)(job, block, segment);
    const ROW(channel) c = ROW(channel_of)(job, block);
    const ROW(slope) s = ROW(slope_of)(job, block);
    for (int64_t i = 0; i < r.count; i++) {
        const int64_t at = r.at + i * r.step;
        ROW(prefetch_run)(job->y, &r, i);
        ROW(gradient)
        ((REAL *)job->y + at, (const REAL *)job->dy + at, (const REAL *)job->x + at, &c, &s,
         job->s);
    }
}
