// SPDX-License-Identifier: Apache-2.0
// Adafactor (Shazeer and Stern 2018): of a matrix, the means of g^2 over rows and columns are kept.
#include <float.h>
#include <tern/ops.h>
#include "optim/optim.h"
#include "tensor/header.h"

enum { LR, BETA2_DECAY, EPS1, EPS2, D, WEIGHT_DECAY, MAXIMIZE };
enum { ROW_VAR, COL_VAR, VARIANCE }; // slots

static tern_status set(tern_tensor **slot, tern_tensor *made)
{
    *slot = tern_tensor_retain(made);
    return made ? TERN_OK : tern_error_code();
}

static bool is_factored(const tern_tensor *param)
{
    return tern_rank(param) > 1;
}

// ---- the direction ------------------------------------------------------------------------------

static tern_status begin(const double *number, tern_optim_entry *entry)
{
    (void)number;
    tern_optim_made *made = &entry->made;
    tern_tensor *square = tern_mul(entry->param->grad, entry->param->grad);
    if (!is_factored(entry->param)) {
        TERN_TRY(set(&made->next[VARIANCE], square));
        return set(&made->average[VARIANCE], tern_clone(entry->state[VARIANCE]));
    }
    TERN_TRY(set(&made->next[ROW_VAR], tern_mean(square, tern_axes(-1), true)));
    TERN_TRY(set(&made->next[COL_VAR], tern_mean(square, tern_axes(-2), true)));
    TERN_TRY(set(&made->average[ROW_VAR], tern_clone(entry->state[ROW_VAR])));
    return set(&made->average[COL_VAR], tern_clone(entry->state[COL_VAR]));
}

static double epsilon_of(tern_dtype dtype)
{
    return dtype == TERN_FLOAT64   ? DBL_EPSILON
           : dtype == TERN_FLOAT32 ? (double)FLT_EPSILON
           : dtype == TERN_FLOAT16 ? 0x1p-10
                                   : 0x1p-7;
}

static tern_tensor *second_moment(const tern_optim_made *made, double eps1)
{
    if (made->average[VARIANCE])
        return made->average[VARIANCE];
    tern_tensor *mean = tern_mean(made->average[ROW_VAR], tern_axes(-2), true);
    return tern_div(tern_mul(made->average[ROW_VAR], made->average[COL_VAR]),
                    tern_clamp(mean, eps1, INFINITY));
}

// The root of the mean square times a factor, at least `min`, on the device.
static tern_tensor *root_mean_square(tern_tensor *x, double factor, double min)
{
    tern_tensor *norm = tern_norm(x, 2, TERN_ALL_AXES, false);
    return tern_clamp(tern_mul_scalar(norm, factor / sqrt((double)x->numel)), min, INFINITY);
}

static tern_tensor *end(const double *number, const tern_optim_entry *entry)
{
    tern_tensor *param = tern_detach(entry->param);
    const double eps1 = number[EPS1] < 0 ? epsilon_of(entry->param->dtype) : number[EPS1];
    tern_tensor *root = tern_sqrt(second_moment(&entry->made, eps1));
    tern_tensor *u = tern_div(entry->param->grad, tern_clamp(root, eps1, INFINITY));
    if (!u || !param)
        return NULL;
    return tern_mul(u, tern_div(root_mean_square(param, 1, number[EPS2]),
                                root_mean_square(u, 1 / number[D], 1)));
}

static const tern_optim_direction direction = {
    .numbers = 1u << EPS1 | 1u << EPS2 | 1u << D,
    .begin = begin,
    .end = end,
};

// ---- the update ---------------------------------------------------------------------------------

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)number;
    return (tern_optim_update){TERN_STEP_DIRECTED,
                               is_factored(param) ? 1u << ROW_VAR | 1u << COL_VAR : 1u << VARIANCE};
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_DIRECTED_NUMBERS(TERN_OPTIM_INDEX) };
    const double step = (double)at->step;
    if (at->code == TERN_STEP_AVERAGE) {
        out[0] = pow(step, number[BETA2_DECAY]);
        return;
    }
    out[rate] = (number[MAXIMIZE] != 0 ? 1 : -1) * fmin(number[LR], 1 / sqrt(step));
    out[shrink] = 1 - number[LR] * number[WEIGHT_DECAY];
}

static tern_status check(const char *function, const double *number)
{
    TERN_CHECK(number[BETA2_DECAY] <= 0, TERN_ERR_ARG,
               "%s: beta2_decay is %g, but must be 0 or less", function, number[BETA2_DECAY]);
    TERN_CHECK(number[EPS1] >= 0 || number[EPS1] == -1, TERN_ERR_ARG,
               "%s: eps[0] is %g, but must be 0 or more, or -1 for the dtype's epsilon", function,
               number[EPS1]);
    TERN_CHECK(number[D] >= 1, TERN_ERR_ARG, "%s: d is %g, but must be 1 or more", function,
               number[D]);
    return TERN_OK;
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [BETA2_DECAY] = {"beta2_decay", TERN_RANGE_FINITE},
    [EPS1] = {"eps[0]", TERN_RANGE_FINITE, .may_be_none = true},
    [EPS2] = {"eps[1]", TERN_RANGE_NOT_NEGATIVE},
    [D] = {"d", TERN_RANGE_FINITE},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG},
};
static const tern_optim_slot slots[] = {
    [ROW_VAR] = {.name = "row_var", .shape = TERN_SHAPE_ROW_MEAN},
    [COL_VAR] = {.name = "col_var", .shape = TERN_SHAPE_COL_MEAN},
    [VARIANCE] = {.name = "variance"},
};
static const tern_optim_class adafactor_class = {
    .name = "Adafactor",
    .function = "optim_adafactor",
    TERN_OPTIM_TABLES(numbers, slots),
    .update = update,
    .direction = &direction,
    .derive = derive,
    .check = check,
    .torch = {.step = true, .no_differentiable = true},
};

tern_optim *tern_optim_adafactor_with(const tern_optim_adafactor_options *o)
{
    double eps[2];
    static const tern_optim_adafactor_options usual = {TERN_OPTIM_ADAFACTOR_DEFAULTS_};
    if (o && tern_optim_pair("optim_adafactor", "eps", o->eps, usual.eps, eps))
        return NULL;
    return TERN_OPTIM_MAKE(
        adafactor_class, o, [LR] = o->lr, [BETA2_DECAY] = o->beta2_decay, [EPS1] = eps[0],
        [EPS2] = eps[1], [D] = o->d, [WEIGHT_DECAY] = o->weight_decay, [MAXIMIZE] = o->maximize);
}
