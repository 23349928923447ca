// SPDX-License-Identifier: Apache-2.0
// RMSprop (Hinton 2012), with momentum and centered (Graves 2013).
#include "optim/optim.h"

enum { LR, MOMENTUM, ALPHA, EPS, CENTERED, WEIGHT_DECAY, MAXIMIZE };

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)param;
    static const tern_optim_update updates[] = {{TERN_STEP_RMSPROP, 1},
                                                {TERN_STEP_RMSPROP_MOMENTUM, 3},
                                                {TERN_STEP_RMSPROP_CENTERED, 5},
                                                {TERN_STEP_RMSPROP_BOTH, 7}};
    return updates[(number[MOMENTUM] > 0) + 2 * (number[CENTERED] != 0)];
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_RMSPROP_NUMBERS(TERN_OPTIM_INDEX) };
    out[lr] = -number[LR];
    out[alpha] = number[ALPHA];
    out[take] = 1 - number[ALPHA];
    out[eps] = number[EPS];
    out[decay] = number[WEIGHT_DECAY];
    out[momentum] = number[MOMENTUM];
    out[sign] = number[MAXIMIZE] != 0 ? -1 : 1;
    out[tiny] = tern_optim_tiny(number[EPS], at->wide);
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [MOMENTUM] = {"momentum", TERN_RANGE_NOT_NEGATIVE},
    [ALPHA] = {"alpha", TERN_RANGE_NOT_NEGATIVE},
    [EPS] = {"eps", TERN_RANGE_NOT_NEGATIVE},
    [CENTERED] = {"centered", TERN_RANGE_FLAG},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG}};
static const tern_optim_slot slots[] = {
    {.name = "square_avg"}, {.name = "momentum_buffer"}, {.name = "grad_avg"}};
static const tern_optim_class rmsprop_class = {.name = "RMSprop",
                                               .function = "optim_rmsprop",
                                               TERN_OPTIM_TABLES(numbers, slots),
                                               .update = update,
                                               .derive = derive,
                                               .torch = {.step = true, .capturable = true}};

tern_optim *tern_optim_rmsprop_with(const tern_optim_rmsprop_options *o)
{
    return TERN_OPTIM_MAKE(
        rmsprop_class,
        o, [LR] = o->lr, [MOMENTUM] = o->momentum, [ALPHA] = o->alpha, [EPS] = o->eps,
        [CENTERED] = o->centered, [WEIGHT_DECAY] = o->weight_decay, [MAXIMIZE] = o->maximize);
}
