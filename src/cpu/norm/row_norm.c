// SPDX-License-Identifier: Apache-2.0
// Normalisation of rows: layer, group, instance and root mean square norm.
#include <math.h>

#include "base/pool.h"
#include "cpu/elementwise/elementwise.h"
#include "cpu/norm/norm_param.h"
#include "cpu/reduce/fold_ops.h"
#include "cpu/vecmath.h"
#include "cpu/wide.h"
#include "device/kernel_dtype.h"

#define PIECE    8192 // elements
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

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#define REAL      float
#define REAL_BITS int32_t
#define ROW_EXP   vm_exp_below
#define ROW(name) float_##name
#include "cpu/row.h"
#include "cpu/norm/sums_real.h"
#include "cpu/norm/row_norm_real.h"
#undef REAL
#undef REAL_BITS
#undef ROW_EXP
#undef ROW

#define REAL      double
#define REAL_BITS int64_t
#define ROW_EXP   exp
#define ROW(name) double_##name
#include "cpu/row.h"
#include "cpu/norm/sums_real.h"
#include "cpu/norm/row_norm_real.h"

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
    int64_t samples = PIECE / (job.n + 1) + 1;
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

#define PARAM_PIECE 2048

static void add_segments(void *context, int64_t piece)
{
    const row_job *job = context;
    const tern_strided *views[] = {job->grads->dweight, job->grads->dbias};
    const int64_t first = piece * PARAM_PIECE;
    for (int64_t i = first; i < smaller(first + PARAM_PIECE, job->params); i++)
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
    tern_strided x, y, dy; // float32 copies of 16-bit tensors
    char *sums;
    size_t nbytes;
} row_memory;

static void give_back(row_memory *m)
{
    wide_free(&m->dy);
    wide_free(&m->y);
    wide_free(&m->x);
    tern_cache_free(m->sums, m->nbytes);
    norm_param_free(&m->bias);
    norm_param_free(&m->weight);
}

static tern_status widen(row_memory *m, row_job *job, const tern_strided *y, const tern_strided *dy)
{
    TERN_TRY(wide_copy(&m->x, &job->args->x));
    job->x = m->x.data;
    if (dy) {
        TERN_TRY(wide_copy(&m->dy, dy));
        job->dy = m->dy.data;
    }
    if (y) {
        TERN_TRY(wide_new(&m->y, y));
        job->y = m->y.data;
    }
    return TERN_OK;
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
    job->x = job->args->x.data;
    job->y = y ? y->data : NULL;
    job->dy = dy ? dy->data : NULL;
    if (sums) {
        const size_t nbytes = count * 2 * sizeof(double);
        m->sums = tern_cache_alloc(nbytes);
        if (!m->sums)
            return TERN_ERR_NOMEM;
        m->nbytes = nbytes;
        job->partial = (double *)(void *)m->sums;
        job->tile = m->sums + count * sizeof(double);
    }
    return wide_needed(job->args->x.dtype) ? widen(m, job, y, dy) : TERN_OK;
}

tern_status TERN_ISA_NAME(norm)(const tern_exec *exec, const tern_norm_args *args,
                                const tern_strided *y)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating("norm", args->x.dtype));
    row_run run = {.job = job_of(args, false)};
    row_memory memory = {0};
    const tern_status status = take(&memory, &run.job, y, NULL, false);
    if (status == TERN_OK) {
        run.segment = args->x.dtype == TERN_FLOAT64 ? double_rows : float_rows;
        tern_pool_run(run.job.segments, run_segment, &run);
        if (memory.y.data)
            wide_store(y, &memory.y);
    }
    give_back(&memory);
    return status;
}

tern_status TERN_ISA_NAME(norm_grad)(const tern_exec *exec, const tern_norm_args *args,
                                     const tern_norm_grads *grads, const tern_strided *dy)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating("norm_grad", args->x.dtype));
    const bool sums = grads->dweight || grads->dbias;
    row_run run = {.job = job_of(args, sums)};
    row_memory memory = {0};
    run.job.grads = grads;
    const tern_status status = take(&memory, &run.job, grads->dx, dy, sums);
    if (status == TERN_OK) {
        run.segment = args->x.dtype == TERN_FLOAT64 ? double_rows_grad : float_rows_grad;
        tern_pool_run(run.job.segments, run_segment, &run);
        if (sums)
            tern_pool_run((run.job.params + PARAM_PIECE - 1) / PARAM_PIECE, add_segments, &run.job);
        if (memory.y.data)
            wide_store(grads->dx, &memory.y);
    }
    give_back(&memory);
    return status;
}
