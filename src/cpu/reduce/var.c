// SPDX-License-Identifier: Apache-2.0
// Mean, then the squares of the deviations from it, both summed in double.
#include "base/mem.h"
#include "base/thread_pool.h"
#include "cpu/reduce/reduce_plan.h"
#include "cpu/span.h"
#include "device/kernel_dtype.h"

#define FINISH_CHUNK 16384 // outputs
#define SMALL_SLOTS  512

typedef struct var_finish {
    const reduce_plan *plan;
    const tern_strided *y; // var or mean
    int which;
    double divisor;
    const double *acc; /* (outputs) */
} var_finish;

static void finish_chunk(void *context, int64_t chunk)
{
    const var_finish *f = context;
    const int64_t first = chunk * FINISH_CHUNK, outputs = f->plan->outputs;
    const int64_t last = outputs - first < FINISH_CHUNK ? outputs : first + FINISH_CHUNK;
    const int64_t size = (int64_t)tern_dtype_size(f->y->dtype);
    const reduce_dim *inner = &f->plan->keep[f->plan->keep_count - 1];
    for (int64_t i = first; i < last;) {
        double run[256];
        int64_t n = inner->size - i % inner->size;
        n = n < 256 ? n : 256;
        n = n < last - i ? n : last - i;
        for (int64_t j = 0; j < n; j++)
            run[j] = f->acc[i + j] / f->divisor;
        span_store_double((char *)f->y->data + reduce_offset(f->plan, f->which, i) * size, run,
                          f->y->dtype, inner->y_stride[f->which], n);
        i += n;
    }
}

static void finish(const reduce_plan *plan, const tern_strided *y, int which, double divisor,
                   const double *acc)
{
    var_finish f = {.plan = plan, .y = y, .which = which, .divisor = divisor, .acc = acc};
    tern_pool_run((plan->outputs + FINISH_CHUNK - 1) / FINISH_CHUNK, finish_chunk, &f);
}

// mean (outputs) and acc (all slots) are scratch.
static void reduce_var(const reduce_plan *plan, double correction, const tern_strided *var,
                       const tern_strided *mean, double *means, double *acc)
{
    const double n = (double)plan->terms, divisor = n - correction;
    reduce_run(plan, REDUCE_SUM_WIDE, 0, NULL, acc);
    for (int64_t i = 0; i < plan->outputs; i++)
        means[i] = acc[i] / n;
    if (var) {
        reduce_run(plan, REDUCE_DEVIATION, 0, means, acc);
        finish(plan, var, 0, divisor > 0 ? divisor : 0, acc);
    }
    if (mean)
        finish(plan, mean, 1, 1, means);
}

tern_status TERN_ISA_NAME(var)(const tern_exec *exec, double correction, const tern_strided *var,
                               const tern_strided *mean, const tern_strided *x)
{
    (void)exec;
    if (!var && !mean)
        return TERN_OK;
    TERN_TRY(tern_kernel_floating("var", x->dtype));
    reduce_plan plan;
    reduce_make_plan(&plan, x, var ? var : mean, mean ? mean : var);
    double small[SMALL_SLOTS];
    const int64_t slots = plan.outputs + reduce_slots(&plan);
    const size_t nbytes = (size_t)slots * sizeof *small;
    double *means = slots <= SMALL_SLOTS ? small : tern_cache_alloc(nbytes);
    if (!means)
        return TERN_ERR_NOMEM;
    reduce_var(&plan, correction, var, mean, means, means + plan.outputs);
    if (means != small)
        tern_cache_free(means, nbytes);
    return TERN_OK;
}
