// SPDX-License-Identifier: Apache-2.0
// Adamax (Kingma and Ba 2014, section 7.1).
#include "optim/optim.h"

enum { LR, BETA1, BETA2, EPS, WEIGHT_DECAY, MAXIMIZE };

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)param;
    (void)number;
    return (tern_optim_update){TERN_STEP_ADAMAX, 3};
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_ADAMAX_NUMBERS(TERN_OPTIM_INDEX) };
    out[step_size] = -number[LR] / (1 - pow(number[BETA1], (double)at->step));
    out[take] = 1 - number[BETA1];
    out[beta2] = number[BETA2];
    out[eps] = number[EPS];
    out[decay] = number[WEIGHT_DECAY];
    out[sign] = number[MAXIMIZE] != 0 ? -1 : 1;
    out[tiny] = tern_optim_tiny(number[EPS], at->wide);
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [BETA1] = {"betas[0]", TERN_RANGE_FRACTION},
    [BETA2] = {"betas[1]", TERN_RANGE_FRACTION},
    [EPS] = {"eps", TERN_RANGE_NOT_NEGATIVE},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG}};
static const tern_optim_slot slots[] = {{.name = "exp_avg"}, {.name = "exp_inf"}};
static const tern_optim_class adamax_class = {.name = "Adamax",
                                              .function = "optim_adamax",
                                              TERN_OPTIM_TABLES(numbers, slots),
                                              .update = update,
                                              .derive = derive,
                                              .torch = {.step = true, .capturable = true}};

tern_optim *tern_optim_adamax_with(const tern_optim_adamax_options *o)
{
    double betas[2];
    static const tern_optim_adamax_options usual = {TERN_OPTIM_ADAMAX_DEFAULTS_};
    if (o && tern_optim_pair("optim_adamax", "betas", o->betas, usual.betas, betas))
        return NULL;
    return TERN_OPTIM_MAKE(adamax_class,
                           o, [LR] = o->lr, [BETA1] = betas[0], [BETA2] = betas[1], [EPS] = o->eps,
                           [WEIGHT_DECAY] = o->weight_decay, [MAXIMIZE] = o->maximize);
}
