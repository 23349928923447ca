// SPDX-License-Identifier: Apache-2.0
// Averaged stochastic gradient descent (Polyak and Juditsky 1992).
#include "optim/optim.h"

enum { LR, LAMBD, ALPHA, T0, WEIGHT_DECAY, MAXIMIZE };
enum { ETA, MU }; // scalars: of the next step, and how much of it the average takes

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)param;
    (void)number;
    return (tern_optim_update){TERN_STEP_ASGD, 1};
}

static void begin(const double *number, float *scalar)
{
    scalar[ETA] = (float)number[LR];
    scalar[MU] = 1;
}

static void advance(const double *number, const tern_optim_step_info *at, float *scalar)
{
    const double step = (double)at->step, base = 1 + number[LAMBD] * number[LR] * step;
    scalar[ETA] = (float)(number[LR] / pow(base, number[ALPHA]));
    scalar[MU] = (float)(1 / fmax(1, step - number[T0]));
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_ASGD_NUMBERS(TERN_OPTIM_INDEX) };
    out[eta] = -(double)at->scalar[ETA];
    out[mu] = (double)at->scalar[MU];
    out[shrink] = 1 - number[LAMBD] * (double)at->scalar[ETA];
    out[decay] = number[WEIGHT_DECAY];
    out[sign] = number[MAXIMIZE] != 0 ? -1 : 1;
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [LAMBD] = {"lambd", TERN_RANGE_NOT_NEGATIVE},
    [ALPHA] = {"alpha", TERN_RANGE_NOT_NEGATIVE},
    [T0] = {"t0", TERN_RANGE_FINITE},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG},
};
static const tern_optim_slot slots[] = {{.name = "ax"}};
static const char *const scalars[] = {[ETA] = "eta", [MU] = "mu"};
static const tern_optim_class asgd_class = {
    .name = "ASGD",
    .function = "optim_asgd",
    TERN_OPTIM_TABLES(numbers, slots),
    .update = update,
    .derive = derive,
    .scalars = scalars,
    .scalar_count = 2,
    .begin = begin,
    .advance = advance,
    .torch = {.step = true, .capturable = true},
};

tern_optim *tern_optim_asgd_with(const tern_optim_asgd_options *o)
{
    return TERN_OPTIM_MAKE(asgd_class,
                           o, [LR] = o->lr, [LAMBD] = o->lambd, [ALPHA] = o->alpha, [T0] = o->t0,
                           [WEIGHT_DECAY] = o->weight_decay, [MAXIMIZE] = o->maximize);
}
