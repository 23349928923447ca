// SPDX-License-Identifier: Apache-2.0
// A normal distribution that is cut at both ends, by rejection: PyTorch's draws since 2.15.
#include <math.h>

#include "nn/init/init.h"

// What is drawn, and which of it is kept.
typedef struct rejection {
    const tern_init_trunc_normal_options *o;
    const tern_op *op;
    bool of_normal;   // candidates are normal, kept within [low, high]; else uniform
    double low, high; // a and b as t's dtype has them
    double log_peak;  // logarithm of the largest density in [a, b], but for a factor
} rejection;

static double normal_cdf(double x)
{
    return (1.0 + erf(x / sqrt(2.0))) / 2.0;
}

static double rounded(double value, tern_dtype dtype)
{
    tern_tensor *number = tern_full(tern_dims(), value, .dtype = dtype, .device = tern_cpu(0));
    return number ? tern_item(number) : NAN;
}

static tern_tensor *draw(const rejection *r)
{
    const tern_init_trunc_normal_options *o = r->o;
    tern_tensor *x = tern_empty_like(o->t);
    if (!x)
        return NULL;
    return r->of_normal ? tern_draw_normal(r->op, x, o->mean, o->std, o->generator)
                        : tern_draw_uniform(r->op, x, o->a, o->b, o->generator);
}

// Where candidates are to be drawn again, as bool.
static tern_tensor *rejected(const rejection *r, tern_tensor *x)
{
    if (r->of_normal)
        return tern_logical_or(tern_lt_scalar(x, r->low), tern_gt_scalar(x, r->high));
    tern_tensor *z = tern_div_scalar(tern_sub_scalar(x, r->o->mean), r->o->std);
    tern_tensor *log_density = tern_mul_scalar(tern_mul(z, z), -0.5);
    tern_tensor *chance = x ? tern_empty_like(x) : NULL;
    if (!chance || !tern_draw_uniform(r->op, chance, 0, 1, r->o->generator))
        return NULL;
    return tern_gt(tern_log(chance), tern_sub_scalar(log_density, r->log_peak));
}

static tern_status find_any(tern_tensor *pending, double *found)
{
    tern_tensor *any = tern_any(pending, TERN_ALL_AXES, false);
    return any ? tern_download_as(any, TERN_FLOAT64, found) : tern_error_code();
}

// Candidates in the place of those that are pending.
static tern_status draw_again(const rejection *r, tern_tensor *values, tern_tensor *pending)
{
    tern_tensor *x = draw(r);
    tern_tensor *chosen = tern_where(pending, x, values);
    tern_tensor *still = tern_logical_and(pending, rejected(r, x));
    const bool done = chosen && still && tern_copy_(values, chosen) && tern_copy_(pending, still);
    return done ? TERN_OK : tern_error_code();
}

static tern_tensor *run(const rejection *r)
{
    tern_tensor *values = draw(r), *pending = rejected(r, values);
    double any = 0;
    tern_status status = find_any(pending, &any);
    while (!status && any != 0) {
        status = TERN_ERR_NOMEM; // where there is none for a scope
        tern_with_scope {
            status = draw_again(r, values, pending);
            status = status ? status : find_any(pending, &any);
        }
    }
    return status ? NULL : tern_copy_(r->o->t, values);
}

// ---- checks -------------------------------------------------------------------------------------

static tern_status check(const tern_op *op, const tern_init_trunc_normal_options *o)
{
    TERN_TRY(tern_init_check_floating(op, o->t, 0, TERN_MAX_RANK));
    TERN_CHECK(isfinite(o->mean) && o->std > 0 && isfinite(o->std), TERN_ERR_ARG,
               "%s: mean %g and std %g must be finite, std positive", op->name, o->mean, o->std);
    TERN_CHECK(o->a < o->b, TERN_ERR_ARG, "%s: a %g is not below b %g", op->name, o->a, o->b);
    return TERN_OK;
}

// Of uniform candidates about this share is kept: the density falls from its peak like a normal
// one, or where that is far away like an exponential one.
static double kept_share(const tern_init_trunc_normal_options *o, double mode)
{
    const double pi = 3.14159265358979323846, distance = fabs(mode - o->mean) / o->std;
    return o->std * fmin(sqrt(2 * pi), 1 / distance) / (o->b - o->a);
}

tern_tensor *tern_init_trunc_normal_with(const tern_init_trunc_normal_options *o)
{
    TERN_INIT_OP("init_trunc_normal");
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    if (check(&op, o))
        return NULL;
    const double mode = fmax(o->a, fmin(o->mean, o->b)), z = (mode - o->mean) / o->std;
    rejection r = {.o = o, .op = &op, .log_peak = -0.5 * (z * z)};
    r.of_normal =
        normal_cdf((o->b - o->mean) / o->std) - normal_cdf((o->a - o->mean) / o->std) > 0.3;
    TERN_CHECK_PTR(r.of_normal || kept_share(o, mode) >= 1e-4, TERN_ERR_ARG,
                   "init_trunc_normal: hardly any number from %g to %g would be kept with mean %g "
                   "and std %g",
                   o->a, o->b, o->mean, o->std);
    tern_tensor *done = NULL;
    tern_no_grad
        tern_with_scope {
            r.low = rounded(o->a, o->t->dtype);
            r.high = rounded(o->b, o->t->dtype);
            done = isnan(r.low) || isnan(r.high) ? NULL : run(&r);
        }
    return done;
}
