// SPDX-License-Identifier: Apache-2.0
// Units of batch normalisation. A channel of a sample is a run of S elements; where runs are short,
// columns of (N, C S) are done side by side.
#include "cpu/norm/batch_norm.h"
#include "cpu/norm/sums.h"

#define CACHED     (1 << 18) // elements of a tensor; in larger ones runs of so many bytes
#define PREFETCHED 2048      // are prefetched

// The mean, which was rounded, and the sum of squares from the deviations from it: their sum and
// that of their squares.
static void join_moments(double part[2], double mean, double count, double off, double squares)
{
    const double mean_off = count > 0 ? off / count : 0, about = squares - off * mean_off;
    part[0] = mean + mean_off;
    part[1] = about < 0 ? 0 : about;
}

static norm_channel channel_of(const channel_job *job, int64_t c)
{
    const tern_batch_norm_args *args = job->args;
    const real *weight = job->weight, *bias = job->bias;
    const real rstd = ((const real *)args->rstd.data)[c];
    return (norm_channel){.mean = ((const real *)args->mean.data)[c],
                          .scale = weight ? rstd * weight[c] : rstd,
                          .shift = bias ? bias[c] : 0,
                          .relu = args->relu};
}

static norm_slope slope_of(const channel_job *job, int64_t c)
{
    const double *means = job->partial + c * 2;
    return (norm_slope){.rstd = ((const real *)job->args->rstd.data)[c],
                        .first = (real)means[0],
                        .second = (real)means[1],
                        .scale = channel_of(job, c).scale,
                        .constant = !job->args->batch};
}

// ---- runs ---------------------------------------------------------------------------------------

// A channel of some samples: run i is `step` behind run i - 1.
typedef struct runs {
    int64_t count, at, step;
    int64_t ahead; // bytes of the next run that are prefetched
} runs;

static runs runs_of(const channel_job *job, int64_t c, int64_t segment)
{
    const int64_t nbytes = job->s * (int64_t)sizeof(real);
    const bool ahead = nbytes <= PREFETCHED && job->n * job->c * job->s >= CACHED;
    return (runs){.count = samples_of(job, segment),
                  .at = (segment * job->samples * job->c + c) * job->s,
                  .step = job->c * job->s,
                  .ahead = ahead ? nbytes : 0};
}

// The processor finds the lines of a long run, but not where the next run begins.
VEC_INLINE void prefetch_run(const void *data, const runs *r, int64_t i)
{
    const char *x = (const char *)((const real *)data + r->at + (i + 1) * r->step);
    for (int64_t line = 0; i + 1 < r->count && line < r->ahead; line += 64)
        __builtin_prefetch(x + line);
}

static void moments_of_runs(const channel_job *job, int64_t c, int64_t segment)
{
    const runs r = runs_of(job, c, segment);
    const real *x = (const real *)job->x + r.at;
    double *part = job->partial + (segment * job->c + c) * 2;
    const double count = (double)r.count * (double)job->s;
    adder sum = {.count = 0}, off = {.count = 0}, squares = {.count = 0};
    for (int64_t i = 0; i < r.count; i++) {
        prefetch_run(job->x, &r, i);
        add_values(&sum, x + i * r.step, job->s);
    }
    flush(&sum);
    const real mean = (real)(count > 0 ? sum.total / count : 0);
    for (int64_t i = 0; i < r.count; i++)
        add_off(&off, &squares, x + i * r.step, mean, job->s);
    flush(&off);
    flush(&squares);
    join_moments(part, (double)mean, count, off.total, squares.total);
}

static void sums_of_runs(const channel_job *job, int64_t c, int64_t segment)
{
    const runs r = runs_of(job, c, segment);
    const norm_channel channel = channel_of(job, c);
    const real *x = (const real *)job->x + r.at, *dy = (const real *)job->dy + r.at;
    double *part = job->partial + (segment * job->c + c) * 2;
    adder gradient = {.count = 0}, product = {.count = 0};
    for (int64_t i = 0; i < r.count; i++) {
        prefetch_run(job->x, &r, i);
        prefetch_run(job->dy, &r, i);
        add_pairs(&gradient, &product, dy + i * r.step, x + i * r.step, &channel, job->s);
    }
    flush(&gradient);
    flush(&product);
    part[0] = gradient.total;
    part[1] = product.total;
}

// ---- columns ------------------------------------------------------------------------------------

// Columns of some samples, from channel `first` on.
typedef struct channel_strip {
    int64_t first, channels, cols, rows, at, step;
} channel_strip;

static channel_strip strip_of(const channel_job *job, int64_t block, int64_t segment)
{
    const int64_t first = block * job->block, channels = min_int64(job->block, job->c - first);
    return (channel_strip){.first = first,
                           .channels = channels,
                           .cols = channels * job->s,
                           .rows = samples_of(job, segment),
                           .at = (segment * job->samples * job->c + first) * job->s,
                           .step = job->c * job->s};
}

// Row r of the sums in real goes to those in double every REDUCE_ROWS rows, and at the end.
VEC_INLINE void flush_columns(double *total, real *part, int64_t r, const channel_strip *strip)
{
    if ((r + 1) % REDUCE_ROWS != 0 && r + 1 != strip->rows)
        return;
    for (int64_t j = 0; j < strip->cols; j++) {
        total[j] += (double)part[j];
        part[j] = 0;
    }
}

// The columns of a channel, together.
static double channel_sum(const double *total, const channel_job *job, int64_t k)
{
    double sum = 0;
    for (int64_t j = 0; j < job->s; j++)
        sum += total[k * job->s + j];
    return sum;
}

static void moments_of_columns(const channel_job *job, const channel_strip *strip, int64_t segment)
{
    const real *x = (const real *)job->x + strip->at;
    double *part = job->partial + (segment * job->c + strip->first) * 2;
    const double count = (double)strip->rows * (double)job->s;
    double sum[COLS] = {0}, squares[COLS] = {0};
    real some[COLS] = {0}, products[COLS] = {0}, mean[COLS] = {0};
    for (int64_t r = 0; r < strip->rows; r++) {
        ELEMENTWISE_LOOP
        for (int64_t j = 0; j < strip->cols; j++)
            some[j] += x[r * strip->step + j];
        flush_columns(sum, some, r, strip);
    }
    for (int64_t k = 0; k < strip->channels; k++) {
        part[k * 2] = count > 0 ? channel_sum(sum, job, k) / count : 0;
        for (int64_t j = 0; j < job->s; j++)
            mean[k * job->s + j] = (real)part[k * 2];
    }
    memset(sum, 0, sizeof sum);
    for (int64_t r = 0; r < strip->rows; r++) {
        ELEMENTWISE_LOOP
        for (int64_t j = 0; j < strip->cols; j++) {
            const real off = x[r * strip->step + j] - mean[j];
            some[j] += off;
            products[j] += off * off;
        }
        flush_columns(sum, some, r, strip);
        flush_columns(squares, products, r, strip);
    }
    for (int64_t k = 0; k < strip->channels; k++)
        join_moments(part + k * 2, (double)(real)part[k * 2], count, channel_sum(sum, job, k),
                     channel_sum(squares, job, k));
}

// What each column goes through.
typedef struct columns {
    real mean[COLS], scale[COLS], shift[COLS], rstd[COLS], first[COLS], second[COLS];
} columns;

static void spread(columns *to, const channel_job *job, const channel_strip *strip, bool backward)
{
    for (int64_t j = 0, k = 0; k < strip->channels; k++) {
        const norm_channel c = channel_of(job, strip->first + k);
        const norm_slope s = backward ? slope_of(job, strip->first + k) : (norm_slope){.rstd = 0};
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

static void sums_of_columns(const channel_job *job, const channel_strip *strip, int64_t segment)
{
    columns column;
    const bool relu = job->args->relu;
    double *part = job->partial + (segment * job->c + strip->first) * 2;
    double gradient[COLS] = {0}, product[COLS] = {0};
    real some[COLS] = {0}, products[COLS] = {0};
    spread(&column, job, strip, false);
    for (int64_t r = 0; r < strip->rows; r++) {
        const real *x = (const real *)job->x + strip->at + r * strip->step;
        const real *dy = (const real *)job->dy + strip->at + r * strip->step;
        ELEMENTWISE_LOOP
        for (int64_t j = 0; j < strip->cols; j++) {
            const real off = x[j] - column.mean[j];
            const real dz = relu && off * column.scale[j] + column.shift[j] <= 0 ? 0 : dy[j];
            some[j] += dz;
            products[j] += dz * off;
        }
        flush_columns(gradient, some, r, strip);
        flush_columns(product, products, r, strip);
    }
    for (int64_t k = 0; k < strip->channels; k++) {
        part[k * 2] = channel_sum(gradient, job, k);
        part[k * 2 + 1] = channel_sum(product, job, k);
    }
}

static void elements_of_columns(const channel_job *job, const channel_strip *strip)
{
    columns column;
    const bool relu = job->args->relu;
    spread(&column, job, strip, false);
    for (int64_t r = 0; r < strip->rows; r++) {
        const real *x = (const real *)job->x + strip->at + r * strip->step;
        real *y = (real *)job->y + strip->at + r * strip->step;
        ELEMENTWISE_LOOP
        for (int64_t j = 0; j < strip->cols; j++) {
            const real z = (x[j] - column.mean[j]) * column.scale[j] + column.shift[j];
            y[j] = relu && z <= 0 ? 0 : z;
        }
    }
}

static void gradients_of_columns(const channel_job *job, const channel_strip *strip)
{
    columns column;
    const bool relu = job->args->relu, constant = !job->args->batch;
    spread(&column, job, strip, true);
    for (int64_t r = 0; r < strip->rows; r++) {
        const real *x = (const real *)job->x + strip->at + r * strip->step;
        const real *dy = (const real *)job->dy + strip->at + r * strip->step;
        real *dx = (real *)job->y + strip->at + r * strip->step;
        ELEMENTWISE_LOOP
        for (int64_t j = 0; j < strip->cols; j++) {
            const real off = x[j] - column.mean[j];
            const real dz = relu && off * column.scale[j] + column.shift[j] <= 0 ? 0 : dy[j];
            const real all = dz - column.first[j] - off * column.rstd[j] * column.second[j];
            dx[j] = (constant ? dz : all) * column.scale[j];
        }
    }
}

// ---- units --------------------------------------------------------------------------------------

static bool has_runs(const channel_job *job)
{
    return job->s >= SHORT_RUN;
}

void REAL_NAME(batch_norm_moments)(const channel_job *job, int64_t block, int64_t segment)
{
    const channel_strip strip = strip_of(job, block, segment);
    if (has_runs(job))
        moments_of_runs(job, block, segment);
    else
        moments_of_columns(job, &strip, segment);
}

void REAL_NAME(batch_norm_sums)(const channel_job *job, int64_t block, int64_t segment)
{
    const channel_strip strip = strip_of(job, block, segment);
    if (has_runs(job))
        sums_of_runs(job, block, segment);
    else
        sums_of_columns(job, &strip, segment);
}

void REAL_NAME(batch_norm_elements)(const channel_job *job, int64_t block, int64_t segment)
{
    if (!has_runs(job)) {
        const channel_strip strip = strip_of(job, block, segment);
        elements_of_columns(job, &strip);
        return;
    }
    const runs r = runs_of(job, block, segment);
    const norm_channel c = channel_of(job, block);
    for (int64_t i = 0; i < r.count; i++) {
        const int64_t at = r.at + i * r.step;
        prefetch_run(job->y, &r, i);
        normalise((real *)job->y + at, (const real *)job->x + at, &c, job->s);
    }
}

void REAL_NAME(batch_norm_gradients)(const channel_job *job, int64_t block, int64_t segment)
{
    if (!has_runs(job)) {
        const channel_strip strip = strip_of(job, block, segment);
        gradients_of_columns(job, &strip);
        return;
    }
    const runs r = runs_of(job, block, segment);
    const norm_channel c = channel_of(job, block);
    const norm_slope s = slope_of(job, block);
    for (int64_t i = 0; i < r.count; i++) {
        const int64_t at = r.at + i * r.step;
        prefetch_run(job->y, &r, i);
        gradient((real *)job->y + at, (const real *)job->dy + at, (const real *)job->x + at, &c, &s,
                 job->s);
    }
}
