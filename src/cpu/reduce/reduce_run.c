// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"
#include "cpu/reduce/reduce_best.h"
#include "cpu/reduce/reduce_sum.h"
#include "cpu/reduce/reduce_plan.h"
#include "cpu/span.h"

// Outputs whose segments are joined by one chunk.
#define JOIN_CHUNK 4096

typedef struct reduce_work {
    const reduce_plan *plan;
    reduce_op op;
    double power;
    const double *shift; /* (outputs) or NULL */
    void *acc;           /* (segments, outputs) */
} reduce_work;

// Where element `index` of the dimensions lies in x.
static int64_t position(const reduce_dim *dims, int count, int64_t index)
{
    int64_t at = 0;
    for (int d = count - 1; d > 0; d--) {
        at += index % dims[d].size * dims[d].x_stride;
        index /= dims[d].size;
    }
    return at + index * dims[0].x_stride;
}

#define ELEM           float
#define ACC            double
#define ACC_LOW        -INFINITY
#define ACC_HIGH       INFINITY
#define ACC_IS_NAN(x)  ((x) != (x))
#define ACC_SUMS       double
#define REDUCE(name)   float_##name
#define REDUCE_LOAD    span_load_float
#define REDUCE_DTYPE   TERN_FLOAT32
#define REDUCE_IN_ELEM 1
#include "cpu/reduce/reduce_rows.h"
#include "cpu/reduce/reduce_task.h"
#undef ELEM
#undef REDUCE
#undef REDUCE_LOAD
#undef REDUCE_DTYPE
#undef REDUCE_IN_ELEM

#define ELEM           double
#define REDUCE(name)   double_##name
#define REDUCE_LOAD    span_load_double
#define REDUCE_DTYPE   TERN_FLOAT64
#define REDUCE_IN_ELEM 0
#include "cpu/reduce/reduce_rows.h"
#include "cpu/reduce/reduce_task.h"
#undef ELEM
#undef ACC
#undef ACC_LOW
#undef ACC_HIGH
#undef ACC_IS_NAN
#undef ACC_SUMS
#undef REDUCE
#undef REDUCE_LOAD
#undef REDUCE_DTYPE

#define ELEM          int64_t
#define ACC           int64_t
#define ACC_LOW       INT64_MIN
#define ACC_HIGH      INT64_MAX
#define ACC_IS_NAN(x) 0
#define ACC_SUMS      uint64_t
#define REDUCE(name)  int64_##name
#define REDUCE_LOAD   span_load_int64
#define REDUCE_DTYPE  TERN_INT64
#include "cpu/reduce/reduce_rows.h"
#include "cpu/reduce/reduce_task.h"

static void run_tasks(void *context, int64_t chunk)
{
    const reduce_work *work = context;
    const reduce_plan *plan = work->plan;
    const int64_t first = chunk * plan->tasks_per_chunk;
    const int64_t left = plan->tasks - first;
    const int64_t end = first + (left < plan->tasks_per_chunk ? left : plan->tasks_per_chunk);
    if (plan->dtype == TERN_FLOAT64)
        double_tasks(work, first, end);
    else if (tern_dtype_is_floating(plan->dtype))
        float_tasks(work, first, end);
    else
        int64_tasks(work, first, end);
}

static void run_join(void *context, int64_t chunk)
{
    const reduce_work *work = context;
    const int64_t first = chunk * JOIN_CHUNK, outputs = work->plan->outputs;
    const int64_t last = outputs - first < JOIN_CHUNK ? outputs : first + JOIN_CHUNK;
    if (work->plan->dtype == TERN_FLOAT64)
        double_join(work, first, last);
    else if (tern_dtype_is_floating(work->plan->dtype))
        float_join(work, first, last);
    else
        int64_join(work, first, last);
}

void reduce_run(const reduce_plan *plan, reduce_op op, double power, const double *shift, void *acc)
{
    reduce_work work = {.plan = plan, .op = op, .power = power, .shift = shift, .acc = acc};
    if (plan->tasks == 0)
        return;
    tern_pool_run((plan->tasks + plan->tasks_per_chunk - 1) / plan->tasks_per_chunk, run_tasks,
                  &work);
    if (plan->segments > 1)
        tern_pool_run((plan->outputs + JOIN_CHUNK - 1) / JOIN_CHUNK, run_join, &work);
}
