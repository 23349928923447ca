// SPDX-License-Identifier: Apache-2.0
// Initial values that are the same, or drawn from the same distribution, for all elements; checks
// and draws of the others.
#include <math.h>

#include "nn/init/init.h"

tern_status tern_init_check(const tern_op *op, const tern_tensor *t, int min_rank, int max_rank)
{
    tern_status status = TERN_OK;
    tern_no_grad
        status = tern_check_inplace(op->name, t);
    TERN_TRY(status);
    TERN_CHECK(t->rank >= min_rank, TERN_ERR_SHAPE, "%s: t is %s, but must have %s%d dimensions",
               op->name, tern_shape_string(tern_shape_get(t)),
               min_rank < max_rank ? "at least " : "", min_rank);
    TERN_CHECK(t->rank <= max_rank, TERN_ERR_SHAPE, "%s: t is %s, but must have %s%d dimensions",
               op->name, tern_shape_string(tern_shape_get(t)),
               min_rank < max_rank ? "at most " : "", max_rank);
    return TERN_OK;
}

tern_status tern_init_check_floating(const tern_op *op, const tern_tensor *t, int min_rank,
                                     int max_rank)
{
    TERN_TRY(tern_init_check(op, t, min_rank, max_rank));
    TERN_CHECK(tern_dtype_is_floating(t->dtype), TERN_ERR_DTYPE,
               "%s: dtype is %s, but must be a floating one", op->name, tern_dtype_name(t->dtype));
    return TERN_OK;
}

tern_tensor *tern_init_draw_uniform(const tern_op *op, tern_tensor *t, double low, double high,
                                    tern_generator *generator)
{
    tern_tensor *drawn = NULL;
    tern_no_grad
        drawn = tern_draw_uniform(op, t, low, high, generator);
    return drawn;
}

tern_tensor *tern_init_draw_normal(const tern_op *op, tern_tensor *t, double mean, double std,
                                   tern_generator *generator)
{
    tern_tensor *drawn = NULL;
    tern_no_grad
        drawn = tern_draw_normal(op, t, mean, std, generator);
    return drawn;
}

tern_tensor *tern_init_uniform_with(const tern_init_uniform_options *o)
{
    TERN_INIT_OP("init_uniform");
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    TERN_CHECK_PTR(!o->t || (isfinite(o->a) && isfinite(o->b) && o->a <= o->b), TERN_ERR_ARG,
                   "init_uniform: a is %g and b %g, but must be finite, b not below a", o->a, o->b);
    return tern_init_draw_uniform(&op, o->t, o->a, o->b, o->generator);
}

tern_tensor *tern_init_normal_with(const tern_init_normal_options *o)
{
    TERN_INIT_OP("init_normal");
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    return tern_init_draw_normal(&op, o->t, o->mean, o->std, o->generator);
}

static tern_tensor *fill(const char *op, tern_tensor *t, double value)
{
    tern_tensor *filled = NULL;
    tern_no_grad {
        if (!tern_check_inplace(op, t) && !tern_check_range(op, "value", value, t->dtype))
            filled = tern_fill_(t, value);
    }
    return filled;
}

tern_tensor *tern_init_constant(tern_tensor *t, double value)
{
    return fill("init_constant", t, value);
}

tern_tensor *tern_init_ones(tern_tensor *t)
{
    return fill("init_ones", t, 1);
}

tern_tensor *tern_init_zeros(tern_tensor *t)
{
    return fill("init_zeros", t, 0);
}
