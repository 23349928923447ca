// SPDX-License-Identifier: Apache-2.0
#include "base/pool.h"
#include "cpu/reduce/scan.h"
#include "cpu/wide.h"
#include "device/kernel_dtype.h"

#define TYPE         float
#define SUM          double
#define CUMSUM(name) name##_float
#include "cpu/reduce/cumsum_real.h"
#undef TYPE
#undef CUMSUM
#define TYPE         double
#define CUMSUM(name) name##_double
#include "cpu/reduce/cumsum_real.h"
#undef TYPE
#undef SUM
#undef CUMSUM
#define TYPE         int64_t
#define SUM          uint64_t
#define CUMSUM(name) name##_int64
#include "cpu/reduce/cumsum_real.h"

typedef void line_fn(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t n);

typedef struct cumsum_job {
    line_fn *line;
    const tern_strided *views[2]; // y, x
    int dim;
    bool reverse;
    int64_t lines, lines_per_piece;
} cumsum_job;

static void run_line(const cumsum_job *job, int64_t index)
{
    char *data[2];
    int64_t stride[2], n = job->views[0]->size[job->dim];
    scan_line(job->views, 2, job->dim, index, data);
    for (int v = 0; v < 2; v++) {
        stride[v] = job->views[v]->stride[job->dim];
        if (job->reverse) {
            data[v] += (n - 1) * stride[v] * (int64_t)tern_dtype_size(job->views[v]->dtype);
            stride[v] = -stride[v];
        }
    }
    job->line(data[0], stride[0], data[1], stride[1], n);
}

static void run_piece(void *context, int64_t index)
{
    const cumsum_job *job = context;
    int64_t begin = index * job->lines_per_piece, end = begin + job->lines_per_piece;
    for (int64_t line = begin; line < end && line < job->lines; line++)
        run_line(job, line);
}

static void run_all(cumsum_job *job)
{
    job->lines = job->views[0]->size[job->dim] > 0 ? scan_lines(job->views[0], job->dim) : 0;
    job->lines_per_piece = scan_lines_per_piece(job->views[0]->size[job->dim]);
    tern_pool_run((job->lines + job->lines_per_piece - 1) / job->lines_per_piece, run_piece, job);
}

static tern_status run_widened(cumsum_job *job, const tern_strided *y, const tern_strided *x)
{
    tern_strided wide_y = {0}, wide_x = {0};
    tern_status status = wide_new(&wide_y, y);
    if (!status)
        status = wide_copy(&wide_x, x);
    if (!status) {
        job->views[0] = &wide_y;
        job->views[1] = &wide_x;
        run_all(job);
        wide_store(y, &wide_y);
    }
    wide_free(&wide_x);
    wide_free(&wide_y);
    return status;
}

tern_status TERN_ISA_NAME(cumsum)(const tern_exec *exec, const tern_strided *y,
                                  const tern_strided *x, int dim, bool reverse)
{
    (void)exec;
    if (y->dtype != TERN_INT64)
        TERN_TRY(tern_kernel_floating("cumsum", y->dtype));
    cumsum_job job = {.views = {y, x}, .dim = dim, .reverse = reverse};
    job.line = y->dtype == TERN_FLOAT64 ? line_double
               : y->dtype == TERN_INT64 ? line_int64
                                        : line_float;
    if (wide_needed(y->dtype))
        return run_widened(&job, y, x);
    run_all(&job);
    return TERN_OK;
}
