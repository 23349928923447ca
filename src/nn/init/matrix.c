// SPDX-License-Identifier: Apache-2.0
// Matrices that the CPU makes of normal draws: orthogonal and sparse ones.
#include <math.h>

#include "base/integer.h"
#include "base/mem.h"
#include "device/generator.h"
#include "nn/init/init.h"
#include "nn/init/qr.h"

// Normal numbers for `t`, as a matrix of these sizes, where t is.
static tern_tensor *draw_matrix(const tern_op *op, const tern_tensor *t, int64_t rows, int64_t cols,
                                double std, tern_generator *generator)
{
    tern_tensor *drawn = tern_new_empty(t, tern_dims(rows, cols));
    return drawn ? tern_draw_normal(op, drawn, 0, std, generator) : NULL;
}

// ---- orthogonal ---------------------------------------------------------------------------------

// gain times Q, whose columns are `count` of `length`, as a tensor (count, length) of the CPU. `q`
// has room for twice as much.
static tern_tensor *orthonormal_rows(tern_tensor *columns, double gain, double *q)
{
    const int64_t count = columns->size[0], length = columns->size[1], numel = count * length;
    if (tern_download_as(columns, TERN_FLOAT64, q + numel))
        return NULL;
    tern_init_qr(q + numel, q, count, length);
    for (int64_t i = 0; i < numel; i++)
        q[i] *= gain;
    return tern_from_data(tern_dims(count, length), q, .dtype = TERN_FLOAT64,
                          .device = tern_cpu(0));
}

static tern_tensor *make_orthogonal(const tern_op *op, const tern_init_gain_options *o, double *q)
{
    const int64_t rows = o->t->size[0], cols = o->t->numel / rows;
    tern_tensor *matrix = draw_matrix(op, o->t, rows, cols, 1, o->generator);
    if (matrix && rows >= cols)
        matrix = tern_transpose(matrix, 0, 1);
    tern_tensor *made = matrix ? orthonormal_rows(matrix, o->gain, q) : NULL;
    if (made && rows >= cols)
        made = tern_transpose(made, 0, 1);
    made = made ? tern_reshape(made, tern_shape_get(o->t)) : NULL;
    return made ? tern_copy_(o->t, made) : NULL;
}

tern_tensor *tern_init_orthogonal_with(const tern_init_gain_options *o)
{
    TERN_INIT_OP("init_orthogonal");
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    if (tern_init_check_floating(&op, o->t, 2, TERN_MAX_RANK))
        return NULL;
    TERN_CHECK_PTR(isfinite(o->gain), TERN_ERR_ARG,
                   "init_orthogonal: gain is %g, but must be finite", o->gain);
    if (o->t->numel == 0)
        return o->t;
    const size_t nbytes = 2 * (size_t)o->t->numel * sizeof(double);
    double *q = tern_cache_alloc(nbytes);
    tern_tensor *done = NULL;
    if (q)
        tern_no_grad
            tern_with_scope
                done = make_orthogonal(&op, o, q);
    tern_cache_free(q, nbytes);
    return done;
}

// ---- sparse -------------------------------------------------------------------------------------

// What is set to 0 of a matrix (rows, cols).
typedef struct holes {
    int64_t rows, cols, count; // of each column, so many
    double *values;            /* (rows, cols) */
    int64_t *order;            /* (rows) */
} holes;

static void make_holes(const holes *h, tern_generator *generator)
{
    tern_generator_lock(generator);
    for (int64_t column = 0; column < h->cols; column++) {
        tern_mt19937_randperm(&generator->mt, h->order, h->rows);
        for (int64_t i = 0; i < h->count; i++)
            h->values[h->order[i] * h->cols + column] = 0;
    }
    tern_generator_unlock(generator);
}

static tern_tensor *make_sparse(const tern_op *op, const tern_init_sparse_options *o,
                                const holes *h)
{
    tern_generator *generator = tern_generator_for(op->name, o->generator, tern_cpu(0));
    if (!generator)
        return NULL;
    tern_tensor *drawn = draw_matrix(op, o->t, h->rows, h->cols, o->std, o->generator);
    if (!drawn || tern_download_as(drawn, TERN_FLOAT64, h->values))
        return NULL;
    make_holes(h, generator);
    tern_tensor *made = tern_from_data(tern_dims(h->rows, h->cols), h->values,
                                       .dtype = TERN_FLOAT64, .device = tern_cpu(0));
    return made ? tern_copy_(o->t, made) : NULL;
}

static tern_status check_sparse(const tern_op *op, const tern_init_sparse_options *o)
{
    TERN_TRY(tern_init_check_floating(op, o->t, 2, 2));
    TERN_CHECK(o->sparsity >= 0 && o->sparsity <= 1, TERN_ERR_ARG,
               "%s: sparsity is %g, but must be 0 to 1", op->name, o->sparsity);
    return TERN_OK;
}

tern_tensor *tern_init_sparse_with(const tern_init_sparse_options *o)
{
    TERN_INIT_OP("init_sparse");
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    if (check_sparse(&op, o))
        return NULL;
    holes h = {.rows = o->t->size[0], .cols = o->t->size[1]};
    h.count = (int64_t)ceil(o->sparsity * (double)h.rows);
    const size_t value_bytes = (size_t)o->t->numel * sizeof *h.values,
                 order_bytes = (size_t)h.rows * sizeof *h.order;
    h.values = tern_cache_alloc(value_bytes);
    h.order = h.values ? tern_cache_alloc(order_bytes) : NULL;
    tern_tensor *done = NULL;
    if (h.order)
        tern_no_grad
            tern_with_scope
                done = make_sparse(&op, o, &h);
    tern_cache_free(h.order, order_bytes);
    tern_cache_free(h.values, value_bytes);
    return done;
}
