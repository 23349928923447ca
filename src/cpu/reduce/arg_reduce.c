// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/pool.h"
#include "cpu/reduce/fold_best.h"
#include "cpu/reduce/scan.h"
#include "cpu/wide.h"

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

// As place_float, of contiguous elements: the first place of the value that a fold finds.
static int64_t place_row(const void *line, int64_t n, int64_t stride, bool largest)
{
    const float *x = line;
    if (stride != 1)
        return place_float(line, n, stride, largest);
    const float best = largest ? fold_best_row(FOLD_MAX, x, n) : fold_best_row(FOLD_MIN, x, n);
    if (best != best)
        return place_float(line, n, stride, largest);
    int64_t i = 0;
    for (; i + FOLD_WIDTH <= n; i += FOLD_WIDTH) {
        const uint32_t found = fold_equal(fold_load(x + i), best);
        if (found)
            return i + __builtin_ctz(found);
    }
    return i + __builtin_ctz(fold_equal(fold_load_part(x + i, n - i, best), best));
}

typedef int64_t place_fn(const void *line, int64_t n, int64_t stride, bool largest);

typedef struct arg_job {
    place_fn *place;
    bool largest;
    // x, indices; values or NULL, and their source: x, or what x was widened from
    const tern_strided *views[SCAN_VIEWS];
    int dim;
    int64_t lines, lines_per_piece;
} arg_job;

static place_fn *place_for(tern_dtype dtype)
{
    switch (dtype) {
    case TERN_FLOAT64:
        return place_double;
    case TERN_INT64:
        return place_int64;
    case TERN_INT32:
        return place_int32;
    case TERN_UINT8:
    case TERN_BOOL:
        return place_uint8;
    case TERN_FLOAT32:
    case TERN_FLOAT16: // widened
    case TERN_BFLOAT16:
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return place_row;
}

static void run_line(const arg_job *job, char *const *data)
{
    const tern_strided *x = job->views[0], *source = job->views[3];
    const int64_t place = job->place(data[0], x->size[job->dim], x->stride[job->dim], job->largest);
    *(int64_t *)(void *)data[1] = place;
    if (!data[2])
        return;
    const size_t element = tern_dtype_size(source->dtype);
    memcpy(data[2], data[3] + place * source->stride[job->dim] * (int64_t)element, element);
}

static void run_piece(void *context, int64_t index)
{
    const arg_job *job = context;
    char *data[SCAN_VIEWS];
    int64_t step[SCAN_VIEWS], line = index * job->lines_per_piece;
    const int64_t left = job->lines - line;
    const int64_t end = line + (left < job->lines_per_piece ? left : job->lines_per_piece);
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
    tern_strided wide = {0};
    arg_job job = {.place = place_for(x->dtype),
                   .largest = largest,
                   .views = {x, indices, values, values ? x : NULL},
                   .dim = dim,
                   .lines = scan_lines(x, dim),
                   .lines_per_piece = scan_lines_per_piece(x->size[dim])};
    if (wide_needed(x->dtype)) {
        tern_status status = wide_copy(&wide, x);
        if (status)
            return status;
        job.views[0] = &wide;
    }
    tern_pool_run((job.lines + job.lines_per_piece - 1) / job.lines_per_piece, run_piece, &job);
    wide_free(&wide);
    return TERN_OK;
}
