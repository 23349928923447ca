// SPDX-License-Identifier: Apache-2.0
// NAdam (Dozat 2016).
#include "optim/optim.h"

enum { LR, BETA1, BETA2, EPS, WEIGHT_DECAY, MOMENTUM_DECAY, DECOUPLED, MAXIMIZE };

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)param;
    (void)number;
    return (tern_optim_update){TERN_STEP_NADAM, 3};
}

// The momentum of a step.
static double momentum(const double *number, int64_t step)
{
    return number[BETA1] * (1 - 0.5 * pow(0.96, (double)step * number[MOMENTUM_DECAY]));
}

static void begin(const double *number, float *scalar)
{
    (void)number;
    scalar[0] = 1;
}

// The product of the momenta of all steps.
static void advance(const double *number, const tern_optim_step_info *at, float *scalar)
{
    scalar[0] = at->scalar[0] * (float)momentum(number, at->step);
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_NADAM_NUMBERS(TERN_OPTIM_INDEX) };
    const double mu = momentum(number, at->step), next = momentum(number, at->step + 1);
    const bool decoupled = number[DECOUPLED] != 0;
    float product;
    advance(number, at, &product);
    out[take1] = 1 - number[BETA1];
    out[beta2] = number[BETA2];
    out[take2] = 1 - number[BETA2];
    out[c2] = 1 - pow(number[BETA2], (double)at->step);
    out[eps] = number[EPS];
    out[decay] = decoupled ? 0 : number[WEIGHT_DECAY];
    out[shrink] = decoupled ? 1 - number[LR] * number[WEIGHT_DECAY] : 1;
    out[sign] = number[MAXIMIZE] != 0 ? -1 : 1;
    out[by_grad] = -number[LR] * (1 - mu) / (1 - (double)product);
    out[by_mean] = -number[LR] * next / (1 - (double)product * next);
    out[tiny] = tern_optim_tiny(number[EPS], at->wide);
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [BETA1] = {"betas[0]", TERN_RANGE_FRACTION},
    [BETA2] = {"betas[1]", TERN_RANGE_FRACTION},
    [EPS] = {"eps", TERN_RANGE_NOT_NEGATIVE},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [MOMENTUM_DECAY] = {"momentum_decay", TERN_RANGE_NOT_NEGATIVE},
    [DECOUPLED] = {"decoupled_weight_decay", TERN_RANGE_FLAG},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG},
};
static const tern_optim_slot slots[] = {{.name = "exp_avg"}, {.name = "exp_avg_sq"}};
static const char *const scalars[] = {"mu_product"};
static const tern_optim_class nadam_class = {
    .name = "NAdam",
    .function = "optim_nadam",
    TERN_OPTIM_TABLES(numbers, slots),
    .update = update,
    .derive = derive,
    .scalars = scalars,
    .scalar_count = 1,
    .begin = begin,
    .advance = advance,
    .torch = {.step = true, .capturable = true},
};

tern_optim *tern_optim_nadam_with(const tern_optim_nadam_options *o)
{
    double betas[2];
    static const tern_optim_nadam_options usual = {TERN_OPTIM_NADAM_DEFAULTS_};
    if (o && tern_optim_pair("optim_nadam", "betas", o->betas, usual.betas, betas))
        return NULL;
    return TERN_OPTIM_MAKE(nadam_class,
                           o, [LR] = o->lr, [BETA1] = betas[0], [BETA2] = betas[1], [EPS] = o->eps,
                           [WEIGHT_DECAY] = o->weight_decay, [MOMENTUM_DECAY] = o->momentum_decay,
                           [DECOUPLED] = o->decoupled_weight_decay, [MAXIMIZE] = o->maximize);
}
