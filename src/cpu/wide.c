// SPDX-License-Identifier: Apache-2.0
#include "cpu/wide.h"

#include "base/mem.h"
#include "base/pool.h"
#include "cpu/span.h"

#define PIECE 32768 // elements

typedef struct wide_job {
    float *wide;
    const tern_strided *narrow;
    bool store;
    int64_t rows, cols, rows_per_piece;
} wide_job;

tern_status wide_new(tern_strided *wide, const tern_strided *x)
{
    *wide = (tern_strided){.dtype = TERN_FLOAT32, .rank = x->rank};
    int64_t stride = 1;
    for (int d = x->rank - 1; d >= 0; d--) {
        wide->size[d] = x->size[d];
        wide->stride[d] = stride;
        stride *= x->size[d];
    }
    wide->data = tern_cache_alloc((size_t)tern_strided_numel(x) * sizeof(float));
    return wide->data ? TERN_OK : TERN_ERR_NOMEM;
}

void wide_free(tern_strided *wide)
{
    if (wide->data)
        tern_cache_free(wide->data, (size_t)tern_strided_numel(wide) * sizeof(float));
}

static int64_t row_offset(const tern_strided *x, int64_t row)
{
    int64_t at = 0;
    for (int d = x->rank - 2; d >= 0; d--) {
        at += row % x->size[d] * x->stride[d];
        row /= x->size[d];
    }
    return at;
}

static void run_rows(void *context, int64_t piece)
{
    const wide_job *job = context;
    const tern_strided *x = job->narrow;
    const int64_t stride = x->rank > 0 ? x->stride[x->rank - 1] : 1;
    int64_t row = piece * job->rows_per_piece, end = row + job->rows_per_piece;
    for (end = end < job->rows ? end : job->rows; row < end; row++) {
        uint16_t *narrow = (uint16_t *)x->data + row_offset(x, row);
        float *wide = job->wide + row * job->cols;
        if (job->store)
            span_store_float(narrow, wide, x->dtype, stride, job->cols);
        else
            span_load_float(wide, narrow, x->dtype, stride, job->cols);
    }
}

// Contiguous views are cut anywhere, others between rows.
static void run(float *wide, const tern_strided *narrow, bool store)
{
    tern_strided flat = *narrow;
    int64_t numel = tern_strided_numel(narrow), expected = 1;
    bool contiguous = true;
    for (int d = narrow->rank - 1; d >= 0; d--) {
        contiguous = contiguous && (narrow->size[d] == 1 || narrow->stride[d] == expected);
        expected *= narrow->size[d];
    }
    if (numel == 0)
        return;
    if (contiguous && numel % 1024 == 0) {
        flat.rank = 2;
        flat.size[0] = numel / 1024;
        flat.size[1] = 1024;
        flat.stride[0] = 1024;
        flat.stride[1] = 1;
    } else if (contiguous) {
        flat.rank = 1;
        flat.size[0] = numel;
        flat.stride[0] = 1;
    }
    wide_job job = {.wide = wide, .narrow = &flat, .store = store};
    job.cols = flat.rank > 0 ? flat.size[flat.rank - 1] : 1;
    job.rows = numel / job.cols;
    job.rows_per_piece = PIECE / job.cols + 1;
    tern_pool_run((job.rows + job.rows_per_piece - 1) / job.rows_per_piece, run_rows, &job);
}

void wide_load(const tern_strided *wide, const tern_strided *x)
{
    run(wide->data, x, false);
}

void wide_store(const tern_strided *y, const tern_strided *wide)
{
    run(wide->data, y, true);
}
