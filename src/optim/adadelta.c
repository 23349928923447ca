// SPDX-License-Identifier: Apache-2.0
// Adadelta (Zeiler 2012).
#include "optim/optim.h"

enum { LR, RHO, EPS, WEIGHT_DECAY, MAXIMIZE };

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)param;
    (void)number;
    return (tern_optim_update){TERN_STEP_ADADELTA, 3};
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_ADADELTA_NUMBERS(TERN_OPTIM_INDEX) };
    out[lr] = -number[LR];
    out[rho] = number[RHO];
    out[take] = 1 - number[RHO];
    out[eps] = number[EPS];
    out[decay] = number[WEIGHT_DECAY];
    out[sign] = number[MAXIMIZE] != 0 ? -1 : 1;
    out[tiny] = tern_optim_tiny(number[EPS], at->wide);
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [RHO] = {"rho", TERN_RANGE_UNIT},
    [EPS] = {"eps", TERN_RANGE_NOT_NEGATIVE},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG}};
static const tern_optim_slot slots[] = {{.name = "square_avg"}, {.name = "acc_delta"}};
static const tern_optim_class adadelta_class = {.name = "Adadelta",
                                                .function = "optim_adadelta",
                                                TERN_OPTIM_TABLES(numbers, slots),
                                                .update = update,
                                                .derive = derive,
                                                .torch = {.step = true, .capturable = true}};

tern_optim *tern_optim_adadelta_with(const tern_optim_adadelta_options *o)
{
    return TERN_OPTIM_MAKE(adadelta_class, o, [LR] = o->lr, [RHO] = o->rho, [EPS] = o->eps,
                           [WEIGHT_DECAY] = o->weight_decay, [MAXIMIZE] = o->maximize);
}
