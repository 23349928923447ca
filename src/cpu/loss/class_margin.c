// SPDX-License-Identifier: Apache-2.0
// Margins between the scores of a sample's own classes and those of the others.
#include "base/thread_pool.h"
#include "cpu/fault.h"
#include "cpu/real.h"
#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

#define CHUNK 16384 // elements

enum { RESULT, X, WEIGHT, DLOSS, MAX_VIEWS };

typedef struct margin_job {
    const tern_exec *exec;
    const tern_class_margin_args *args;
    const tern_strided *views[MAX_VIEWS]; // the result is loss (N) or dx (N, C)
} margin_job;

static real *data_of(const margin_job *job, int view)
{
    return job->views[view] ? job->views[view]->data : NULL;
}

// One sample.
typedef struct margin_row {
    const real *x; // (C)
    const real *weight;
    const int64_t *own; // its classes
    int64_t classes, own_count;
    real margin;
    int p;
} margin_row;

// Without classes of its own where one of them is out of range.
static margin_row row_at(const margin_job *job, int64_t n, bool report)
{
    const tern_class_margin_args *args = job->args;
    const int64_t listed = args->target.size[1], classes = args->x.size[1];
    margin_row row = {.x = data_of(job, X) + n * classes,
                      .weight = data_of(job, WEIGHT),
                      .own = (const int64_t *)args->target.data + n * listed,
                      .classes = classes,
                      .margin = (real)args->margin,
                      .p = args->p};
    for (; row.own_count < listed; row.own_count++) {
        const int64_t own = row.own[row.own_count];
        if (args->lists && own == -1)
            break;
        if (own >= 0 && own < classes)
            continue;
        if (report)
            tern_cpu_fault(job->exec, n * listed + row.own_count, own);
        row.own_count = 0;
        break;
    }
    return row;
}

static bool is_own(const margin_row *row, int64_t c)
{
    for (int64_t k = 0; k < row->own_count; k++)
        if (row->own[k] == c)
            return true;
    return false;
}

// By what class i is too close to the own class t; NaN stays.
static real excess(const margin_row *row, int64_t t, int64_t i)
{
    const real z = row->margin - row->x[t] + row->x[i];
    return z <= 0 ? 0 : z;
}

static real weight_of(const margin_row *row, int64_t t)
{
    return row->weight ? row->weight[t] : 1;
}

static real row_loss(const margin_row *row)
{
    double sum = 0;
    for (int64_t k = 0; k < row->own_count; k++) {
        const int64_t t = row->own[k];
        double own = 0;
        for (int64_t i = 0; i < row->classes; i++) {
            const real z = is_own(row, i) ? 0 : excess(row, t, i);
            own += (double)(row->p == 1 ? z : z * z);
        }
        sum += (double)weight_of(row, t) * own;
    }
    return (real)(sum / (double)row->classes);
}

static void row_gradient(const margin_row *row, real g, real *dx)
{
    for (int64_t i = 0; i < row->classes; i++)
        dx[i] = 0;
    for (int64_t k = 0; k < row->own_count; k++) {
        const int64_t t = row->own[k];
        const real scale = weight_of(row, t) * g / (real)row->classes;
        double own = 0;
        for (int64_t i = 0; i < row->classes; i++) {
            const real z = is_own(row, i) ? 0 : excess(row, t, i);
            const real slope = (row->p == 1 ? (real)(z > 0) : 2 * z) * scale;
            dx[i] += slope;
            own += (double)slope;
        }
        dx[t] -= (real)own;
    }
}

static int64_t samples_per_chunk(const margin_job *job)
{
    return CHUNK / (job->args->x.size[1] + 1) + 1;
}

static void forward_chunk(void *context, int64_t chunk)
{
    const margin_job *job = context;
    const int64_t each = samples_per_chunk(job), samples = job->args->x.size[0];
    for (int64_t n = chunk * each; n < samples && n < (chunk + 1) * each; n++) {
        const margin_row row = row_at(job, n, true);
        data_of(job, RESULT)[n] = row_loss(&row);
    }
}

static void backward_chunk(void *context, int64_t chunk)
{
    const margin_job *job = context;
    const int64_t each = samples_per_chunk(job), samples = job->args->x.size[0];
    for (int64_t n = chunk * each; n < samples && n < (chunk + 1) * each; n++) {
        const margin_row row = row_at(job, n, false);
        row_gradient(&row, data_of(job, DLOSS)[n], data_of(job, RESULT) + n * row.classes);
    }
}

typedef void margin_fn(margin_job *job);
REAL_DECLARE(margin_fn, class_margin);
REAL_DECLARE(margin_fn, class_margin_grad);

static int64_t chunk_count(const margin_job *job)
{
    const int64_t each = samples_per_chunk(job);
    return (job->args->x.size[0] + each - 1) / each;
}

void REAL_NAME(class_margin)(margin_job *job)
{
    tern_pool_run(chunk_count(job), forward_chunk, job);
}

void REAL_NAME(class_margin_grad)(margin_job *job)
{
    tern_pool_run(chunk_count(job), backward_chunk, job);
}

#if REAL_IS_FLOAT
static tern_status run(margin_job *job, margin_fn *compute)
{
    const tern_strided *result = job->views[RESULT];
    if (!upcast_needed(result->dtype)) {
        compute(job);
        return TERN_OK;
    }
    tern_strided copies[MAX_VIEWS];
    tern_status status = upcast_begin(copies, job->views, MAX_VIEWS);
    if (status == TERN_OK)
        compute(job);
    return upcast_end(copies, MAX_VIEWS, result, status);
}

tern_status TERN_ISA_NAME(class_margin)(const tern_exec *exec, const tern_class_margin_args *args,
                                        const tern_strided *loss)
{
    margin_job job = {.exec = exec, .args = args, .views = {loss, &args->x, args->weight}};
    TERN_TRY(tern_kernel_floating("class_margin", args->x.dtype));
    return run(&job, REAL_SELECT(args->x.dtype, class_margin));
}

tern_status TERN_ISA_NAME(class_margin_grad)(const tern_exec *exec,
                                             const tern_class_margin_args *args,
                                             const tern_strided *dx, const tern_strided *dloss)
{
    margin_job job = {.exec = exec, .args = args, .views = {dx, &args->x, args->weight, dloss}};
    TERN_TRY(tern_kernel_floating("class_margin_grad", args->x.dtype));
    return run(&job, REAL_SELECT(args->x.dtype, class_margin_grad));
}
#endif
