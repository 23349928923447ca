// SPDX-License-Identifier: Apache-2.0
// Rprop (Riedmiller and Braun 1993).
#include "optim/optim.h"

enum { LR, DOWN, UP, MIN_SIZE, MAX_SIZE, MAXIMIZE };
enum { PREV, STEP_SIZE }; // slots

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)param;
    (void)number;
    return (tern_optim_update){TERN_STEP_RPROP, 1u << PREV | 1u << STEP_SIZE};
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_RPROP_NUMBERS(TERN_OPTIM_INDEX) };
    (void)at;
    out[down] = number[DOWN];
    out[up] = number[UP];
    out[min] = number[MIN_SIZE];
    out[max] = number[MAX_SIZE];
    out[sign] = number[MAXIMIZE] != 0 ? -1 : 1;
}

static tern_status check(const char *function, const double *number)
{
    TERN_CHECK(number[DOWN] > 0 && number[DOWN] < 1 && number[UP] > 1, TERN_ERR_ARG,
               "%s: etas are %g and %g, but must be between 0 and 1 and above 1", function,
               number[DOWN], number[UP]);
    return TERN_OK;
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [DOWN] = {"etas[0]", TERN_RANGE_FINITE},
    [UP] = {"etas[1]", TERN_RANGE_FINITE},
    [MIN_SIZE] = {"step_sizes[0]", TERN_RANGE_NOT_NEGATIVE},
    [MAX_SIZE] = {"step_sizes[1]", TERN_RANGE_NOT_NEGATIVE},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG},
};
static const tern_optim_slot slots[] = {
    [PREV] = {.name = "prev"},
    [STEP_SIZE] = {.name = "step_size", .start = TERN_START_NUMBER, .fill = LR}};
static const tern_optim_class rprop_class = {
    .name = "Rprop",
    .function = "optim_rprop",
    TERN_OPTIM_TABLES(numbers, slots),
    .update = update,
    .derive = derive,
    .check = check,
    .torch = {.step = true, .capturable = true},
};

static bool take_pairs(const tern_optim_rprop_options *o, double *etas, double *sizes)
{
    static const tern_optim_rprop_options usual = {TERN_OPTIM_RPROP_DEFAULTS_};
    return !tern_optim_pair("optim_rprop", "etas", o->etas, usual.etas, etas) &&
           !tern_optim_pair("optim_rprop", "step_sizes", o->step_sizes, usual.step_sizes, sizes);
}

tern_optim *tern_optim_rprop_with(const tern_optim_rprop_options *o)
{
    double etas[2], sizes[2];
    if (o && !take_pairs(o, etas, sizes))
        return NULL;
    return TERN_OPTIM_MAKE(rprop_class, o, [LR] = o->lr, [DOWN] = etas[0], [UP] = etas[1],
                           [MIN_SIZE] = sizes[0], [MAX_SIZE] = sizes[1], [MAXIMIZE] = o->maximize);
}
