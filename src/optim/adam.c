// SPDX-License-Identifier: Apache-2.0
// Adam (Kingma and Ba 2014), AMSGrad (Reddi et al. 2018), AdamW (Loshchilov and Hutter 2017).
#include "optim/adam.h"

#include <float.h>

enum { LR, BETA1, BETA2, EPS, WEIGHT_DECAY, AMSGRAD, MAXIMIZE, DECOUPLED };

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)param;
    if (number[AMSGRAD] != 0)
        return (tern_optim_update){TERN_STEP_AMSGRAD, 7};
    return (tern_optim_update){TERN_STEP_ADAM, 3};
}

// The square of a gradient may be subnormal where the gradient is not.
static void derive_tiny(double *tiny, double *tiny_grad, double eps, double take2, bool wide)
{
    const double smallest = wide ? DBL_MIN : (double)FLT_MIN;
    const double root = sqrt(smallest / (wide ? take2 : (double)(float)take2));
    const bool hidden =
        root <= (wide ? eps : (double)(float)eps) * (wide ? DBL_EPSILON : (double)FLT_EPSILON) / 4;
    *tiny = hidden ? smallest : 0;
    *tiny_grad = hidden ? root : 0;
}

void tern_adam_derive(const tern_adam *adam, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_ADAM_NUMBERS(TERN_OPTIM_INDEX) };
    const double correction1 = 1 - pow(adam->beta1, (double)at->step);
    const double root2 = sqrt(1 - pow(adam->beta2, (double)at->step));
    const double sign = adam->maximize ? -1 : 1;
    out[beta1] = adam->beta1;
    out[beta2] = adam->beta2;
    out[take1] = sign * (1 - adam->beta1);
    out[take2] = 1 - adam->beta2;
    out[eps] = adam->eps * root2;
    out[decay] = adam->decoupled ? 0 : sign * adam->weight_decay;
    out[shrink] = adam->decoupled ? 1 - adam->lr * adam->weight_decay : 1;
    out[step_size] = -adam->lr * root2 / correction1;
    derive_tiny(&out[tiny], &out[tiny_grad], out[eps], out[take2], at->wide);
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    const tern_adam adam = {number[LR],           number[BETA1],        number[BETA2],
                            number[EPS],          number[WEIGHT_DECAY], number[DECOUPLED] != 0,
                            number[MAXIMIZE] != 0};
    tern_adam_derive(&adam, at, out);
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [BETA1] = {"betas[0]", TERN_RANGE_FRACTION},
    [BETA2] = {"betas[1]", TERN_RANGE_FRACTION},
    [EPS] = {"eps", TERN_RANGE_NOT_NEGATIVE},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [AMSGRAD] = {"amsgrad", TERN_RANGE_FLAG},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG},
    [DECOUPLED] = {"decoupled_weight_decay", TERN_RANGE_FLAG},
};
static const tern_optim_slot slots[] = {
    {.name = "exp_avg"}, {.name = "exp_avg_sq"}, {.name = "max_exp_avg_sq"}};

static const tern_optim_class adam_class = {
    .name = "Adam",
    .function = "optim_adam",
    TERN_OPTIM_TABLES(numbers, slots),
    .update = update,
    .derive = derive,
    .torch = {.step = true, .capturable = true, .fused = true},
};
static const tern_optim_class adamw_class = {
    .name = "AdamW",
    .function = "optim_adamw",
    TERN_OPTIM_TABLES(numbers, slots),
    .update = update,
    .derive = derive,
    .torch = {.step = true, .capturable = true, .fused = true},
};

static tern_optim *make(const tern_optim_class *klass, bool decoupled,
                        const tern_optim_adam_options *o)
{
    double betas[2];
    static const tern_optim_adam_options usual = {TERN_OPTIM_ADAM_DEFAULTS_};
    if (o && tern_optim_pair(klass->function, "betas", o->betas, usual.betas, betas))
        return NULL;
    return TERN_OPTIM_MAKE(*klass, o, [LR] = o->lr, [BETA1] = betas[0], [BETA2] = betas[1],
                           [EPS] = o->eps, [WEIGHT_DECAY] = o->weight_decay, [AMSGRAD] = o->amsgrad,
                           [MAXIMIZE] = o->maximize, [DECOUPLED] = decoupled);
}

tern_optim *tern_optim_adam_with(const tern_optim_adam_options *options)
{
    return make(&adam_class, false, options);
}

tern_optim *tern_optim_adamw_with(const tern_optim_adamw_options *options)
{
    return make(&adamw_class, true, options);
}
