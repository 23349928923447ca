// SPDX-License-Identifier: Apache-2.0
#include "cpu/upcast.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/thread_pool.h"
#include "cpu/span.h"

#define CHUNK 32768 // elements

typedef struct upcast_job {
    float *upcast;
    const tern_strided *narrow;
    bool store;
    int64_t rows, cols, rows_per_chunk;
} upcast_job;

tern_status upcast_new(tern_strided *upcast, const tern_strided *x)
{
    *upcast = (tern_strided){.dtype = TERN_FLOAT32, .rank = x->rank};
    int64_t stride = 1;
    for (int d = x->rank - 1; d >= 0; d--) {
        upcast->size[d] = x->size[d];
        upcast->stride[d] = stride;
        stride *= x->size[d];
    }
    upcast->data = tern_cache_alloc((size_t)tern_strided_numel(x) * sizeof(float));
    return upcast->data ? TERN_OK : TERN_ERR_NOMEM;
}

void upcast_free(tern_strided *upcast)
{
    if (upcast->data)
        tern_cache_free(upcast->data, (size_t)tern_strided_numel(upcast) * sizeof(float));
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

static void run_rows(void *context, int64_t chunk)
{
    const upcast_job *job = context;
    const tern_strided *x = job->narrow;
    const int64_t stride = x->rank > 0 ? x->stride[x->rank - 1] : 1;
    int64_t row = chunk * job->rows_per_chunk, end = row + job->rows_per_chunk;
    for (end = end < job->rows ? end : job->rows; row < end; row++) {
        uint16_t *narrow = (uint16_t *)x->data + row_offset(x, row);
        float *upcast = job->upcast + row * job->cols;
        if (job->store)
            span_store_float(narrow, upcast, x->dtype, stride, job->cols);
        else
            span_load_float(upcast, narrow, x->dtype, stride, job->cols);
    }
}

// Contiguous views are cut anywhere, others between rows.
static void run(float *upcast, const tern_strided *narrow, bool store)
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
    upcast_job job = {.upcast = upcast, .narrow = &flat, .store = store};
    job.cols = flat.rank > 0 ? flat.size[flat.rank - 1] : 1;
    job.rows = numel / job.cols;
    job.rows_per_chunk = CHUNK / job.cols + 1;
    tern_pool_run((job.rows + job.rows_per_chunk - 1) / job.rows_per_chunk, run_rows, &job);
}

void upcast_load(const tern_strided *upcast, const tern_strided *x)
{
    run(upcast->data, x, false);
}

void downcast_store(const tern_strided *y, const tern_strided *upcast)
{
    run(upcast->data, y, true);
}

tern_status upcast_begin(tern_strided *copies, const tern_strided **views, int count)
{
    for (int v = 0; v < count; v++)
        copies[v] = (tern_strided){0};
    for (int v = 0; v < count; v++) {
        if (!views[v])
            continue;
        TERN_TRY(v == 0 ? upcast_new(&copies[v], views[v]) : upcast_copy(&copies[v], views[v]));
        views[v] = &copies[v];
    }
    return TERN_OK;
}

tern_status upcast_end(tern_strided *copies, int count, const tern_strided *result,
                       tern_status status)
{
    if (status == TERN_OK && copies[0].data)
        downcast_store(result, &copies[0]);
    for (int v = count - 1; v >= 0; v--)
        upcast_free(&copies[v]);
    return status;
}
