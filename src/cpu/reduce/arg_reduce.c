// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/integer.h"
#include "base/thread_pool.h"
#include "cpu/real.h"
#include "cpu/reduce/scan.h"
#include "cpu/span.h"
#include "cpu/upcast.h"
#if REAL_IS_FLOAT
#include "cpu/reduce/reduce_best.h"
#endif

#define RUN 512 // integers of fewer bytes that are read at once

// The place of the first of the largest, or smallest, elements of a line; the first NaN is both.
typedef int64_t find_fn(const void *line, tern_dtype dtype, int64_t n, int64_t stride,
                        bool largest);
NUMBER_DECLARE(find_fn, arg_find);

// Likewise of those that exceed *best, which follows; -1 where none does.
static int64_t find_better(const real *x, int64_t n, int64_t stride, bool largest, real *best)
{
    int64_t at = -1;
    real value = *best;
    for (int64_t i = 0; i < n && !REAL_IS_NAN(value); i++) {
        const real other = x[i * stride];
        if (REAL_IS_NAN(other) || (largest ? other > value : other < value)) {
            at = i;
            value = other;
        }
    }
    *best = value;
    return at;
}

static int64_t find_any(const real *x, int64_t n, int64_t stride, bool largest)
{
    real best = x[0];
    return max_int64(find_better(x, n, stride, largest, &best), 0);
}

#if REAL_IS_FLOAT
// Of contiguous elements: the first that equals what a reduction finds.
static int64_t find_in_row(const real *x, int64_t n, bool largest)
{
    const float best =
        largest ? reduce_best_row(REDUCE_MAX, x, n) : reduce_best_row(REDUCE_MIN, x, n);
    if (best != best)
        return find_any(x, n, 1, largest);
    int64_t i = 0;
    for (; i + VEC_WIDTH <= n; i += VEC_WIDTH) {
        const uint32_t found = vec_equal(vec_load(x + i), best);
        if (found)
            return i + __builtin_ctz(found);
    }
    return i + __builtin_ctz(vec_equal(vec_load_partial(x + i, n - i, best), best));
}
#endif

#if REAL_IS_INTEGER
static int64_t find_converted(const char *line, tern_dtype dtype, int64_t n, int64_t stride,
                              bool largest)
{
    int64_t run[RUN], at = 0, best = largest ? INT64_MIN : INT64_MAX;
    for (int64_t i = 0; i < n; i += RUN) {
        const int64_t count = min_int64(n - i, RUN);
        span_load_int64(run, line + i * stride * (int64_t)tern_dtype_size(dtype), dtype, stride,
                        count);
        const int64_t better = find_better(run, count, 1, largest, &best);
        at = better < 0 ? at : i + better;
    }
    return at;
}
#endif

int64_t REAL_NAME(arg_find)(const void *line, tern_dtype dtype, int64_t n, int64_t stride,
                            bool largest)
{
#if REAL_IS_FLOAT
    if (stride == 1)
        return find_in_row(line, n, largest);
#elif REAL_IS_INTEGER
    if (dtype != TERN_INT64)
        return find_converted(line, dtype, n, stride, largest);
#endif
    (void)dtype;
    return find_any(line, n, stride, largest);
}

#if REAL_IS_FLOAT
typedef struct arg_job {
    find_fn *find;
    bool largest;
    // x, indices; values or NULL, and their source: x, or what x was upcast from
    const tern_strided *views[SCAN_VIEWS];
    int dim;
    int64_t lines, lines_per_chunk;
} arg_job;

static void run_line(const arg_job *job, char *const *data)
{
    const tern_strided *x = job->views[0], *source = job->views[3];
    const int64_t position =
        job->find(data[0], x->dtype, x->size[job->dim], x->stride[job->dim], job->largest);
    *(int64_t *)(void *)data[1] = position;
    if (!data[2])
        return;
    const size_t element = tern_dtype_size(source->dtype);
    memcpy(data[2], data[3] + position * source->stride[job->dim] * (int64_t)element, element);
}

static void run_chunk(void *context, int64_t index)
{
    const arg_job *job = context;
    char *data[SCAN_VIEWS];
    int64_t step[SCAN_VIEWS], line = index * job->lines_per_chunk;
    const int64_t left = job->lines - line;
    const int64_t end = line + (left < job->lines_per_chunk ? left : job->lines_per_chunk);
    while (line < end) {
        int64_t run = scan_run(job->views, SCAN_VIEWS, job->dim, line, data, step);
        for (; run > 0 && line < end; run--, line++) {
            run_line(job, data);
            for (int v = 0; v < SCAN_VIEWS; v++)
                data[v] = data[v] ? data[v] + step[v] : NULL;
        }
    }
}

tern_status TERN_ISA_NAME(arg_reduce)(const tern_exec *exec, bool largest,
                                      const tern_strided *values, const tern_strided *indices,
                                      const tern_strided *x, int dim)
{
    (void)exec;
    tern_strided upcast = {0};
    arg_job job = {.find = NUMBER_SELECT(x->dtype, arg_find),
                   .largest = largest,
                   .views = {x, indices, values, values ? x : NULL},
                   .dim = dim,
                   .lines = scan_lines(x, dim),
                   .lines_per_chunk = scan_lines_per_chunk(x->size[dim])};
    if (upcast_needed(x->dtype)) {
        tern_status status = upcast_copy(&upcast, x);
        if (status)
            return status;
        job.views[0] = &upcast;
    }
    tern_pool_run((job.lines + job.lines_per_chunk - 1) / job.lines_per_chunk, run_chunk, &job);
    upcast_free(&upcast);
    return TERN_OK;
}
#endif
