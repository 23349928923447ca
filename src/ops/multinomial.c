// SPDX-License-Identifier: Apache-2.0
// Indices drawn by weights.
#include "ops/multinomial.h"

#include <math.h>
#include <stdlib.h>
#include <tern/random.h>
#include "base/error.h"
#include "base/mem.h"
#include "device/generator.h"
#include "ops/op.h"
#include "tensor/factory.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

#define TYPE   double
#define SUFFIX _f64
#include "ops/multinomial_draw.h"
#undef TYPE
#undef SUFFIX

#define TYPE   float
#define SUFFIX _f32
#include "ops/multinomial_draw.h"
#undef TYPE
#undef SUFFIX

static tern_status check_row(const void *row, bool is_double, int64_t count,
                             const tern_multinomial_options *o)
{
    return is_double ? tern_multinomial_check_f64("multinomial", row, count, o->num_samples,
                                                  o->replacement)
                     : tern_multinomial_check_f32("multinomial", row, count, o->num_samples,
                                                  o->replacement);
}

static tern_status draw_row(tern_mt19937 *mt, const void *row, bool is_double, int64_t count,
                            const tern_multinomial_options *o, int64_t *out)
{
    return is_double ? tern_multinomial_f64(mt, row, count, o->num_samples, o->replacement, out)
                     : tern_multinomial_f32(mt, row, count, o->num_samples, o->replacement, out);
}

// (rows, count) weights of the host to (rows, num_samples) indices. Nothing is drawn for bad ones.
static tern_status draw_rows(const tern_multinomial_options *o, const void *weights, int64_t rows,
                             int64_t count, int64_t *out)
{
    const bool is_double = o->p->dtype == TERN_FLOAT64;
    const int64_t nbytes = count * (int64_t)tern_dtype_size(o->p->dtype);
    tern_generator *generator = tern_generator_for("multinomial", o->generator, tern_cpu(0));
    if (!generator)
        return tern_error_code();
    for (int64_t i = 0; i < rows; i++)
        TERN_TRY(check_row((const char *)weights + i * nbytes, is_double, count, o));
    tern_status status = TERN_OK;
    tern_generator_lock(generator);
    const tern_mt19937 before = generator->mt;
    for (int64_t i = 0; i < rows && !status; i++)
        status = draw_row(&generator->mt, (const char *)weights + i * nbytes, is_double, count, o,
                          out + i * o->num_samples);
    if (status)
        generator->mt = before;
    tern_generator_unlock(generator);
    return status;
}

static tern_tensor *draw(const tern_multinomial_options *o, void *weights, size_t nbytes,
                         int64_t *out)
{
    const tern_tensor *p = o->p;
    const int64_t rows = p->rank == 2 ? p->size[0] : 1, count = p->size[p->rank - 1];
    const tern_shape shape =
        p->rank == 2 ? tern_dims(rows, o->num_samples) : tern_dims(o->num_samples);
    tern_tensor *y = tern_tensor_new("multinomial", TERN_INT64, tern_dev(p), shape);
    if (!y || (nbytes > 0 && tern_download_as(p, p->dtype, weights)) ||
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
    const size_t nbytes = (size_t)o->p->numel * tern_dtype_size(o->p->dtype);
    const int64_t rows = o->p->rank == 2 ? o->p->size[0] : 1;
    const size_t out_nbytes = (size_t)(rows * o->num_samples) * sizeof(int64_t);
    void *weights = tern_cache_alloc(nbytes);
    int64_t *out = weights ? tern_cache_alloc(out_nbytes) : NULL;
    tern_tensor *y = out ? draw(o, weights, nbytes, out) : NULL;
    tern_cache_free(out, out_nbytes);
    tern_cache_free(weights, nbytes);
    return y;
}
