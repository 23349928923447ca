// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/thread_pool.h"
#include "cpu/reduce/reduce_best.h"
#include "cpu/reduce/scan.h"
#include "cpu/upcast.h"

#define ARG_NAN(x) ((x) != (x))
#define TYPE       float
#define ARG(name)  name##_float
#include "cpu/reduce/arg_reduce_real.h"
#undef TYPE
#undef ARG
#define TYPE      double
#define ARG(name) name##_double
#include "cpu/reduce/arg_reduce_real.h"
#undef TYPE
#undef ARG
#undef ARG_NAN

#define ARG_NAN(x) false
#define TYPE       int64_t
#define ARG(name)  name##_int64
#include "cpu/reduce/arg_reduce_real.h"
#undef TYPE
#undef ARG
#define TYPE      int32_t
#define ARG(name) name##_int32
#include "cpu/reduce/arg_reduce_real.h"
#undef TYPE
#undef ARG
#define TYPE      uint8_t
#define ARG(name) name##_uint8
#include "cpu/reduce/arg_reduce_real.h"

// As find_float, of contiguous elements: the first place of the value that a reduction finds.
static int64_t find_row(const void *line, int64_t n, int64_t stride, bool largest)
{
    const float *x = line;
    if (stride != 1)
        return find_float(line, n, stride, largest);
    const float best =
        largest ? reduce_best_row(REDUCE_MAX, x, n) : reduce_best_row(REDUCE_MIN, x, n);
    if (best != best)
        return find_float(line, n, stride, largest);
    int64_t i = 0;
    for (; i + VEC_WIDTH <= n; i += VEC_WIDTH) {
        const uint32_t found = vec_equal(vec_load(x + i), best);
        if (found)
            return i + __builtin_ctz(found);
    }
    return i + __builtin_ctz(vec_equal(vec_load_partial(x + i, n - i, best), best));
}

typedef int64_t find_fn(const void *line, int64_t n, int64_t stride, bool largest);

typedef struct arg_job {
    find_fn *position;
    bool largest;
    // x, indices; values or NULL, and their source: x, or what x was upcast from
    const tern_strided *views[SCAN_VIEWS];
    int dim;
    int64_t lines, lines_per_chunk;
} arg_job;

static find_fn *find_for(tern_dtype dtype)
{
    switch (dtype) {
    case TERN_FLOAT64:
        return find_double;
    case TERN_INT64:
        return find_int64;
    case TERN_INT32:
        return find_int32;
    case TERN_UINT8:
    case TERN_BOOL:
        return find_uint8;
    case TERN_FLOAT32:
    case TERN_FLOAT16: // upcast
    case TERN_BFLOAT16:
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return find_row;
}

static void run_line(const arg_job *job, char *const *data)
{
    const tern_strided *x = job->views[0], *source = job->views[3];
    const int64_t position =
        job->position(data[0], x->size[job->dim], x->stride[job->dim], job->largest);
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
    arg_job job = {.position = find_for(x->dtype),
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
