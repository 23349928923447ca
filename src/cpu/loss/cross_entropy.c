// SPDX-License-Identifier: Apache-2.0
#include "cpu/loss/cross_entropy.h"

#include "base/thread_pool.h"
#include "cpu/fault.h"
#include "cpu/span.h"
#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

#define CHUNK 32768 // elements

typedef struct ce_run {
    ce_job job;
    ce_chunk *chunk;
} ce_run;

bool ce_counts(const ce_job *job, int64_t sample, int64_t label, bool report)
{
    if (label == job->args->ignore_index)
        return false;
    if (label >= 0 && label < job->classes)
        return true;
    if (report)
        tern_cpu_fault(job->exec, sample, label);
    return false;
}

static void run_chunk(void *context, int64_t chunk)
{
    const ce_run *run = context;
    const int64_t first = chunk * run->job.samples_per_chunk;
    const int64_t left = run->job.samples - first;
    const int64_t count = left < run->job.samples_per_chunk ? left : run->job.samples_per_chunk;
    run->chunk(&run->job, chunk, first, first + count);
}

static int64_t run(const ce_job *job, ce_chunk *chunk)
{
    ce_run all = {.job = *job, .chunk = chunk};
    const int64_t chunks = (job->samples + job->samples_per_chunk - 1) / job->samples_per_chunk;
    tern_pool_run(chunks, run_chunk, &all);
    return chunks;
}

static double weight_sum(const tern_cross_entropy_args *args, int64_t classes)
{
    double sum = 0;
    for (int64_t c = 0; args->weight && c < classes; c++)
        sum += args->x.dtype == TERN_FLOAT64 ? ((const double *)args->weight->data)[c]
                                             : (double)((const float *)args->weight->data)[c];
    return args->weight ? sum : (double)classes;
}

static ce_job job_of(const tern_exec *exec, const tern_cross_entropy_args *args)
{
    ce_job job = {.exec = exec, .args = args};
    job.classes = args->x.size[1];
    job.spatial = args->x.size[2];
    job.samples = args->x.size[0] * job.spatial;
    job.weight_sum = weight_sum(args, job.classes);
    int64_t each = CHUNK / (job.classes + 1) + 1;
    const int64_t min_samples = (job.samples + CE_CHUNKS - 1) / CE_CHUNKS;
    each = each < min_samples ? min_samples : each;
    job.samples_per_chunk = (each + CE_LANES - 1) / CE_LANES * CE_LANES;
    return job;
}

static void store(const tern_strided *y, double value)
{
    span_store_double(y->data, &value, y->dtype, 1, 1);
}

// args in float32 or float64; `loss` is the caller's.
static void forward(const tern_exec *exec, const tern_cross_entropy_args *args,
                    const tern_strided *loss)
{
    double losses[CE_CHUNKS], totals[CE_CHUNKS], sum = 0, total = 0;
    ce_job job = job_of(exec, args);
    job.loss = losses;
    job.total = totals;
    const int64_t chunks = run(&job, REAL_SELECT(args->x.dtype, ce_forward));
    for (int64_t i = 0; i < chunks; i++) {
        sum += losses[i];
        total += totals[i];
    }
    store(&args->total, total);
    if (args->reduction == TERN_REDUCTION_SUM)
        store(loss, sum);
    else if (args->reduction != TERN_REDUCTION_NONE)
        store(loss, sum / total);
}

static void backward(const tern_exec *exec, const tern_cross_entropy_args *args,
                     const tern_strided *dx, const tern_strided *dloss)
{
    ce_job job = job_of(exec, args);
    job.dx = dx;
    job.dloss = dloss;
    if (args->reduction != TERN_REDUCTION_NONE) {
        float narrow;
        if (dloss->dtype == TERN_FLOAT64) {
            job.gradient = *(const double *)dloss->data;
        } else {
            span_load_float(&narrow, dloss->data, dloss->dtype, 1, 1);
            job.gradient = (double)narrow;
        }
    }
    if (args->reduction != TERN_REDUCTION_NONE && args->reduction != TERN_REDUCTION_SUM)
        job.gradient /= args->total.dtype == TERN_FLOAT64
                            ? *(const double *)args->total.data
                            : (double)*(const float *)args->total.data;
    (void)run(&job, REAL_SELECT(args->x.dtype, ce_backward));
}

// float32 copies of what is in 16 bits.
typedef struct upcast_inputs {
    tern_cross_entropy_args args;
    tern_strided x, target, weight;
} upcast_inputs;

static void free_inputs(upcast_inputs *upcast)
{
    upcast_free(&upcast->weight);
    upcast_free(&upcast->target);
    upcast_free(&upcast->x);
}

static tern_status upcast_views(upcast_inputs *upcast, const tern_cross_entropy_args *args)
{
    *upcast = (upcast_inputs){.args = *args};
    tern_status status = upcast_copy(&upcast->x, &args->x);
    if (status == TERN_OK && args->probabilities)
        status = upcast_copy(&upcast->target, &args->target);
    if (status == TERN_OK && args->weight)
        status = upcast_copy(&upcast->weight, args->weight);
    upcast->args.x = upcast->x;
    if (args->probabilities)
        upcast->args.target = upcast->target;
    if (args->weight)
        upcast->args.weight = &upcast->weight;
    return status;
}

tern_status TERN_ISA_NAME(cross_entropy)(const tern_exec *exec, const tern_cross_entropy_args *args)
{
    TERN_TRY(tern_kernel_floating("cross_entropy", args->x.dtype));
    if (!upcast_needed(args->x.dtype)) {
        forward(exec, args, &args->loss);
        return TERN_OK;
    }
    upcast_inputs upcast;
    tern_strided loss = {0};
    tern_status status = upcast_views(&upcast, args);
    if (status == TERN_OK && args->reduction == TERN_REDUCTION_NONE)
        status = upcast_new(&loss, &args->loss);
    if (status == TERN_OK) {
        upcast.args.loss = loss;
        forward(exec, &upcast.args, &args->loss);
        if (loss.data)
            downcast_store(&args->loss, &loss);
    }
    upcast_free(&loss);
    free_inputs(&upcast);
    return status;
}

tern_status TERN_ISA_NAME(cross_entropy_grad)(const tern_exec *exec,
                                              const tern_cross_entropy_args *args,
                                              const tern_strided *dx, const tern_strided *dloss)
{
    TERN_TRY(tern_kernel_floating("cross_entropy_grad", args->x.dtype));
    if (!upcast_needed(args->x.dtype)) {
        backward(exec, args, dx, dloss);
        return TERN_OK;
    }
    upcast_inputs upcast;
    tern_strided gradient = {0};
    tern_status status = upcast_views(&upcast, args);
    if (status == TERN_OK && args->reduction == TERN_REDUCTION_NONE)
        status = upcast_copy(&gradient, dloss);
    if (status == TERN_OK) {
        // Each block of samples reads its logits before it writes: dx may take their place.
        backward(exec, &upcast.args, &upcast.x, gradient.data ? &gradient : dloss);
        downcast_store(dx, &upcast.x);
    }
    upcast_free(&gradient);
    free_inputs(&upcast);
    return status;
}
