// SPDX-License-Identifier: Apache-2.0
// Lion (Chen et al. 2023).
#include <float.h>
#include "optim/optim.h"

enum { LR, BETA1, BETA2, WEIGHT_DECAY, MAXIMIZE };

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)param;
    (void)number;
    return (tern_optim_update){TERN_STEP_LION, 1};
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_LION_NUMBERS(TERN_OPTIM_INDEX) };
    out[lr] = -number[LR];
    out[beta1] = number[BETA1];
    out[take1] = 1 - number[BETA1];
    out[beta2] = number[BETA2];
    out[take2] = 1 - number[BETA2];
    out[shrink] = 1 - number[LR] * number[WEIGHT_DECAY];
    out[sign] = number[MAXIMIZE] != 0 ? -1 : 1;
    out[tiny] = at->wide ? DBL_MIN : (double)FLT_MIN;
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [BETA1] = {"betas[0]", TERN_RANGE_FRACTION},
    [BETA2] = {"betas[1]", TERN_RANGE_FRACTION},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG},
};
static const tern_optim_slot slots[] = {{.name = "exp_avg"}};
static const tern_optim_class lion_class = {
    .name = "Lion",
    .function = "optim_lion",
    TERN_OPTIM_TABLES(numbers, slots),
    .update = update,
    .derive = derive,
};

tern_optim *tern_optim_lion_with(const tern_optim_lion_options *o)
{
    double betas[2];
    static const tern_optim_lion_options usual = {TERN_OPTIM_LION_DEFAULTS_};
    if (o && tern_optim_pair("optim_lion", "betas", o->betas, usual.betas, betas))
        return NULL;
    return TERN_OPTIM_MAKE(lion_class, o, [LR] = o->lr, [BETA1] = betas[0], [BETA2] = betas[1],
                           [WEIGHT_DECAY] = o->weight_decay, [MAXIMIZE] = o->maximize);
}
