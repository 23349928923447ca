// SPDX-License-Identifier: Apache-2.0
// The running sums of lines.
#include "base/integer.h"
#include "base/thread_pool.h"
#include "cpu/real.h"
#include "cpu/reduce/scan.h"
#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

#define STRIP 128 // lines at most that are added side by side
#define LINES 4   // of others

typedef struct cumsum_job cumsum_job;
// `cols` lines that begin at data[0], of y, and data[1], of x.
typedef void cumsum_fn(const cumsum_job *job, char *const *data, const int64_t *stride,
                       int64_t cols);
NUMBER_DECLARE(cumsum_fn, cumsum_lines);

struct cumsum_job {
    cumsum_fn *lines;
    const tern_strided *views[2]; // y, x
    int dim;
    bool reverse;
    bool dense;                     // neighbouring lines lie side by side in both views
    int64_t next[2];                // else so far apart
    int64_t cols, width, strips;    // lines at these steps, done in strips of `width`
    int64_t units, units_per_chunk; // strips
};

// What is added in; sums of integers wrap.
#if REAL_IS_INTEGER
typedef uint64_t sum_type;
#else
typedef double sum_type;
#endif

static void add_line(real *y, int64_t y_stride, const real *x, int64_t x_stride, int64_t n)
{
    sum_type sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += (sum_type)x[i * x_stride];
        y[i * y_stride] = (real)sum;
    }
}

// LINES lines at steps y_next and x_next: one sum need not wait for another.
static void add_lines(real *y, int64_t y_stride, int64_t y_next, const real *x, int64_t x_stride,
                      int64_t x_next, int64_t n)
{
    sum_type sum[LINES] = {0};
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < LINES; k++) {
            sum[k] += (sum_type)x[i * x_stride + k * x_next];
            y[i * y_stride + k * y_next] = (real)sum[k];
        }
}

// `cols` lines whose elements lie side by side.
static void add_strip(real *y, int64_t y_stride, const real *x, int64_t x_stride, int64_t n,
                      int64_t cols)
{
    sum_type sum[STRIP] = {0};
    for (int64_t i = 0; i < n; i++) {
        real *to = y + i * y_stride;
        const real *from = x + i * x_stride;
        ELEMENTWISE_LOOP
        for (int64_t c = 0; c < cols; c++) {
            sum[c] += (sum_type)from[c];
            to[c] = (real)sum[c];
        }
    }
}

void REAL_NAME(cumsum_lines)(const cumsum_job *job, char *const *data, const int64_t *stride,
                             int64_t cols)
{
    const int64_t n = job->views[0]->size[job->dim];
    real *y = (real *)(void *)data[0];
    const real *x = (const real *)(void *)data[1];
    if (job->dense)
        add_strip(y, stride[0], x, stride[1], n, cols);
    else if (cols == LINES)
        add_lines(y, stride[0], job->next[0], x, stride[1], job->next[1], n);
    else
        for (int64_t k = 0; k < cols; k++)
            add_line(y + k * job->next[0], stride[0], x + k * job->next[1], stride[1], n);
}

#if REAL_IS_FLOAT
static void run_unit(const cumsum_job *job, int64_t unit)
{
    char *data[2];
    int64_t stride[2], n = job->views[0]->size[job->dim];
    const int64_t first = unit % job->strips * job->width;
    scan_line(job->views, 2, job->dim, unit / job->strips * job->cols + first, data);
    for (int v = 0; v < 2; v++) {
        stride[v] = job->views[v]->stride[job->dim];
        if (job->reverse) {
            data[v] += (n - 1) * stride[v] * (int64_t)tern_dtype_size(job->views[v]->dtype);
            stride[v] = -stride[v];
        }
    }
    job->lines(job, data, stride, min_int64(job->cols - first, job->width));
}

static void run_chunk(void *context, int64_t index)
{
    const cumsum_job *job = context;
    int64_t begin = index * job->units_per_chunk, end = begin + job->units_per_chunk;
    for (int64_t unit = begin; unit < end && unit < job->units; unit++)
        run_unit(job, unit);
}

// The lines along the innermost of the other dimensions.
static void find_steps(cumsum_job *job)
{
    const tern_strided *y = job->views[0], *x = job->views[1];
    const int last = y->rank - 1, inner = job->dim == last ? last - 1 : last;
    job->cols = inner < 0 ? 1 : y->size[inner];
    job->next[0] = inner < 0 ? 0 : y->stride[inner];
    job->next[1] = inner < 0 ? 0 : x->stride[inner];
    job->dense = job->cols > 1 && job->next[0] == 1 && job->next[1] == 1;
    job->width = job->dense ? STRIP : LINES;
    job->width = job->cols < job->width ? job->cols : job->width;
    job->strips = (job->cols + job->width - 1) / job->width;
}

static void run_all(cumsum_job *job)
{
    const int64_t n = job->views[0]->size[job->dim];
    const int64_t lines = n > 0 ? scan_lines(job->views[0], job->dim) : 0;
    if (lines == 0)
        return;
    find_steps(job);
    job->units = lines / job->cols * job->strips;
    job->units_per_chunk = scan_lines_per_chunk(n * job->width);
    tern_pool_run((job->units + job->units_per_chunk - 1) / job->units_per_chunk, run_chunk, job);
}

tern_status TERN_ISA_NAME(cumsum)(const tern_exec *exec, const tern_strided *y,
                                  const tern_strided *x, int dim, bool reverse)
{
    (void)exec;
    if (y->dtype != TERN_INT64)
        TERN_TRY(tern_kernel_floating("cumsum", y->dtype));
    cumsum_job job = {.lines = NUMBER_SELECT(y->dtype, cumsum_lines),
                      .views = {y, x},
                      .dim = dim,
                      .reverse = reverse};
    if (!upcast_needed(y->dtype)) {
        run_all(&job);
        return TERN_OK;
    }
    tern_strided copies[2];
    const tern_status status = upcast_begin(copies, job.views, 2);
    if (status == TERN_OK)
        run_all(&job);
    return upcast_end(copies, 2, y, status);
}
#endif
