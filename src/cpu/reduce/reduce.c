// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread_pool.h"
#include "cpu/reduce/reduce_plan.h"
#include "cpu/span.h"

#define FINISH_CHUNK 16384 // outputs
#define FINISH_RUN   256
#define SMALL_SLOTS  512 // accumulators that need no scratch

typedef struct reduce_finish {
    const reduce_plan *plan;
    tern_reduce_op op;
    double p;
    const tern_strided *y;
    const void *acc;
} reduce_finish;

static reduce_op reduction_for(tern_reduce_op op, double p, tern_dtype result)
{
    switch (op) {
    case TERN_REDUCE_SUM:
    case TERN_REDUCE_MEAN:
        return REDUCE_SUM;
    case TERN_REDUCE_AMAX:
        return REDUCE_MAX;
    case TERN_REDUCE_AMIN:
        return REDUCE_MIN;
    case TERN_REDUCE_NORM:
        return p == 2 && result != TERN_FLOAT64 ? REDUCE_SQUARE : reduce_norm_op(p);
    case TERN_REDUCE_ANY:
    case TERN_REDUCE_ALL:
        return REDUCE_NONZERO;
    }
    return REDUCE_SUM;
}

static double finish_double(const reduce_finish *f, double total)
{
    const int64_t terms = f->plan->terms;
    switch (f->op) {
    case TERN_REDUCE_MEAN:
        return total / (double)terms;
    case TERN_REDUCE_NORM:
        return reduce_norm_result(total, f->p, terms);
    case TERN_REDUCE_ANY:
        return total > 0;
    case TERN_REDUCE_ALL:
        return total == (double)terms;
    case TERN_REDUCE_SUM:
    case TERN_REDUCE_AMAX:
    case TERN_REDUCE_AMIN:
        break;
    }
    return total;
}

static int64_t finish_int64(const reduce_finish *f, int64_t total)
{
    if (f->op == TERN_REDUCE_ANY)
        return total > 0;
    return f->op == TERN_REDUCE_ALL ? total == f->plan->terms : total;
}

static bool reduce_is_result(tern_reduce_op op)
{
    return op == TERN_REDUCE_SUM || op == TERN_REDUCE_AMAX || op == TERN_REDUCE_AMIN;
}

// n outputs that lie along the innermost kept dimension.
static void finish_run(const reduce_finish *f, int64_t first, int64_t n)
{
    const tern_strided *y = f->y;
    const int64_t stride = f->plan->keep[f->plan->keep_count - 1].y_stride[0];
    char *to =
        (char *)y->data + reduce_offset(f->plan, 0, first) * (int64_t)tern_dtype_size(y->dtype);
    if (tern_dtype_is_floating(f->plan->dtype) && reduce_is_result(f->op)) {
        span_store_double(to, (const double *)f->acc + first, y->dtype, stride, n);
    } else if (tern_dtype_is_floating(f->plan->dtype)) {
        double run[FINISH_RUN];
        for (int64_t i = 0; i < n; i++)
            run[i] = finish_double(f, ((const double *)f->acc)[first + i]);
        span_store_double(to, run, y->dtype, stride, n);
    } else {
        int64_t run[FINISH_RUN];
        for (int64_t i = 0; i < n; i++)
            run[i] = finish_int64(f, ((const int64_t *)f->acc)[first + i]);
        span_store_int64(to, run, y->dtype, stride, n);
    }
}

static void finish_chunk(void *context, int64_t chunk)
{
    const reduce_finish *f = context;
    const int64_t inner = f->plan->keep[f->plan->keep_count - 1].size;
    int64_t first = chunk * FINISH_CHUNK;
    const int64_t outputs = f->plan->outputs;
    const int64_t last = outputs - first < FINISH_CHUNK ? outputs : first + FINISH_CHUNK;
    while (first < last) {
        int64_t n = inner - first % inner;
        n = n < FINISH_RUN ? n : FINISH_RUN;
        n = n < last - first ? n : last - first;
        finish_run(f, first, n);
        first += n;
    }
}

tern_status TERN_ISA_NAME(reduce)(const tern_exec *exec, tern_reduce_op op, double p,
                                  const tern_strided *y, const tern_strided *x)
{
    (void)exec;
    TERN_CHECK((op != TERN_REDUCE_MEAN && op != TERN_REDUCE_NORM) ||
                   tern_dtype_is_floating(x->dtype),
               TERN_ERR_DTYPE, "reduce: no kernel for operation %d of integers", (int)op);
    reduce_plan plan;
    reduce_make_plan(&plan, x, y, NULL);
    int64_t small[SMALL_SLOTS];
    const int64_t slots = reduce_slots(&plan);
    const size_t nbytes = (size_t)slots * sizeof *small;
    void *acc = slots <= SMALL_SLOTS ? small : tern_cache_alloc(nbytes);
    if (!acc)
        return TERN_ERR_NOMEM;
    reduce_run(&plan, reduction_for(op, p, y->dtype), p, NULL, acc);
    reduce_finish finish = {.plan = &plan, .op = op, .p = p, .y = y, .acc = acc};
    tern_pool_run((plan.outputs + FINISH_CHUNK - 1) / FINISH_CHUNK, finish_chunk, &finish);
    if (acc != small)
        tern_cache_free(acc, nbytes);
    return TERN_OK;
}
