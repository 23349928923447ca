// SPDX-License-Identifier: Apache-2.0
// RAdam (Liu et al. 2019).
#include "optim/optim.h"

enum { LR, BETA1, BETA2, EPS, WEIGHT_DECAY, DECOUPLED, MAXIMIZE };

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)param;
    (void)number;
    return (tern_optim_update){TERN_STEP_RADAM, 3};
}

// The paper's r_t, by the length rho of the approximated simple moving average; 0 while its
// variance is not tractable.
static double rectification(double beta2, double step)
{
    const double power = pow(beta2, step), longest = 2 / (1 - beta2) - 1;
    const double rho = longest - 2 * step * power / (1 - power);
    if (!(rho > 5))
        return 0;
    return sqrt((rho - 4) * (rho - 2) * longest / ((longest - 4) * (longest - 2) * rho));
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_RADAM_NUMBERS(TERN_OPTIM_INDEX) };
    const bool decoupled = number[DECOUPLED] != 0;
    out[lr] = -number[LR];
    out[take1] = 1 - number[BETA1];
    out[beta2] = number[BETA2];
    out[take2] = 1 - number[BETA2];
    out[eps] = number[EPS];
    out[decay] = decoupled ? 0 : number[WEIGHT_DECAY];
    out[shrink] = decoupled ? 1 - number[LR] * number[WEIGHT_DECAY] : 1;
    out[sign] = number[MAXIMIZE] != 0 ? -1 : 1;
    out[c1] = 1 - pow(number[BETA1], (double)at->step);
    out[root2] = sqrt(1 - pow(number[BETA2], (double)at->step));
    out[rect] = rectification(number[BETA2], (double)at->step);
    out[tiny] = tern_optim_tiny(number[EPS], at->wide);
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [BETA1] = {"betas[0]", TERN_RANGE_FRACTION},
    [BETA2] = {"betas[1]", TERN_RANGE_FRACTION},
    [EPS] = {"eps", TERN_RANGE_NOT_NEGATIVE},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [DECOUPLED] = {"decoupled_weight_decay", TERN_RANGE_FLAG},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG},
};
static const tern_optim_slot slots[] = {{.name = "exp_avg"}, {.name = "exp_avg_sq"}};
static const tern_optim_class radam_class = {
    .name = "RAdam",
    .function = "optim_radam",
    TERN_OPTIM_TABLES(numbers, slots),
    .update = update,
    .derive = derive,
    .torch = {.step = true, .capturable = true},
};

tern_optim *tern_optim_radam_with(const tern_optim_radam_options *o)
{
    double betas[2];
    static const tern_optim_radam_options usual = {TERN_OPTIM_RADAM_DEFAULTS_};
    if (o && tern_optim_pair("optim_radam", "betas", o->betas, usual.betas, betas))
        return NULL;
    return TERN_OPTIM_MAKE(radam_class, o, [LR] = o->lr, [BETA1] = betas[0], [BETA2] = betas[1],
                           [EPS] = o->eps, [WEIGHT_DECAY] = o->weight_decay,
                           [DECOUPLED] = o->decoupled_weight_decay, [MAXIMIZE] = o->maximize);
}
