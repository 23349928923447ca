// SPDX-License-Identifier: Apache-2.0
// Mean squared error; 16-bit operands are computed in float32.
#include "base/mem.h"
#include "base/pool.h"
#include "cpu/wide.h"

#define MSE_CHUNK 256
#define PIECE     16384

#define REAL      float
#define MSE(name) name##_float
#include "cpu/loss/mse_real.h"
#undef REAL
#undef MSE
#define REAL      double
#define MSE(name) name##_double
#include "cpu/loss/mse_real.h"

typedef struct mse_job {
    const tern_strided *y, *x, *t; // y: loss or dx
    const tern_strided *dy;
    double factor;
    double *partial; // one a piece, where the loss is one number
    int64_t numel;
} mse_job;

static int64_t pieces_of(int64_t numel)
{
    return (numel + PIECE - 1) / PIECE;
}

static char *at(const tern_strided *view, int64_t i)
{
    return (char *)view->data + i * (int64_t)tern_dtype_size(view->dtype);
}

static void forward_piece(void *context, int64_t index)
{
    const mse_job *job = context;
    int64_t i = index * PIECE, n = job->numel - i < PIECE ? job->numel - i : PIECE;
    bool in_double = job->x->dtype == TERN_FLOAT64;
    if (job->partial)
        job->partial[index] = (in_double ? sum_double : sum_float)(at(job->x, i), at(job->t, i), n);
    else
        (in_double ? each_double : each_float)(at(job->y, i), at(job->x, i), at(job->t, i), n);
}

static void backward_piece(void *context, int64_t index)
{
    const mse_job *job = context;
    int64_t i = index * PIECE, n = job->numel - i < PIECE ? job->numel - i : PIECE;
    bool one = tern_strided_numel(job->dy) == 1, in_double = job->x->dtype == TERN_FLOAT64;
    (in_double ? grad_double : grad_float)(at(job->y, i), at(job->dy, one ? 0 : i), one ? 0 : 1,
                                           at(job->x, i), at(job->t, i), job->factor, n);
}

static void store_number(const tern_strided *y, double value)
{
    if (y->dtype == TERN_FLOAT64)
        *(double *)y->data = value;
    else
        *(float *)y->data = (float)value;
}

static tern_status forward(mse_job *job, tern_reduction reduction)
{
    int64_t pieces = pieces_of(job->numel);
    size_t nbytes = (size_t)pieces * sizeof(double);
    double total = 0;
    if (reduction == TERN_REDUCTION_NONE) {
        tern_pool_run(pieces, forward_piece, job);
        return TERN_OK;
    }
    job->partial = tern_cache_alloc(nbytes);
    if (!job->partial)
        return TERN_ERR_NOMEM;
    tern_pool_run(pieces, forward_piece, job);
    for (int64_t i = 0; i < pieces; i++)
        total += job->partial[i];
    tern_cache_free(job->partial, nbytes);
    store_number(job->y, reduction == TERN_REDUCTION_SUM ? total : total / (double)job->numel);
    return TERN_OK;
}

#define MAX_OPERANDS 4

// Runs with 16-bit views (the first is the result) replaced by float32 copies.
static tern_status widen(const tern_strided **views, int count, tern_strided *wide)
{
    for (int v = 0; v < count; v++) {
        if (!wide_needed(views[v]->dtype))
            continue;
        tern_status status = v ? wide_copy(&wide[v], views[v]) : wide_new(&wide[v], views[v]);
        if (status)
            return status;
        views[v] = &wide[v];
    }
    return TERN_OK;
}

static void free_wide(tern_strided *wide, int count)
{
    for (int v = count - 1; v >= 0; v--)
        wide_free(&wide[v]);
}

tern_status TERN_ISA_NAME(mse)(const tern_exec *exec, tern_reduction reduction,
                               const tern_strided *loss, const tern_strided *x,
                               const tern_strided *t)
{
    (void)exec;
    tern_strided wide[MAX_OPERANDS] = {{0}};
    const tern_strided *views[] = {loss, x, t};
    tern_status status = widen(views, 3, wide);
    mse_job job = {.y = views[0], .x = views[1], .t = views[2], .numel = tern_strided_numel(x)};
    if (!status)
        status = forward(&job, reduction);
    if (!status && views[0] != loss)
        wide_store(loss, views[0]);
    free_wide(wide, 3);
    return status;
}

tern_status TERN_ISA_NAME(mse_grad)(const tern_exec *exec, tern_reduction reduction, double scale,
                                    const tern_strided *dx, const tern_strided *dloss,
                                    const tern_strided *x, const tern_strided *t)
{
    (void)exec;
    tern_strided wide[MAX_OPERANDS] = {{0}};
    const tern_strided *views[] = {dx, dloss, x, t};
    tern_status status = widen(views, 4, wide);
    int64_t numel = tern_strided_numel(x);
    mse_job job = {.y = views[0], .dy = views[1], .x = views[2], .t = views[3], .numel = numel};
    job.factor = reduction == TERN_REDUCTION_SUM || reduction == TERN_REDUCTION_NONE
                     ? scale
                     : scale / (double)numel;
    if (!status)
        tern_pool_run(pieces_of(numel), backward_piece, &job);
    if (!status && views[0] != dx)
        wide_store(dx, views[0]);
    free_wide(wide, 4);
    return status;
}
