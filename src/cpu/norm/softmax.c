// SPDX-License-Identifier: Apache-2.0
// Softmax along a contiguous row, and of up to COLS columns side by side.
#include "cpu/row.h"

#include "base/thread_pool.h"
#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

#define CHUNK 16384 // elements
#define COLS  64    // columns that are done side by side

// Vectors of the longest row that stays in registers.
enum { MAX_VECTORS = VEC_BYTES < 64 ? 2 : 1 };

typedef struct softmax_job {
    bool log;
    int64_t outer, n, inner;
    void *y;                        /* (outer, n, inner): y, or dx */
    const void *x;                  /* x, or dy */
    const void *of;                 /* backward: the forward's result */
    int64_t units_per_chunk, units; // rows, or blocks of columns
} softmax_job;

// A row of so many vectors, which stay in registers; the last may have lanes past the row's end.
VEC_INLINE void short_row(const softmax_job *job, real *y, const real *x, int vectors)
{
    vec v[MAX_VECTORS], limit, sum = {0};
    int64_t part[MAX_VECTORS];
    for (int j = 0; j < vectors; j++) {
        part[j] = j < vectors - 1 ? VEC_WIDTH : job->n - j * VEC_WIDTH;
        v[j] = vec_load_partial(x + j * VEC_WIDTH, part[j], -INFINITY);
        limit = j > 0 ? vec_max(v[j], limit) : v[j];
    }
    const real top = vec_reduce_max(limit);
    for (int j = 0; j < vectors; j++) {
        const vec off = vec_load_partial(x + j * VEC_WIDTH, part[j], top) - top;
        const vec e = vec_exp(off);
        sum += vec_first(e, part[j]);
        v[j] = job->log ? off : e;
    }
    const real total = vec_reduce_add(sum);
    const real less = job->log ? REAL_C_FUNCTION(log)(total) : 0, scale = 1 / total;
    for (int j = 0; j < vectors; j++) {
        const vec result = job->log ? v[j] - less : v[j] * scale;
        vec_store_partial(y + j * VEC_WIDTH, result, part[j]);
    }
}

static void row(const softmax_job *job, int64_t row)
{
    const int64_t n = job->n;
    const real *x = (const real *)job->x + row * n;
    real *y = (real *)job->y + row * n;
    if (n <= VEC_WIDTH) {
        short_row(job, y, x, 1);
        return;
    }
    if (n <= MAX_VECTORS * VEC_WIDTH) {
        short_row(job, y, x, MAX_VECTORS);
        return;
    }
    const real top = row_max(x, n);
    if (job->log) {
        const real logarithm = REAL_C_FUNCTION(log)((real)row_exp_sum(NULL, x, top, n));
        for (int64_t i = 0; i < n; i += VEC_WIDTH) {
            const int64_t part = vec_count(n - i);
            vec_store_partial(y + i, (vec_load_partial(x + i, part, 0) - top) - logarithm, part);
        }
        return;
    }
    const real scale = (real)(1 / row_exp_sum(y, x, top, n));
    for (int64_t i = 0; i < n; i++)
        y[i] *= scale;
}

// As short_row.
VEC_INLINE void short_row_grad(const softmax_job *job, real *dx, const real *dy, const real *y,
                               int vectors)
{
    vec g[MAX_VECTORS], s[MAX_VECTORS], sum = {0};
    int64_t part[MAX_VECTORS];
    for (int j = 0; j < vectors; j++) {
        const int64_t at = j * VEC_WIDTH;
        part[j] = j < vectors - 1 ? VEC_WIDTH : job->n - at;
        g[j] = vec_load_partial(dy + at, part[j], 0);
        s[j] = vec_load_partial(y + at, part[j], 0);
        sum += job->log ? g[j] : g[j] * s[j];
    }
    const real total = vec_reduce_add(sum);
    for (int j = 0; j < vectors; j++) {
        const vec d = job->log ? g[j] - vec_exp(s[j]) * total : s[j] * (g[j] - total);
        vec_store_partial(dx + j * VEC_WIDTH, d, part[j]);
    }
}

static void row_grad(const softmax_job *job, int64_t row)
{
    const int64_t n = job->n;
    const real *dy = (const real *)job->x + row * n, *y = (const real *)job->of + row * n;
    real *dx = (real *)job->y + row * n;
    if (n <= VEC_WIDTH) {
        short_row_grad(job, dx, dy, y, 1);
        return;
    }
    if (n <= MAX_VECTORS * VEC_WIDTH) {
        short_row_grad(job, dx, dy, y, MAX_VECTORS);
        return;
    }
    const real sum = (real)(job->log ? row_total(dy, n) : row_dot(dy, y, n));
    if (job->log) {
        for (int64_t i = 0; i < n; i += VEC_WIDTH) {
            const int64_t part = vec_count(n - i);
            const vec e = vec_exp(vec_load_partial(y + i, part, 0));
            vec_store_partial(dx + i, vec_load_partial(dy + i, part, 0) - e * sum, part);
        }
    } else {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            dx[i] = y[i] * (dy[i] - sum);
    }
}

// Where the block's first element lies, and how many columns it has.
static int64_t block(const softmax_job *job, int64_t unit, int64_t *cols)
{
    const int64_t blocks = (job->inner + COLS - 1) / COLS, first = unit % blocks * COLS;
    *cols = job->inner - first < COLS ? job->inner - first : COLS;
    return unit / blocks * job->n * job->inner + first;
}

static void columns(const softmax_job *job, int64_t unit)
{
    int64_t cols;
    const int64_t at = block(job, unit, &cols), n = job->n, inner = job->inner;
    const real *x = (const real *)job->x + at;
    real *y = (real *)job->y + at;
    real top[COLS], last[COLS], e[COLS];
    double sum[COLS] = {0};
    for (int64_t c = 0; c < cols; c++)
        top[c] = -INFINITY;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < cols; c++)
            top[c] = x[i * inner + c] > top[c] ? x[i * inner + c] : top[c];
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < cols; c++)
            e[c] = row_exp_one(x[i * inner + c] - top[c]);
        for (int64_t c = 0; c < cols; c++)
            sum[c] += (double)e[c];
        if (!job->log)
            memcpy(y + i * inner, e, (size_t)cols * sizeof *e);
    }
    for (int64_t c = 0; c < cols; c++)
        last[c] = job->log ? REAL_C_FUNCTION(log)((real)sum[c]) : (real)(1 / sum[c]);
    for (int64_t i = 0; i < n; i++) {
        real *to = y + i * inner;
        ELEMENTWISE_LOOP
        for (int64_t c = 0; c < cols; c++)
            to[c] = job->log ? (x[i * inner + c] - top[c]) - last[c] : to[c] * last[c];
    }
}

static void columns_grad(const softmax_job *job, int64_t unit)
{
    int64_t cols;
    const int64_t at = block(job, unit, &cols), n = job->n, inner = job->inner;
    const real *dy = (const real *)job->x + at, *y = (const real *)job->of + at;
    real *dx = (real *)job->y + at;
    double sum[COLS] = {0};
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < cols; c++)
            sum[c] += (double)(job->log ? dy[i * inner + c] : dy[i * inner + c] * y[i * inner + c]);
    for (int64_t i = 0; i < n; i++) {
        const real *g = dy + i * inner, *s = y + i * inner;
        real *to = dx + i * inner;
        ELEMENTWISE_LOOP
        for (int64_t c = 0; c < cols; c++)
            to[c] =
                job->log ? g[c] - row_exp_one(s[c]) * (real)sum[c] : s[c] * (g[c] - (real)sum[c]);
    }
}

typedef void unit_fn(const softmax_job *job, int64_t unit);

typedef struct softmax_run {
    softmax_job job;
    unit_fn *unit;
} softmax_run;

static void run_chunk(void *context, int64_t chunk)
{
    const softmax_run *run = context;
    const int64_t each = run->job.units_per_chunk, first = chunk * each;
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
    job.units_per_chunk = CHUNK / (job.n * cols + 1) + 1;
    return job;
}

static void run(softmax_job job, unit_fn *unit)
{
    softmax_run all = {.job = job, .unit = unit};
    if (job.n > 0)
        tern_pool_run((job.units + job.units_per_chunk - 1) / job.units_per_chunk, run_chunk, &all);
}

typedef void softmax_fn(bool log, const tern_strided *y, const tern_strided *x);
typedef void softmax_grad_fn(bool log, const tern_strided *dx, const tern_strided *dy,
                             const tern_strided *y);
REAL_DECLARE(softmax_fn, softmax);
REAL_DECLARE(softmax_grad_fn, softmax_grad);

void REAL_NAME(softmax)(bool log, const tern_strided *y, const tern_strided *x)
{
    softmax_job job = job_of(log, y, x);
    run(job, job.inner == 1 ? row : columns);
}

void REAL_NAME(softmax_grad)(bool log, const tern_strided *dx, const tern_strided *dy,
                             const tern_strided *y)
{
    softmax_job job = job_of(log, dx, dy);
    job.of = y->data;
    run(job, job.inner == 1 ? row_grad : columns_grad);
}

#if REAL_IS_FLOAT
tern_status TERN_ISA_NAME(softmax)(const tern_exec *exec, bool log, const tern_strided *y,
                                   const tern_strided *x)
{
    (void)exec;
    tern_strided upcast;
    TERN_TRY(tern_kernel_floating(log ? "log_softmax" : "softmax", x->dtype));
    if (!upcast_needed(x->dtype)) {
        REAL_SELECT(x->dtype, softmax)(log, y, x);
        return TERN_OK;
    }
    const tern_status status = upcast_copy(&upcast, x);
    if (status == TERN_OK) {
        TERN_ISA_NAME(softmax_float)(log, &upcast, &upcast);
        downcast_store(y, &upcast);
    }
    upcast_free(&upcast);
    return status;
}

tern_status TERN_ISA_NAME(softmax_grad)(const tern_exec *exec, bool log, const tern_strided *dx,
                                        const tern_strided *dy, const tern_strided *y)
{
    (void)exec;
    tern_strided upcast_dy = {0}, upcast_y = {0};
    TERN_TRY(tern_kernel_floating(log ? "log_softmax_grad" : "softmax_grad", y->dtype));
    if (!upcast_needed(y->dtype)) {
        REAL_SELECT(y->dtype, softmax_grad)(log, dx, dy, y);
        return TERN_OK;
    }
    tern_status status = upcast_copy(&upcast_dy, dy);
    if (status == TERN_OK)
        status = upcast_copy(&upcast_y, y);
    if (status == TERN_OK) {
        TERN_ISA_NAME(softmax_grad_float)(log, &upcast_dy, &upcast_dy, &upcast_y);
        downcast_store(dx, &upcast_dy);
    }
    upcast_free(&upcast_y);
    upcast_free(&upcast_dy);
    return status;
}
#endif
