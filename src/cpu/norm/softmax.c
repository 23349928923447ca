// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "base/pool.h"
#include "cpu/elementwise/elementwise.h"
#include "cpu/reduce/fold_ops.h"
#include "cpu/vecmath.h"
#include "cpu/wide.h"
#include "device/kernel_dtype.h"

#define PIECE 16384 // elements
#define COLS  64    // columns that are done side by side

typedef struct softmax_job {
    bool log;
    int64_t outer, n, inner;
    void *y;                        /* (outer, n, inner): y, or dx */
    const void *x;                  /* x, or dy */
    const void *of;                 /* backward: the forward's result */
    int64_t units_per_piece, units; // rows, or blocks of columns
} softmax_job;

#define REAL      float
#define REAL_BITS int32_t
#define ROW_EXP   vm_exp_below
#define ROW_LOG   logf
#define ROW(name) float_##name
#include "cpu/row.h"
#include "cpu/norm/softmax_real.h"
#undef REAL
#undef REAL_BITS
#undef ROW_EXP
#undef ROW_LOG
#undef ROW

#define REAL      double
#define REAL_BITS int64_t
#define ROW_EXP   exp
#define ROW_LOG   log
#define ROW(name) double_##name
#include "cpu/row.h"
#include "cpu/norm/softmax_real.h"

typedef void unit_fn(const softmax_job *job, int64_t unit);

typedef struct softmax_run {
    softmax_job job;
    unit_fn *unit;
} softmax_run;

static void run_piece(void *context, int64_t piece)
{
    const softmax_run *run = context;
    const int64_t each = run->job.units_per_piece, first = piece * each;
    for (int64_t i = first; i < run->job.units && i < first + each; i++)
        run->unit(&run->job, i);
}

static softmax_job job_of(bool log, const tern_strided *y, const tern_strided *x)
{
    softmax_job job = {.log = log, .y = y->data, .x = x->data};
    job.outer = x->size[0];
    job.n = x->size[1];
    job.inner = x->size[2];
    const int64_t cols = job.inner < COLS ? job.inner : COLS;
    job.units = job.outer * ((job.inner + COLS - 1) / COLS);
    job.units_per_piece = PIECE / (job.n * cols + 1) + 1;
    return job;
}

static void run(softmax_job job, unit_fn *unit)
{
    softmax_run all = {.job = job, .unit = unit};
    if (job.n > 0)
        tern_pool_run((job.units + job.units_per_piece - 1) / job.units_per_piece, run_piece, &all);
}

static void softmax_wide(bool log, const tern_strided *y, const tern_strided *x)
{
    softmax_job job = job_of(log, y, x);
    if (x->dtype == TERN_FLOAT64)
        run(job, job.inner == 1 ? double_row : double_columns);
    else
        run(job, job.inner == 1 ? float_row : float_columns);
}

tern_status TERN_ISA_NAME(softmax)(const tern_exec *exec, bool log, const tern_strided *y,
                                   const tern_strided *x)
{
    (void)exec;
    tern_strided wide;
    TERN_TRY(tern_kernel_floating(log ? "log_softmax" : "softmax", x->dtype));
    if (!wide_needed(x->dtype)) {
        softmax_wide(log, y, x);
        return TERN_OK;
    }
    const tern_status status = wide_copy(&wide, x);
    if (status == TERN_OK) {
        softmax_wide(log, &wide, &wide);
        wide_store(y, &wide);
    }
    wide_free(&wide);
    return status;
}

static void softmax_grad_wide(bool log, const tern_strided *dx, const tern_strided *dy,
                              const tern_strided *y)
{
    softmax_job job = job_of(log, dx, dy);
    job.of = y->data;
    if (y->dtype == TERN_FLOAT64)
        run(job, job.inner == 1 ? double_row_grad : double_columns_grad);
    else
        run(job, job.inner == 1 ? float_row_grad : float_columns_grad);
}

tern_status TERN_ISA_NAME(softmax_grad)(const tern_exec *exec, bool log, const tern_strided *dx,
                                        const tern_strided *dy, const tern_strided *y)
{
    (void)exec;
    tern_strided wide_dy = {0}, wide_y = {0};
    TERN_TRY(tern_kernel_floating(log ? "log_softmax_grad" : "softmax_grad", y->dtype));
    if (!wide_needed(y->dtype)) {
        softmax_grad_wide(log, dx, dy, y);
        return TERN_OK;
    }
    tern_status status = wide_copy(&wide_dy, dy);
    if (status == TERN_OK)
        status = wide_copy(&wide_y, y);
    if (status == TERN_OK) {
        softmax_grad_wide(log, &wide_dy, &wide_dy, &wide_y);
        wide_store(dx, &wide_dy);
    }
    wide_free(&wide_y);
    wide_free(&wide_dy);
    return status;
}
