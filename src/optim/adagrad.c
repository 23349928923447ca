// SPDX-License-Identifier: Apache-2.0
// Adagrad (Duchi, Hazan and Singer 2011).
#include "optim/optim.h"

enum { LR, LR_DECAY, EPS, WEIGHT_DECAY, INITIAL, MAXIMIZE };

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)param;
    (void)number;
    return (tern_optim_update){TERN_STEP_ADAGRAD, 1};
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_ADAGRAD_NUMBERS(TERN_OPTIM_INDEX) };
    out[lr] = -number[LR] / (1 + (double)(at->step - 1) * number[LR_DECAY]);
    out[eps] = number[EPS];
    out[decay] = number[WEIGHT_DECAY];
    out[sign] = number[MAXIMIZE] != 0 ? -1 : 1;
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [LR_DECAY] = {"lr_decay", TERN_RANGE_NOT_NEGATIVE},
    [EPS] = {"eps", TERN_RANGE_NOT_NEGATIVE},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [INITIAL] = {"initial_accumulator_value", TERN_RANGE_NOT_NEGATIVE},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG}};
static const tern_optim_slot slots[] = {
    {.name = "sum", .at_construction = true, .start = TERN_START_NUMBER, .fill = INITIAL}};
static const tern_optim_class adagrad_class = {.name = "Adagrad",
                                               .function = "optim_adagrad",
                                               TERN_OPTIM_TABLES(numbers, slots),
                                               .update = update,
                                               .derive = derive,
                                               .torch = {.step = true, .fused = true}};

tern_optim *tern_optim_adagrad_with(const tern_optim_adagrad_options *o)
{
    return TERN_OPTIM_MAKE(
        adagrad_class,
        o, [LR] = o->lr, [LR_DECAY] = o->lr_decay, [EPS] = o->eps, [WEIGHT_DECAY] = o->weight_decay,
        [INITIAL] = o->initial_accumulator_value, [MAXIMIZE] = o->maximize);
}
