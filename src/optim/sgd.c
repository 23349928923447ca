// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent with momentum (Polyak 1964; Nesterov's form: Sutskever et al. 2013).
#include <float.h>
#include "optim/optim.h"

enum { LR, MOMENTUM, DAMPENING, WEIGHT_DECAY, NESTEROV, MAXIMIZE };

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)param;
    if (number[MOMENTUM] > 0)
        return (tern_optim_update){TERN_STEP_SGD_MOMENTUM, 1};
    return (tern_optim_update){TERN_STEP_SGD, 0};
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_SGD_MOMENTUM_NUMBERS(TERN_OPTIM_INDEX) };
    out[lr] = -number[LR];
    out[decay] = number[WEIGHT_DECAY];
    out[sign] = number[MAXIMIZE] != 0 ? -1 : 1;
    out[keep] = at->fresh ? 0 : number[MOMENTUM];
    out[take] = at->fresh ? 1 : 1 - number[DAMPENING];
    out[momentum] = number[MOMENTUM];
    out[nesterov] = number[NESTEROV];
    out[tiny] = at->wide ? DBL_MIN : (double)FLT_MIN;
}

static tern_status check(const char *function, const double *number)
{
    TERN_CHECK(number[NESTEROV] == 0 || (number[MOMENTUM] > 0 && number[DAMPENING] == 0),
               TERN_ERR_ARG, "%s: nesterov wants momentum above 0 and dampening 0, not %g and %g",
               function, number[MOMENTUM], number[DAMPENING]);
    return TERN_OK;
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [MOMENTUM] = {"momentum", TERN_RANGE_NOT_NEGATIVE},
    [DAMPENING] = {"dampening", TERN_RANGE_FINITE},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [NESTEROV] = {"nesterov", TERN_RANGE_FLAG},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG},
};
static const tern_optim_slot slots[] = {{.name = "momentum_buffer"}};

static const tern_optim_class sgd_class = {
    .name = "SGD",
    .function = "optim_sgd",
    TERN_OPTIM_TABLES(numbers, slots),
    .update = update,
    .derive = derive,
    .check = check,
    .torch = {.fused = true},
};

tern_optim *tern_optim_sgd_with(const tern_optim_sgd_options *o)
{
    return TERN_OPTIM_MAKE(
        sgd_class, o, [LR] = o->lr, [MOMENTUM] = o->momentum, [DAMPENING] = o->dampening,
        [WEIGHT_DECAY] = o->weight_decay, [NESTEROV] = o->nesterov, [MAXIMIZE] = o->maximize);
}
