// SPDX-License-Identifier: Apache-2.0
// Normalisation of rows: layer, group, instance and root mean square norm. Where the elements of a
// channel lie together (inner > 1) a row is done channel by channel.
#include "base/integer.h"
#include "base/thread_pool.h"
#include "cpu/norm/norm_param.h"
#include "cpu/norm/sums.h"
#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

#define CHUNK    8192 // elements
#define SEGMENTS 64   // of rows at most, each with its sums of the weights' gradients

typedef struct row_job {
    int64_t rows, n;            // of x
    int64_t params, row_params; // weights; of them in a row
    int64_t samples, segments;  // rows of a segment; how many segments
    const void *x, *dy;         /* (rows, n) */
    void *y;                    /* (rows, n): y or dx, or NULL */
    const void *weight, *bias;  /* (params) or NULL */
    double *partial;            /* (segments, 2, params): of dweight and dbias; or NULL */
    char *tile; /* (segments, 2, params), in the type that is computed in; or NULL */
    const tern_norm_args *args;
    const tern_norm_grads *grads;
} row_job;

// Where row r begins in the weights.
static int64_t params_at(const row_job *job, int64_t row)
{
    return row % job->args->groups * job->row_params;
}

// ---- forward ------------------------------------------------------------------------------------

static double mean_of(const row_job *job, const real *x)
{
    adder sum = {.count = 0};
    if (job->args->rms || job->n == 0)
        return 0;
    add_values(&sum, x, job->n);
    flush(&sum);
    return sum.total / (double)job->n;
}

// *mean, whose sum was rounded, gets what the deviations from it add up to.
static real rstd_of(const row_job *job, const real *x, double *mean)
{
    adder deviations = {.count = 0}, squares = {.count = 0};
    if (job->n == 0)
        return 0;
    add_off(&deviations, &squares, x, (real)*mean, job->n);
    flush(&deviations);
    flush(&squares);
    const double off = job->args->rms ? 0 : deviations.total / (double)job->n;
    const double var = squares.total / (double)job->n - off * off;
    *mean = (double)(real)*mean + off;
    return (real)(1 / sqrt((var < 0 ? 0 : var) + job->args->eps));
}

static void write(const row_job *job, real *y, const real *x, int64_t row, real mean, real rstd)
{
    const int64_t inner = job->args->inner, n = job->n, at = params_at(job, row);
    const real *weight = job->weight ? (const real *)job->weight + at : NULL;
    const real *bias = job->bias ? (const real *)job->bias + at : NULL;
    if (inner > 1) {
        for (int64_t k = 0; k < job->row_params; k++) {
            const norm_channel c = {.mean = mean,
                                    .scale = weight ? rstd * weight[k] : rstd,
                                    .shift = bias ? bias[k] : 0};
            normalise(y + k * inner, x + k * inner, &c, inner);
        }
    } else if (weight && bias) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - mean) * rstd * weight[i] + bias[i];
    } else {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - mean) * rstd * (weight ? weight[i] : 1) + (bias ? bias[i] : 0);
    }
}

static void rows(const row_job *job, int64_t segment)
{
    const int64_t first = segment * job->samples;
    real *means = job->args->rms ? NULL : job->args->mean.data, *rstds = job->args->rstd.data;
    for (int64_t row = first; row < min_int64(first + job->samples, job->rows); row++) {
        const real *x = (const real *)job->x + row * job->n;
        double mean = mean_of(job, x);
        rstds[row] = rstd_of(job, x, &mean);
        if (means)
            means[row] = (real)mean;
        write(job, (real *)job->y + row * job->n, x, row, (real)mean, rstds[row]);
    }
}

// ---- backward -----------------------------------------------------------------------------------

// A row: its means of g and of g x^, where g = dy weight and x^ = (x - mean) rstd.
typedef struct norm_row {
    const real *x, *dy, *weight; // weight: of this row, or NULL
    real mean, rstd;
    double gradient, product; // sums of g and g (x - mean)
} norm_row;

// Sums of a segment, of which those of the last rows are still in real; NULL: none are wanted.
typedef struct weight_sums {
    double *dweight, *dbias;
    real *weights, *biases;
} weight_sums;

static weight_sums sums_of(const row_job *job, int64_t segment)
{
    weight_sums sums = {0};
    if (!job->partial)
        return sums;
    const int64_t at = segment * 2 * job->params;
    sums.dweight = job->partial + at;
    sums.dbias = sums.dweight + job->params;
    sums.weights = (real *)(void *)job->tile + at;
    sums.biases = sums.weights + job->params;
    memset(sums.dweight, 0, (size_t)(2 * job->params) * sizeof *sums.dweight);
    memset(sums.weights, 0, (size_t)(2 * job->params) * sizeof *sums.weights);
    return sums;
}

static void flush_sums(const row_job *job, const weight_sums *sums)
{
    for (int64_t i = 0; i < 2 * job->params; i++) {
        sums->dweight[i] += (double)sums->weights[i];
        sums->weights[i] = 0;
    }
}

// A chunk of a row whose elements have a weight each: n <= REDUCE_CHUNK.
VEC_INLINE void sum_chunk(norm_row *r, int64_t from, int64_t n, real *dweight, real *dbias)
{
    const real *x = r->x + from, *dy = r->dy + from, *weight = r->weight ? r->weight + from : NULL;
    const real mean = r->mean, rstd = r->rstd;
    vec gradient[2] = {{0}}, product[2] = {{0}};
    real g_rest = 0, p_rest = 0;
    int64_t i = 0;
    for (; i + 2 * VEC_WIDTH <= n; i += 2 * VEC_WIDTH)
        for (int k = 0; k < 2; k++) {
            const int64_t at = i + k * VEC_WIDTH;
            const vec off = vec_load(x + at) - mean, d = vec_load(dy + at);
            const vec g = weight ? d * vec_load(weight + at) : d;
            gradient[k] += g;
            product[k] += g * off;
            if (dweight) {
                *(vec_unaligned *)(dweight + at) += d * (off * rstd);
                *(vec_unaligned *)(dbias + at) += d;
            }
        }
    for (; i < n; i++) {
        const real off = x[i] - mean, g = weight ? dy[i] * weight[i] : dy[i];
        g_rest += g;
        p_rest += g * off;
        if (dweight) {
            dweight[i] += dy[i] * (off * rstd);
            dbias[i] += dy[i];
        }
    }
    r->gradient += (double)(vec_reduce_add(gradient[0] + gradient[1]) + g_rest);
    r->product += (double)(vec_reduce_add(product[0] + product[1]) + p_rest);
}

static void sum_elements(const row_job *job, norm_row *r, const weight_sums *sums, int64_t at)
{
    for (int64_t i = 0; i < job->n; i += REDUCE_CHUNK) {
        const int64_t n = min_int64(REDUCE_CHUNK, job->n - i);
        if (sums->weights)
            sum_chunk(r, i, n, sums->weights + at + i, sums->biases + at + i);
        else
            sum_chunk(r, i, n, NULL, NULL);
    }
}

static void sum_channels(const row_job *job, norm_row *r, const weight_sums *sums, int64_t at)
{
    const int64_t inner = job->args->inner;
    const norm_channel channel = {.mean = r->mean};
    for (int64_t k = 0; k < job->row_params; k++) {
        adder gradient = {.count = 0}, product = {.count = 0};
        add_pairs(&gradient, &product, r->dy + k * inner, r->x + k * inner, &channel, inner);
        flush(&gradient);
        flush(&product);
        const double weight = r->weight ? (double)r->weight[k] : 1;
        r->gradient += gradient.total * weight;
        r->product += product.total * weight;
        if (sums->dweight) {
            sums->dweight[at + k] += product.total * (double)r->rstd;
            sums->dbias[at + k] += gradient.total;
        }
    }
}

static void write_grad(const row_job *job, real *dx, const norm_row *r)
{
    const int64_t inner = job->args->inner, n = job->n;
    const double rstd = (double)r->rstd, count = (double)n;
    const real first = job->args->rms ? 0 : (real)(r->gradient / count);
    const real second = (real)(r->product * rstd / count);
    const norm_row own = *r;
    if (inner > 1) {
        for (int64_t k = 0; k < job->row_params; k++) {
            const real weight = r->weight ? r->weight[k] : 1;
            ELEMENTWISE_LOOP
            for (int64_t i = k * inner; i < (k + 1) * inner; i++)
                dx[i] = (own.dy[i] * weight - first - (own.x[i] - own.mean) * own.rstd * second) *
                        own.rstd;
        }
        return;
    }
    ELEMENTWISE_LOOP
    for (int64_t i = 0; i < n; i++) {
        const real g = own.weight ? own.dy[i] * own.weight[i] : own.dy[i];
        dx[i] = (g - first - (own.x[i] - own.mean) * own.rstd * second) * own.rstd;
    }
}

static void rows_grad(const row_job *job, int64_t segment)
{
    const int64_t first = segment * job->samples;
    const int64_t last = min_int64(first + job->samples, job->rows);
    const weight_sums sums = sums_of(job, segment);
    for (int64_t row = first; row < last; row++) {
        const int64_t at = params_at(job, row);
        norm_row r = {.x = (const real *)job->x + row * job->n,
                      .dy = (const real *)job->dy + row * job->n,
                      .weight = job->weight ? (const real *)job->weight + at : NULL,
                      .rstd = ((const real *)job->args->rstd.data)[row]};
        if (!job->args->rms)
            r.mean = ((const real *)job->args->mean.data)[row];
        if (job->args->inner > 1)
            sum_channels(job, &r, &sums, at);
        else
            sum_elements(job, &r, &sums, at);
        if (job->y)
            write_grad(job, (real *)job->y + row * job->n, &r);
        if (sums.weights && job->args->inner == 1 &&
            ((row - first + 1) % REDUCE_ROWS == 0 || row + 1 == last))
            flush_sums(job, &sums);
    }
}

typedef void segment_fn(const row_job *job, int64_t segment);

typedef struct row_run {
    row_job job;
    segment_fn *segment;
} row_run;

static void run_segment(void *context, int64_t segment)
{
    const row_run *run = context;
    run->segment(&run->job, segment);
}

// Segments of so many rows, each with sums of its own where `sums`: those stay small beside x.
static row_job job_of(const tern_norm_args *args, bool sums)
{
    row_job job = {.rows = args->x.size[0], .n = args->x.size[1], .args = args};
    job.row_params = job.n / args->inner;
    job.params = job.row_params * args->groups;
    int64_t samples = CHUNK / (job.n + 1) + 1;
    if (sums) {
        const int64_t few = 4 * job.params / (job.n + !job.n);
        samples = samples > few ? samples : few;
        samples = job.rows / samples > SEGMENTS ? (job.rows + SEGMENTS - 1) / SEGMENTS : samples;
    }
    job.samples = samples;
    job.segments = (job.rows + samples - 1) / samples;
    return job;
}

// ---- the gradients of weight and bias -----------------------------------------------------------

#define PARAM_CHUNK 2048

static void add_segments(void *context, int64_t chunk)
{
    const row_job *job = context;
    const tern_strided *views[] = {job->grads->dweight, job->grads->dbias};
    const int64_t first = chunk * PARAM_CHUNK;
    for (int64_t i = first; i < min_int64(first + PARAM_CHUNK, job->params); i++)
        for (int k = 0; k < 2; k++) {
            double sum = 0;
            for (int64_t s = 0; s < job->segments; s++)
                sum += job->partial[(s * 2 + k) * job->params + i];
            if (views[k])
                norm_param_set(views[k], i, sum);
        }
}

// ---- kernels ------------------------------------------------------------------------------------

typedef struct row_memory {
    norm_param weight, bias;
    tern_strided upcast[3]; // of y, x and dy
    char *sums;
    size_t nbytes;
} row_memory;

// y: as in take; it is written unless the status says that something failed.
static tern_status give_back(row_memory *m, const tern_strided *y, tern_status status)
{
    tern_cache_free(m->sums, m->nbytes);
    norm_param_free(&m->bias);
    norm_param_free(&m->weight);
    return upcast_end(m->upcast, 3, y, status);
}

// y: y or dx, or NULL; dy: NULL forward.
static tern_status take(row_memory *m, row_job *job, const tern_strided *y, const tern_strided *dy,
                        bool sums)
{
    const size_t count = (size_t)(job->segments * 2 * job->params);
    TERN_TRY(norm_param_load(&m->weight, job->args->weight));
    TERN_TRY(norm_param_load(&m->bias, job->args->bias));
    job->weight = m->weight.data;
    job->bias = m->bias.data;
    const tern_strided *views[] = {y, &job->args->x, dy};
    if (upcast_needed(job->args->x.dtype))
        TERN_TRY(upcast_begin(m->upcast, views, 3));
    job->y = y ? views[0]->data : NULL;
    job->x = views[1]->data;
    job->dy = dy ? views[2]->data : NULL;
    if (sums) {
        const size_t nbytes = count * 2 * sizeof(double);
        m->sums = tern_cache_alloc(nbytes);
        if (!m->sums)
            return TERN_ERR_NOMEM;
        m->nbytes = nbytes;
        job->partial = (double *)(void *)m->sums;
        job->tile = m->sums + count * sizeof(double);
    }
    return TERN_OK;
}

typedef tern_status norm_fn(const tern_norm_args *args, const tern_strided *y);
typedef tern_status norm_grad_fn(const tern_norm_args *args, const tern_norm_grads *grads,
                                 const tern_strided *dy);
REAL_DECLARE(norm_fn, norm);
REAL_DECLARE(norm_grad_fn, norm_grad);

tern_status REAL_NAME(norm)(const tern_norm_args *args, const tern_strided *y)
{
    row_run run = {.job = job_of(args, false)};
    row_memory memory = {0};
    const tern_status status = take(&memory, &run.job, y, NULL, false);
    if (status == TERN_OK) {
        run.segment = rows;
        tern_pool_run(run.job.segments, run_segment, &run);
    }
    return give_back(&memory, y, status);
}

tern_status REAL_NAME(norm_grad)(const tern_norm_args *args, const tern_norm_grads *grads,
                                 const tern_strided *dy)
{
    const bool sums = grads->dweight || grads->dbias;
    row_run run = {.job = job_of(args, sums)};
    row_memory memory = {0};
    run.job.grads = grads;
    const tern_status status = take(&memory, &run.job, grads->dx, dy, sums);
    if (status == TERN_OK) {
        run.segment = rows_grad;
        tern_pool_run(run.job.segments, run_segment, &run);
        if (sums)
            tern_pool_run((run.job.params + PARAM_CHUNK - 1) / PARAM_CHUNK, add_segments, &run.job);
    }
    return give_back(&memory, grads->dx, status);
}

#if REAL_IS_FLOAT
tern_status TERN_ISA_NAME(norm)(const tern_exec *exec, const tern_norm_args *args,
                                const tern_strided *y)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating("norm", args->x.dtype));
    return REAL_SELECT(args->x.dtype, norm)(args, y);
}

tern_status TERN_ISA_NAME(norm_grad)(const tern_exec *exec, const tern_norm_args *args,
                                     const tern_norm_grads *grads, const tern_strided *dy)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating("norm_grad", args->x.dtype));
    return REAL_SELECT(args->x.dtype, norm_grad)(args, grads, dy);
}
#endif
