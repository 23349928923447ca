// SPDX-License-Identifier: Apache-2.0
// Indices drawn by weights.
#include "ops/multinomial_draw.h"

#include <tern/random.h>
#include "base/error.h"
#include "base/mem.h"
#include "device/generator.h"
#include "ops/op.h"
#include "tensor/factory.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

// (rows, count) weights of the host to (rows, num_samples) indices. Nothing is drawn for bad ones.
static tern_status draw_rows(const tern_multinomial_options *o, const double *weights, int64_t rows,
                             int64_t count, int64_t *out)
{
    tern_multinomial_row row = {.count = count,
                                .samples = o->num_samples,
                                .replacement = o->replacement,
                                .single = o->p->dtype == TERN_FLOAT32};
    tern_generator *generator = tern_generator_for("multinomial", o->generator, tern_cpu(0));
    if (!generator)
        return tern_error_code();
    for (int64_t i = 0; i < rows; i++) {
        row.weights = weights + i * count;
        TERN_TRY(tern_multinomial_check("multinomial", &row));
    }
    tern_status status = TERN_OK;
    tern_generator_lock(generator);
    const tern_mt19937 before = generator->mt;
    for (int64_t i = 0; i < rows && !status; i++) {
        row.weights = weights + i * count;
        status = tern_multinomial_draw(&generator->mt, &row, out + i * o->num_samples);
    }
    if (status)
        generator->mt = before;
    tern_generator_unlock(generator);
    return status;
}

static tern_tensor *draw(const tern_multinomial_options *o, double *weights, int64_t *out)
{
    const tern_tensor *p = o->p;
    const int64_t rows = p->rank == 2 ? p->size[0] : 1, count = p->size[p->rank - 1];
    const tern_shape shape =
        p->rank == 2 ? tern_dims(rows, o->num_samples) : tern_dims(o->num_samples);
    tern_tensor *y = tern_tensor_new("multinomial", TERN_INT64, tern_dev(p), shape);
    if (!y || (p->numel > 0 && tern_download_as(p, TERN_FLOAT64, weights)) ||
        draw_rows(o, weights, rows, count, out) || tern_upload("multinomial", y, out))
        return NULL;
    return y;
}

static tern_status check(const tern_multinomial_options *o)
{
    if (!o)
        return tern_null_error("multinomial", "options");
    TERN_TRY(tern_check_tensor("multinomial", "p", o->p));
    const tern_tensor *p = o->p;
    TERN_CHECK(p->dtype == TERN_FLOAT32 || p->dtype == TERN_FLOAT64, TERN_ERR_DTYPE,
               "multinomial: p is %s, but must be float32 or float64", tern_dtype_name(p->dtype));
    TERN_CHECK(p->rank == 1 || p->rank == 2, TERN_ERR_SHAPE,
               "multinomial: p has shape %s, but must be (C) or (N, C)",
               tern_shape_string(tern_shape_get(p)));
    TERN_CHECK(p->size[p->rank - 1] >= 1, TERN_ERR_SHAPE,
               "multinomial: p has shape %s: there is nothing to draw from",
               tern_shape_string(tern_shape_get(p)));
    TERN_CHECK(o->num_samples >= 1, TERN_ERR_ARG,
               "multinomial: num_samples is %lld, but must be at least 1",
               (long long)o->num_samples);
    TERN_TRY(tern_check_generator("multinomial", o->generator));
    const tern_shape shape =
        p->rank == 2 ? tern_dims(p->size[0], o->num_samples) : tern_dims(o->num_samples);
    return tern_check_shape("multinomial", shape, TERN_INT64);
}

tern_tensor *tern_multinomial_with(const tern_multinomial_options *o)
{
    if (check(o))
        return NULL;
    const size_t nbytes = (size_t)o->p->numel * sizeof(double);
    const int64_t rows = o->p->rank == 2 ? o->p->size[0] : 1;
    const size_t out_nbytes = (size_t)(rows * o->num_samples) * sizeof(int64_t);
    double *weights = tern_cache_alloc(nbytes);
    int64_t *out = weights ? tern_cache_alloc(out_nbytes) : NULL;
    tern_tensor *y = out ? draw(o, weights, out) : NULL;
    tern_cache_free(out, out_nbytes);
    tern_cache_free(weights, nbytes);
    return y;
}
