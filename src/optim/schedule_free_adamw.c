// SPDX-License-Identifier: Apache-2.0
// Schedule-free AdamW (Defazio et al. 2024).
#include "optim/optim.h"

enum {
    LR,
    BETA1,
    BETA2,
    EPS,
    WEIGHT_DECAY,
    WARMUP_STEPS,
    R,
    WEIGHT_LR_POWER,
    K,
    LR_MAX,
    WEIGHT_SUM,
    SCHEDULED_LR,
    TRAIN_MODE
};
enum { Z, V }; // slots

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    (void)number, (void)param;
    return (tern_optim_update){TERN_STEP_SCHEDULE_FREE, 3};
}

// What the next step of a group counts.
typedef struct step_weight {
    double lr;          // after the warm-up
    double lr_max, sum; // of the group, with this step
    double share;       // of this step in the average
} step_weight;

static step_weight weigh(const double *number)
{
    const double step = number[K] + 1, warmup = number[WARMUP_STEPS];
    step_weight w = {.lr = step > warmup ? number[LR] : number[LR] * (step / warmup)};
    w.lr_max = fmax(w.lr, number[LR_MAX]);
    const double power = number[WEIGHT_LR_POWER];
    const double weight =
        w.lr_max == 0 && power < 0 ? 0 : pow(step, number[R]) * pow(w.lr_max, power);
    w.sum = number[WEIGHT_SUM] + weight;
    w.share = w.sum != 0 ? weight / w.sum : 0;
    return w;
}

static void advance_group(double *number)
{
    const step_weight w = weigh(number);
    number[K]++;
    number[LR_MAX] = w.lr_max;
    number[WEIGHT_SUM] = w.sum;
    number[SCHEDULED_LR] = w.lr;
}

// Parameters are at (1 - beta1) z + beta1 x, x being the average: to x, or back from there.
static double share_of_z(const double *number)
{
    return 1 - (number[TRAIN_MODE] != 0 ? 1 / number[BETA1] : number[BETA1]);
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_SCHEDULE_FREE_NUMBERS(TERN_OPTIM_INDEX) };
    if (at->code == TERN_STEP_AVERAGE) {
        out[0] = share_of_z(number);
        return;
    }
    const step_weight w = weigh(number);
    out[lr] = -w.lr;
    out[beta2] = number[BETA2];
    out[take2] = 1 - number[BETA2];
    out[c2] = 1 - pow(number[BETA2], number[K] + 1);
    out[eps] = number[EPS];
    out[decay] = number[WEIGHT_DECAY];
    out[take] = w.share;
    out[move] = w.lr * (number[BETA1] * (1 - w.share) - 1);
    out[tiny] = tern_optim_tiny(number[EPS], at->wide);
}

static tern_status check(const char *function, const double *number)
{
    TERN_CHECK(number[BETA1] > 0, TERN_ERR_ARG,
               "%s: betas[0] is 0, but must be above 0: parameters are between z and the average",
               function);
    return TERN_OK;
}

static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [BETA1] = {"betas[0]", TERN_RANGE_FRACTION, .is_fixed = true},
    [BETA2] = {"betas[1]", TERN_RANGE_FRACTION},
    [EPS] = {"eps", TERN_RANGE_NOT_NEGATIVE},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [WARMUP_STEPS] = {"warmup_steps", TERN_RANGE_WHOLE},
    [R] = {"r", TERN_RANGE_FINITE},
    [WEIGHT_LR_POWER] = {"weight_lr_power", TERN_RANGE_FINITE},
    [K] = {"k", TERN_RANGE_WHOLE, .is_state = true},
    [LR_MAX] = {"lr_max", TERN_RANGE_FINITE, .is_state = true},
    [WEIGHT_SUM] = {"weight_sum", TERN_RANGE_NOT_NEGATIVE, .is_state = true},
    [SCHEDULED_LR] = {"scheduled_lr", TERN_RANGE_NOT_NEGATIVE, .is_state = true},
    [TRAIN_MODE] = {"train_mode", TERN_RANGE_FLAG, .is_state = true},
};
static const tern_optim_slot slots[] = {{.name = "z", .start = TERN_START_PARAM},
                                        {.name = "exp_avg_sq"}};
static const tern_optim_mode mode = {.number = TRAIN_MODE, .slot = Z};
static const tern_optim_class schedule_free_adamw_class = {
    .name = "AdamWScheduleFree",
    .function = "optim_schedule_free_adamw",
    TERN_OPTIM_TABLES(numbers, slots),
    .update = update,
    .derive = derive,
    .check = check,
    .advance_group = advance_group,
    .mode = &mode,
    .torch = {.no_differentiable = true},
};

tern_optim *tern_optim_schedule_free_adamw_with(const tern_optim_schedule_free_adamw_options *o)
{
    double betas[2];
    static const tern_optim_schedule_free_adamw_options usual = {
        TERN_OPTIM_SCHEDULE_FREE_ADAMW_DEFAULTS_};
    if (o && tern_optim_pair("optim_schedule_free_adamw", "betas", o->betas, usual.betas, betas))
        return NULL;
    return TERN_OPTIM_MAKE(
        schedule_free_adamw_class, o, [LR] = o->lr, [BETA1] = betas[0], [BETA2] = betas[1],
        [EPS] = o->eps, [WEIGHT_DECAY] = o->weight_decay, [WARMUP_STEPS] = (double)o->warmup_steps,
        [R] = o->r, [WEIGHT_LR_POWER] = o->weight_lr_power, [LR_MAX] = -1, [TRAIN_MODE] = 1);
}
