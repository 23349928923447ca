// SPDX-License-Identifier: Apache-2.0
// Xavier's and Kaiming's initial values: a width by the number of inputs and outputs. Operation by
// operation as PyTorch computes them.
#include <math.h>

#include "nn/init/init.h"

// ---- fans and gains -----------------------------------------------------------------------------

static tern_status check_mode(const char *op, tern_fan_mode mode)
{
    TERN_CHECK(mode >= TERN_FAN_UNSPECIFIED && mode <= TERN_FAN_OUT, TERN_ERR_ARG,
               "%s: %d is no mode of counting; there are TERN_FAN_IN and TERN_FAN_OUT", op,
               (int)mode);
    return TERN_OK;
}

// Of a tensor of two dimensions or more.
static int64_t fan_of(const tern_tensor *t, tern_fan_mode mode)
{
    int64_t fan = t->size[mode == TERN_FAN_OUT ? 0 : 1];
    for (int i = 2; i < t->rank; i++)
        fan *= t->size[i];
    return fan;
}

int64_t tern_init_calculate_fan(const tern_tensor *t, tern_fan_mode mode)
{
    const char *op = "init_calculate_fan";
    if (tern_check_tensor(op, "t", t) || check_mode(op, mode))
        return -1;
    if (t->rank >= 2)
        return fan_of(t, mode);
    tern_error_raise(TERN_ERR_SHAPE, "%s: t is %s, but must have at least 2 dimensions", op,
                     tern_shape_string(tern_shape_get(t)));
    return -1;
}

static double gain_of(const char *op, tern_nonlinearity nonlinearity, double slope)
{
    switch (nonlinearity) {
    case TERN_NONLINEARITY_LINEAR:
    case TERN_NONLINEARITY_SIGMOID:
        return 1;
    case TERN_NONLINEARITY_TANH:
        return 5.0 / 3;
    case TERN_NONLINEARITY_RELU:
        return sqrt(2.0);
    case TERN_NONLINEARITY_UNSPECIFIED:
    case TERN_NONLINEARITY_LEAKY_RELU:
        return sqrt(2.0 / (1 + slope * slope));
    case TERN_NONLINEARITY_SELU:
        return 3.0 / 4;
    }
    tern_error_raise(TERN_ERR_ARG, "%s: %d is no nonlinearity", op, (int)nonlinearity);
    return NAN;
}

double tern_init_calculate_gain(tern_nonlinearity nonlinearity, double slope)
{
    const char *op = "init_calculate_gain";
    if (!isinf(slope))
        return gain_of(op, nonlinearity, isnan(slope) ? 0.01 : slope);
    tern_error_raise(TERN_ERR_ARG, "%s: slope is %g, but must be finite", op, slope);
    return NAN;
}

// ---- draws of mean 0 and a standard deviation ---------------------------------------------------

typedef tern_tensor *draw_fn(const tern_op *op, tern_tensor *t, double std,
                             tern_generator *generator);

static tern_tensor *draw_uniform(const tern_op *op, tern_tensor *t, double std,
                                 tern_generator *generator)
{
    const double bound = sqrt(3.0) * std;
    return tern_init_draw_uniform(op, t, -bound, bound, generator);
}

static tern_tensor *draw_normal(const tern_op *op, tern_tensor *t, double std,
                                tern_generator *generator)
{
    return tern_init_draw_normal(op, t, 0, std, generator);
}

// ---- Xavier -------------------------------------------------------------------------------------

// A tensor without elements may have neither inputs nor outputs.
static tern_tensor *xavier(const tern_op *op, const tern_init_gain_options *o, draw_fn *draw)
{
    if (!o)
        return (void)tern_null_error(op->name, "options"), NULL;
    if (tern_init_check(op, o->t, 2, TERN_MAX_RANK))
        return NULL;
    TERN_CHECK_PTR(o->gain >= 0 && isfinite(o->gain), TERN_ERR_ARG,
                   "%s: gain is %g, but must be finite and not negative", op->name, o->gain);
    const double fans = (double)(fan_of(o->t, TERN_FAN_IN) + fan_of(o->t, TERN_FAN_OUT));
    const double std = o->t->numel ? o->gain * sqrt(2.0 / fans) : 0;
    return draw(op, o->t, std, o->generator);
}

tern_tensor *tern_init_xavier_uniform_with(const tern_init_gain_options *o)
{
    TERN_INIT_OP("init_xavier_uniform");
    return xavier(&op, o, draw_uniform);
}

tern_tensor *tern_init_xavier_normal_with(const tern_init_gain_options *o)
{
    TERN_INIT_OP("init_xavier_normal");
    return xavier(&op, o, draw_normal);
}

// ---- Kaiming ------------------------------------------------------------------------------------

static tern_tensor *kaiming(const tern_op *op, const tern_init_kaiming_options *o, draw_fn *draw)
{
    if (!o)
        return (void)tern_null_error(op->name, "options"), NULL;
    if (tern_init_check(op, o->t, 2, TERN_MAX_RANK) || check_mode(op->name, o->mode))
        return NULL;
    TERN_CHECK_PTR(isfinite(o->a), TERN_ERR_ARG, "%s: a is %g, but must be finite", op->name, o->a);
    const double gain = gain_of(op->name, o->nonlinearity, o->a);
    if (isnan(gain))
        return NULL;
    const double std = o->t->numel ? gain / sqrt((double)fan_of(o->t, o->mode)) : 0;
    return draw(op, o->t, std, o->generator);
}

tern_tensor *tern_init_kaiming_uniform_with(const tern_init_kaiming_options *o)
{
    TERN_INIT_OP("init_kaiming_uniform");
    return kaiming(&op, o, draw_uniform);
}

tern_tensor *tern_init_kaiming_normal_with(const tern_init_kaiming_options *o)
{
    TERN_INIT_OP("init_kaiming_normal");
    return kaiming(&op, o, draw_normal);
}
