// SPDX-License-Identifier: Apache-2.0
// Normalisation of the channels of (N, C, S). A channel of few elements is done at once, while they
// are in the cache; others in segments of samples, whose counts, means and sums of squares are
// combined: T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for
// computing sample variances", 1979.
#include "cpu/norm/batch_norm.h"

#include <math.h>

#include "base/thread_pool.h"
#include "cpu/norm/norm_param.h"
#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

#define SEGMENT      65536 // elements of a channel
#define UNITS        16    // as many at least, where channels are few and have
#define MIN_ELEMENTS 4096  // elements for each

// Elements of a channel in all samples.
static double count_of(const channel_job *job)
{
    return (double)job->n * (double)job->s;
}

// ---- channels, when all their sums are there ----------------------------------------------------

typedef struct moments {
    double count, mean, squares; // squares: of the deviations from the mean, their sum
} moments;

static moments moments_of(const channel_job *job, int64_t c)
{
    moments all = {0};
    for (int64_t i = 0; i < job->segments; i++) {
        const double *part = job->partial + (i * job->c + c) * 2;
        const double some = (double)samples_of(job, i) * (double)job->s;
        const double count = all.count + some, off = part[0] - all.mean;
        if (some == 0)
            continue;
        all.mean += off * (some / count);
        all.squares += part[1] + off * off * (all.count * some / count);
        all.count = count;
    }
    return all;
}

static void update_running_stats(const tern_strided *running, int64_t c, double momentum,
                                 double value)
{
    if (running)
        norm_param_set(running, c, (1 - momentum) * norm_param_get(running, c) + momentum * value);
}

// Mean and rstd of a channel; the running statistics follow.
static void finish(const channel_job *job, int64_t c)
{
    const tern_batch_norm_args *args = job->args;
    moments m = {.count = 1};
    double var;
    if (args->batch) {
        m = moments_of(job, c);
        var = m.count > 0 ? m.squares / m.count : 1;
    } else {
        m.mean = norm_param_get(args->running_mean, c);
        var = norm_param_get(args->running_var, c);
    }
    norm_param_set(&args->mean, c, m.mean);
    norm_param_set(&args->rstd, c, 1 / sqrt(var + args->eps));
    if (args->batch && m.count > 0) {
        update_running_stats(args->running_mean, c, job->momentum, m.mean);
        update_running_stats(args->running_var, c, job->momentum, m.squares / (m.count - 1));
    }
}

// The gradients of weight and bias; the means of dz and of dz x^ stay in segment 0.
static void finish_grad(const channel_job *job, int64_t c)
{
    double *all = job->partial + c * 2;
    const double rstd = norm_param_get(&job->args->rstd, c), count = count_of(job);
    for (int64_t i = 1; i < job->segments; i++) {
        all[0] += job->partial[(i * job->c + c) * 2];
        all[1] += job->partial[(i * job->c + c) * 2 + 1];
    }
    if (job->grads->dweight)
        norm_param_set(job->grads->dweight, c, all[1] * rstd);
    if (job->grads->dbias)
        norm_param_set(job->grads->dbias, c, all[0]);
    all[0] /= count;
    all[1] *= rstd / count;
}

// ---- units --------------------------------------------------------------------------------------

typedef void channel_fn(const channel_job *job, int64_t c);

// First the sums of all units (or NULL), then the channels, then the elements (or NULL).
typedef struct channel_run {
    channel_job job;
    batch_norm_unit_fn *sums, *elements;
    channel_fn *channel;
    batch_norm_unit_fn *phase;
} channel_run;

static void each_channel(const channel_run *run, int64_t block)
{
    const int64_t first = block * run->job.block;
    for (int64_t c = first; c < min_int64(first + run->job.block, run->job.c); c++)
        run->channel(&run->job, c);
}

static void run_channels(void *context, int64_t block)
{
    each_channel(context, block);
}

static void run_unit(void *context, int64_t unit)
{
    const channel_run *run = context;
    run->phase(&run->job, unit % run->job.blocks, unit / run->job.blocks);
}

// A block of channels, which has one segment, from the sums to the elements.
static void run_block(void *context, int64_t block)
{
    const channel_run *run = context;
    if (run->sums)
        run->sums(&run->job, block, 0);
    each_channel(run, block);
    if (run->elements)
        run->elements(&run->job, block, 0);
}

static void run_all(channel_run *run)
{
    const int64_t units = run->job.blocks * run->job.segments;
    if (run->job.segments == 1) {
        tern_pool_run(units, run_block, run);
        return;
    }
    run->phase = run->sums;
    if (run->sums)
        tern_pool_run(units, run_unit, run);
    tern_pool_run(run->job.blocks, run_channels, run);
    run->phase = run->elements;
    if (run->elements)
        tern_pool_run(units, run_unit, run);
}

// Cuts (N, C, S) by its sizes alone.
static channel_job job_of(const tern_batch_norm_args *args)
{
    channel_job job = {.n = args->x.size[0], .c = args->x.size[1], .s = args->x.size[2]};
    job.args = args;
    job.block = job.s < SHORT_RUN ? COLS / (job.s + !job.s) : 1;
    job.blocks = (job.c + job.block - 1) / job.block;
    const int64_t wanted = job.blocks ? (UNITS + job.blocks - 1) / job.blocks : 1;
    const int64_t row = job.s * job.block + !job.s;
    int64_t samples = (job.n + wanted - 1) / wanted;
    samples = samples * row < MIN_ELEMENTS ? MIN_ELEMENTS / row + 1 : samples;
    job.samples = min_int64(samples, SEGMENT / row + 1);
    job.segments = job.n > job.samples ? (job.n + job.samples - 1) / job.samples : 1;
    return job;
}

// ---- kernels ------------------------------------------------------------------------------------

typedef struct channel_memory {
    norm_param weight, bias;
    tern_strided upcast[3]; // of y, x and dy
    double *partial;
    size_t nbytes;
} channel_memory;

// y: as in take; it is written unless the status says that something failed.
static tern_status give_back(channel_memory *m, const tern_strided *y, tern_status status)
{
    tern_cache_free(m->partial, m->nbytes);
    norm_param_free(&m->bias);
    norm_param_free(&m->weight);
    return upcast_end(m->upcast, 3, y, status);
}

// y: y or dx, or NULL; dy: NULL forward.
static tern_status take(channel_memory *m, channel_job *job, const tern_strided *y,
                        const tern_strided *dy)
{
    const tern_batch_norm_args *args = job->args;
    *m = (channel_memory){0};
    TERN_TRY(norm_param_load(&m->weight, args->weight));
    TERN_TRY(norm_param_load(&m->bias, args->bias));
    job->weight = m->weight.data;
    job->bias = m->bias.data;
    const size_t nbytes = (size_t)(job->segments * job->c) * 2 * sizeof *m->partial;
    job->partial = m->partial = tern_cache_alloc(nbytes);
    if (!m->partial)
        return TERN_ERR_NOMEM;
    m->nbytes = nbytes;
    const tern_strided *views[] = {y, &args->x, dy};
    if (upcast_needed(args->x.dtype))
        TERN_TRY(upcast_begin(m->upcast, views, 3));
    job->y = y ? views[0]->data : NULL;
    job->x = views[1]->data;
    job->dy = dy ? views[2]->data : NULL;
    return TERN_OK;
}

// One more batch counts; its weight in the running statistics.
static double count_batch(const tern_batch_norm_args *args)
{
    if (args->batch && args->batches)
        ++*args->batches;
    if (isnan(args->momentum))
        return args->batches ? 1 / (double)*args->batches : 0;
    return args->momentum;
}

tern_status TERN_ISA_NAME(batch_norm)(const tern_exec *exec, const tern_batch_norm_args *args,
                                      const tern_strided *y)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating("batch_norm", args->x.dtype));
    channel_run run = {.job = job_of(args),
                       .elements = REAL_SELECT(args->x.dtype, batch_norm_elements),
                       .channel = finish};
    channel_memory memory;
    const tern_status status = take(&memory, &run.job, y, NULL);
    if (status == TERN_OK) {
        if (args->batch)
            run.sums = REAL_SELECT(args->x.dtype, batch_norm_moments);
        run.job.momentum = count_batch(args);
        run_all(&run);
    }
    return give_back(&memory, y, status);
}

tern_status TERN_ISA_NAME(batch_norm_grad)(const tern_exec *exec, const tern_batch_norm_args *args,
                                           const tern_norm_grads *grads, const tern_strided *dy)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating("batch_norm_grad", args->x.dtype));
    channel_run run = {.job = job_of(args), .channel = finish_grad};
    channel_memory memory;
    run.job.grads = grads;
    const tern_status status = take(&memory, &run.job, grads->dx, dy);
    if (status == TERN_OK) {
        run.sums = REAL_SELECT(args->x.dtype, batch_norm_sums);
        if (grads->dx)
            run.elements = REAL_SELECT(args->x.dtype, batch_norm_gradients);
        run_all(&run);
    }
    return give_back(&memory, grads->dx, status);
}
