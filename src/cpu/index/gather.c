// SPDX-License-Identifier: Apache-2.0
// Reading and adding along one dimension by int64 indices.
#include <string.h>

#include "base/thread_pool.h"
#include "cpu/elementwise/elementwise.h"
#include "cpu/fault.h"
#include "cpu/upcast.h"

#define CHUNK 8192 // elements of the index that one chunk reads

// Columns that one chunk adds where chunks cannot be of rows.
#define ADD_COLUMNS 32

// The views have the index's rank, at least 1; the last dimension is read as rows.
typedef struct gather_job {
    const tern_exec *exec;
    const tern_strided *y, *x, *index; // of x or, when adding, of y the size along dim counts
    int dim;
    int64_t rows, cols, rows_per_chunk;
    int64_t first_col; // of those that a chunk adds
    size_t element;
} gather_job;

// Where row `row` of the index begins, in elements of each view; along dim only the index's side
// moves.
typedef struct row_start {
    int64_t dense, indexed, index; // dense: the view of the index's sizes
} row_start;

static row_start find_row(const gather_job *job, const tern_strided *dense,
                          const tern_strided *indexed, int64_t row)
{
    row_start at = {0, 0, 0};
    for (int d = job->index->rank - 2; d >= 0; d--) {
        const int64_t i = d > 0 ? row % job->index->size[d] : row;
        row = d > 0 ? row / job->index->size[d] : 0;
        at.dense += i * dense->stride[d];
        at.index += i * job->index->stride[d];
        if (d != job->dim)
            at.indexed += i * indexed->stride[d];
    }
    return at;
}

// The index at a place in the index's memory; -1 after a fault.
static int64_t index_at(const gather_job *job, int64_t limit, int64_t position)
{
    int64_t i = ((const int64_t *)job->index->data)[position];
    if (i >= 0 && i < limit)
        return i;
    tern_cpu_fault(job->exec, position, i);
    return -1;
}

// Whether no index of a row is at fault.
static bool in_range(const gather_job *job, int64_t limit, int64_t position, int64_t step)
{
    const int64_t *index = (const int64_t *)job->index->data + position;
    uint64_t signs = 0;
    if (step == 1)
        for (int64_t col = 0; col < job->cols; col++)
            signs |= (uint64_t)index[col] | ((uint64_t)limit - 1 - (uint64_t)index[col]);
    return step == 1 && (int64_t)signs >= 0;
}

// One row, of elements of one size; strides along it.
typedef struct row_strides {
    int64_t y, x, index, hop; // hop: of x along dim
} row_strides;

#define GATHER_ROW(type)                                                                           \
    static void gather_##type(const gather_job *job, row_start at, row_strides by)                 \
    {                                                                                              \
        const int64_t limit = job->x->size[job->dim];                                              \
        const int64_t *index = (const int64_t *)job->index->data + at.index;                       \
        const type *x = (const type *)job->x->data + at.indexed;                                   \
        type *y = (type *)job->y->data + at.dense;                                                 \
        const bool safe = by.y == 1 && in_range(job, limit, at.index, by.index);                   \
        if (safe && by.x == 0 && by.hop == 1) {                                                    \
            for (int64_t col = 0; col < job->cols; col++)                                          \
                y[col] = x[index[col]];                                                            \
            return;                                                                                \
        }                                                                                          \
        if (safe) {                                                                                \
            for (int64_t col = 0; col < job->cols; col++)                                          \
                y[col] = x[col * by.x + index[col] * by.hop];                                      \
            return;                                                                                \
        }                                                                                          \
        for (int64_t col = 0; col < job->cols; col++) {                                            \
            const int64_t i = index_at(job, limit, at.index + col * by.index);                     \
            y[col * by.y] = i < 0 ? 0 : x[col * by.x + i * by.hop];                                \
        }                                                                                          \
    }
GATHER_ROW(raw_1)
GATHER_ROW(raw_2)
GATHER_ROW(raw_4)
GATHER_ROW(raw_8)

static void gather_row(const gather_job *job, int64_t row)
{
    const int last = job->index->rank - 1;
    const row_start at = find_row(job, job->y, job->x, row);
    const row_strides by = {job->y->stride[last], job->dim == last ? 0 : job->x->stride[last],
                            job->index->stride[last], job->x->stride[job->dim]};
    switch (job->element) {
    case 8:
        gather_raw_8(job, at, by);
        break;
    case 4:
        gather_raw_4(job, at, by);
        break;
    case 2:
        gather_raw_2(job, at, by);
        break;
    default:
        gather_raw_1(job, at, by);
        break;
    }
}

// One index for the whole row, and rows that lie in one chunk: a copy.
static bool copies_rows(const gather_job *job)
{
    const int last = job->index->rank - 1;
    return job->dim != last && job->index->stride[last] == 0 && job->x->stride[last] == 1 &&
           job->y->stride[last] == 1;
}

// Rows from `row` on, before `end`, that differ in no dimension but the one before the last; says
// where they end.
static int64_t copy_run(const gather_job *job, int64_t row, int64_t end)
{
    const int d = job->index->rank - 2;
    const int64_t size = (int64_t)job->element, limit = job->x->size[job->dim];
    const int64_t left = job->index->size[d] - row % job->index->size[d];
    const int64_t count = left < end - row ? left : end - row, nbytes = job->cols * size;
    const int64_t step = job->index->stride[d], y_step = job->y->stride[d] * size;
    const int64_t x_step = d == job->dim ? 0 : job->x->stride[d] * size;
    const int64_t hop = job->x->stride[job->dim] * size;
    const row_start at = find_row(job, job->y, job->x, row);
    const char *x = (const char *)job->x->data + at.indexed * size;
    char *y = (char *)job->y->data + at.dense * size;
    for (int64_t r = 0; r < count; r++) {
        const int64_t i = index_at(job, limit, at.index + r * step);
        if (i < 0)
            memset(y + r * y_step, 0, (size_t)nbytes);
        else
            memcpy(y + r * y_step, x + r * x_step + i * hop, (size_t)nbytes);
    }
    return row + count;
}

static void gather_chunk(void *context, int64_t index)
{
    const gather_job *job = context;
    const bool copies = copies_rows(job);
    const int64_t begin = index * job->rows_per_chunk, after = begin + job->rows_per_chunk;
    const int64_t end = after < job->rows ? after : job->rows;
    int64_t row = begin;
    while (copies && row < end)
        row = copy_run(job, row, end);
    for (; row < end; row++)
        gather_row(job, row);
}

static void set_rows(gather_job *job)
{
    job->cols = job->index->size[job->index->rank - 1];
    job->rows = 1;
    for (int d = 0; d < job->index->rank - 1; d++)
        job->rows *= job->index->size[d];
    if (job->cols == 0)
        job->rows = 0;
    job->rows_per_chunk = job->cols > 0 && job->cols < CHUNK ? CHUNK / job->cols : 1;
}

tern_status TERN_ISA_NAME(gather)(const tern_exec *exec, const tern_strided *y,
                                  const tern_strided *x, const tern_strided *index, int dim)
{
    gather_job job = {.exec = exec, .y = y, .x = x, .index = index, .dim = dim};
    job.element = tern_dtype_size(x->dtype);
    set_rows(&job);
    tern_pool_run((job.rows + job.rows_per_chunk - 1) / job.rows_per_chunk, gather_chunk, &job);
    return TERN_OK;
}

// ---- adding -------------------------------------------------------------------------------------

#define ADD_ROW(name, type, sign)                                                                  \
    static void add_##name(const gather_job *job, row_start at, row_strides by)                    \
    {                                                                                              \
        const int64_t limit = job->y->size[job->dim];                                              \
        const int64_t *index = (const int64_t *)job->index->data + at.index;                       \
        const type *x = (const type *)job->x->data + at.dense;                                     \
        type *y = (type *)job->y->data + at.indexed;                                               \
        if (in_range(job, limit, at.index, by.index)) {                                            \
            for (int64_t col = 0; col < job->cols; col++) {                                        \
                type *to = &y[col * by.y + index[col] * by.hop];                                   \
                *to = (type)(*to sign x[col * by.x]);                                              \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int64_t col = 0; col < job->cols; col++) {                                            \
            const int64_t i = index_at(job, limit, at.index + col * by.index);                     \
            type *to = &y[col * by.y + i * by.hop];                                                \
            if (i >= 0)                                                                            \
                *to = (type)(*to sign x[col * by.x]);                                              \
        }                                                                                          \
    }
ADD_ROW(float, float, +)
ADD_ROW(double, double, +)
ADD_ROW(int64, uint64_t, +)
ADD_ROW(int32, uint32_t, +)
ADD_ROW(byte, uint8_t, +)
ADD_ROW(bool, uint8_t, |)

static row_start find_sum(const gather_job *job, int64_t row)
{
    const int last = job->index->rank - 1;
    row_start at = find_row(job, job->x, job->y, row);
    at.dense += job->first_col * job->x->stride[last];
    at.index += job->first_col * job->index->stride[last];
    at.indexed += job->dim == last ? 0 : job->first_col * job->y->stride[last];
    return at;
}

static void add_row(const gather_job *job, int64_t row)
{
    const int last = job->index->rank - 1;
    const row_start at = find_sum(job, row);
    const row_strides by = {job->dim == last ? 0 : job->y->stride[last], job->x->stride[last],
                            job->index->stride[last], job->y->stride[job->dim]};
    switch (job->y->dtype) {
    case TERN_FLOAT32:
        add_float(job, at, by);
        break;
    case TERN_FLOAT64:
        add_double(job, at, by);
        break;
    case TERN_INT64:
        add_int64(job, at, by);
        break;
    case TERN_INT32:
        add_int32(job, at, by);
        break;
    case TERN_UINT8:
        add_byte(job, at, by);
        break;
    case TERN_BOOL:
        add_bool(job, at, by);
        break;
    case TERN_FLOAT16: // upcast by the caller
    case TERN_BFLOAT16:
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
}

// One index for the whole row: rows that lie in one chunk are added as such.
static bool adds_rows(const gather_job *job)
{
    const int last = job->index->rank - 1;
    return job->dim != last && job->index->stride[last] == 0 && job->x->stride[last] == 1 &&
           job->y->stride[last] == 1 &&
           (job->y->dtype == TERN_FLOAT32 || job->y->dtype == TERN_FLOAT64);
}

static void add_whole_row(const gather_job *job, int64_t row)
{
    const row_start at = find_sum(job, row);
    const int64_t i = index_at(job, job->y->size[job->dim], at.index);
    const int64_t to = at.indexed + i * job->y->stride[job->dim];
    if (i < 0)
        return;
    if (job->y->dtype == TERN_FLOAT32) {
        const float *x = (const float *)job->x->data + at.dense;
        float *y = (float *)job->y->data + to;
        for (int64_t col = 0; col < job->cols; col++)
            y[col] += x[col];
    } else {
        const double *x = (const double *)job->x->data + at.dense;
        double *y = (double *)job->y->data + to;
        for (int64_t col = 0; col < job->cols; col++)
            y[col] += x[col];
    }
}

static void add_range(const gather_job *job, int64_t begin, int64_t end)
{
    const bool whole = adds_rows(job);
    for (int64_t row = begin; row < end; row++) {
        if (whole)
            add_whole_row(job, row);
        else
            add_row(job, row);
    }
}

static void add_groups(void *context, int64_t chunk)
{
    const gather_job *job = context;
    const int64_t begin = chunk * job->rows_per_chunk, end = begin + job->rows_per_chunk;
    add_range(job, begin, end < job->rows ? end : job->rows);
}

static void add_columns(void *context, int64_t chunk)
{
    gather_job job = *(const gather_job *)context;
    const int64_t left = job.cols - chunk * ADD_COLUMNS;
    job.first_col = chunk * ADD_COLUMNS;
    job.cols = left < ADD_COLUMNS ? left : ADD_COLUMNS;
    add_range(&job, 0, job.rows);
}

// Two elements may be added at one offset, and are added in the index's order. They have in common
// all positions but that along dim, so what differs in another one may be done at the same time.
static void add_rows(gather_job *job)
{
    const tern_strided *index = job->index;
    int64_t rows_per_group = 1;
    set_rows(job);
    if (job->rows * job->cols <= CHUNK) {
        add_range(job, 0, job->rows);
        return;
    }
    for (int d = job->dim; d < index->rank - 1; d++)
        rows_per_group *= index->size[d];
    if (rows_per_group < job->rows) {
        const int64_t groups = job->rows_per_chunk / rows_per_group;
        job->rows_per_chunk = rows_per_group * (groups > 0 ? groups : 1);
        tern_pool_run((job->rows + job->rows_per_chunk - 1) / job->rows_per_chunk, add_groups, job);
    } else if (job->dim < index->rank - 1 && tern_num_threads() > 1) {
        tern_pool_run((job->cols + ADD_COLUMNS - 1) / ADD_COLUMNS, add_columns, job);
    } else {
        add_range(job, 0, job->rows);
    }
}

tern_status TERN_ISA_NAME(scatter_add)(const tern_exec *exec, const tern_strided *y,
                                       const tern_strided *x, const tern_strided *index, int dim,
                                       bool unique)
{
    (void)unique;
    gather_job job = {.exec = exec, .y = y, .x = x, .index = index, .dim = dim};
    job.element = tern_dtype_size(y->dtype);
    if (!upcast_needed(y->dtype)) {
        add_rows(&job);
        return TERN_OK;
    }
    const tern_strided *views[] = {y, x};
    tern_strided copies[2];
    const tern_status status = upcast_begin(copies, views, 2);
    if (status == TERN_OK) {
        upcast_load(&copies[0], y);
        job.y = views[0];
        job.x = views[1];
        job.element = sizeof(float);
        add_rows(&job);
    }
    return upcast_end(copies, 2, y, status);
}
