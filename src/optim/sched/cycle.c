// SPDX-License-Identifier: Apache-2.0
// Cycles of the rate, and of momentum against it: OneCycleLR (Smith and Topin 2017), CyclicLR
// (Smith 2015).
#include "base/callback.h"
#include "optim/sched/sched.h"

static tern_status check_momentum(const tern_sched_class *klass, const char *name, double momentum)
{
    TERN_CHECK(momentum >= 0 && momentum < 1, TERN_ERR_ARG,
               "%s: %s is %g, but must be from 0 to below 1", klass->function, name, momentum);
    return TERN_OK;
}

// ---- one ----------------------------------------------------------------------------------------

enum {
    TOTAL_STEPS,
    PCT_START,
    ANNEAL_STRATEGY,
    CYCLE_MOMENTUM,
    BASE_MOMENTUM,
    MAX_MOMENTUM,
    THREE_PHASE
};
static const char *const one_options[] = {
    [TOTAL_STEPS] = "total_steps",         [PCT_START] = "pct_start",
    [ANNEAL_STRATEGY] = "anneal_strategy", [CYCLE_MOMENTUM] = "cycle_momentum",
    [BASE_MOMENTUM] = "base_momentum",     [MAX_MOMENTUM] = "max_momentum",
    [THREE_PHASE] = "three_phase"};

static tern_status one_advance(tern_sched *s, double epoch)
{
    (void)epoch;
    TERN_CHECK((double)s->now.epoch <= s->option[TOTAL_STEPS], TERN_ERR_STATE,
               "sched_step: this OneCycleLR is for %.0f steps, and this is one more",
               s->option[TOTAL_STEPS]);
    return TERN_OK;
}

// The phase that the epoch is in, of two or three; `*part` of it is over.
static int phase_of(const tern_sched *s, double *part)
{
    const double total = s->option[TOTAL_STEPS], pct = s->option[PCT_START];
    const double k = fmin((double)s->now.epoch, total - 1); // the last rate stays
    const bool three = s->option[THREE_PHASE] != 0;
    const double end[] = {pct * total - 1, three ? 2 * pct * total - 2 : total - 1, total - 1};
    int phase = 0;
    while (phase < 1 + three && k > end[phase])
        phase++;
    const double start = phase > 0 ? end[phase - 1] : 0;
    *part = (k - start) / (end[phase] - start);
    return phase;
}

static double one_rate(const tern_sched *s, int group)
{
    const tern_sched_group *g = &s->groups[group];
    const bool three = s->option[THREE_PHASE] != 0;
    const double lr[] = {g->base_lr, g->high, three ? g->base_lr : g->low, g->low};
    double part;
    const int phase = phase_of(s, &part);
    return tern_sched_anneal(s->option[ANNEAL_STRATEGY], lr[phase], lr[phase + 1], part);
}

static double one_momentum(const tern_sched *s)
{
    const double max = s->option[MAX_MOMENTUM];
    const double momentum[] = {max, s->option[BASE_MOMENTUM], max, max};
    double part;
    const int phase = phase_of(s, &part);
    return tern_sched_anneal(s->option[ANNEAL_STRATEGY], momentum[phase], momentum[phase + 1],
                             part);
}

static const tern_sched_class one_class = {.name = "OneCycleLR",
                                           .function = "sched_one_cycle_lr",
                                           TERN_SCHED_OPTION_NAMES(one_options),
                                           .high = "max_lrs",
                                           .low = "min_lrs",
                                           .overwrites = true,
                                           .reads_base_lr = true,
                                           .advance = one_advance,
                                           .rate = one_rate,
                                           .momentum = one_momentum};

// total_steps, or epochs times steps_per_epoch; 0 after an error.
static int64_t total_steps_of(const tern_sched_one_cycle_lr_options *o)
{
    int64_t total = o->total_steps;
    if (total == 0 && __builtin_mul_overflow(o->epochs, o->steps_per_epoch, &total))
        total = -1;
    const bool both = o->total_steps != 0 && (o->epochs != 0 || o->steps_per_epoch != 0);
    if (!both && total > 0 && total <= TERN_OPTIM_MAX_STEPS && o->epochs >= 0)
        return total;
    tern_error_raise(TERN_ERR_ARG,
                     "sched_one_cycle_lr: give .total_steps above 0, or .epochs and "
                     ".steps_per_epoch, not %lld, %lld and %lld",
                     (long long)o->total_steps, (long long)o->epochs,
                     (long long)o->steps_per_epoch);
    return 0;
}

static tern_status check_one(const tern_sched_one_cycle_lr_options *o, int64_t total)
{
    TERN_CHECK(o->pct_start >= 0 && o->pct_start <= 1, TERN_ERR_ARG,
               "sched_one_cycle_lr: pct_start is %g, but must be from 0 to 1", o->pct_start);
    TERN_CHECK(o->pct_start * (double)total != 1, TERN_ERR_ARG,
               "sched_one_cycle_lr: pct_start %g of %lld steps is one step, which leaves none to "
               "rise in",
               o->pct_start, (long long)total);
    TERN_CHECK(o->anneal_strategy == TERN_ANNEAL_COS || o->anneal_strategy == TERN_ANNEAL_LINEAR,
               TERN_ERR_ARG, "sched_one_cycle_lr: there is no anneal_strategy %d",
               (int)o->anneal_strategy);
    TERN_CHECK(isfinite(o->div_factor) && o->div_factor > 0 && isfinite(o->final_div_factor) &&
                   o->final_div_factor > 0,
               TERN_ERR_ARG,
               "sched_one_cycle_lr: div_factor and final_div_factor are %g and %g, but must be "
               "above 0",
               o->div_factor, o->final_div_factor);
    TERN_TRY(check_momentum(&one_class, "base_momentum", o->base_momentum));
    return check_momentum(&one_class, "max_momentum", o->max_momentum);
}

static tern_status prepare_one(tern_sched *s, const tern_sched_one_cycle_lr_options *o)
{
    TERN_TRY(tern_sched_set_each(s, "max_lr", offsetof(tern_sched_group, high), o->max_lr,
                                 o->max_lrs, o->max_lr_count));
    if (o->cycle_momentum)
        TERN_TRY(tern_sched_find_momentum(s));
    for (int64_t i = 0; i < s->group_count; i++) {
        const double first = s->groups[i].high / o->div_factor;
        s->groups[i].low = first / o->final_div_factor;
        s->optim->groups[i].initial_lr = first;
    }
    return TERN_OK;
}

tern_sched *tern_sched_one_cycle_lr_with(const tern_sched_one_cycle_lr_options *o)
{
    if (!o)
        return tern_sched_no_options(&one_class);
    const int64_t total = total_steps_of(o);
    if (total == 0 || check_one(o, total))
        return NULL;
    tern_sched *s = tern_sched_make(&one_class, o->optim,
                                    (const double[]){[TOTAL_STEPS] = (double)total,
                                                     [PCT_START] = o->pct_start,
                                                     [ANNEAL_STRATEGY] = o->anneal_strategy,
                                                     [CYCLE_MOMENTUM] = o->cycle_momentum,
                                                     [BASE_MOMENTUM] = o->base_momentum,
                                                     [MAX_MOMENTUM] = o->max_momentum,
                                                     [THREE_PHASE] = o->three_phase});
    if (s && prepare_one(s, o))
        return tern_sched_give_up(s);
    return tern_sched_start(s);
}

// ---- many ---------------------------------------------------------------------------------------

enum { UP, DOWN, MODE, GAMMA, BY_EPOCH, CYCLIC_MOMENTUM, CYCLIC_BASE, CYCLIC_MAX };
static const char *const cyclic_options[] = {[UP] = "step_size_up",
                                             [DOWN] = "step_size_down",
                                             [MODE] = "mode",
                                             [GAMMA] = "gamma",
                                             [BY_EPOCH] = "scale_by_epoch",
                                             [CYCLIC_MOMENTUM] = "cycle_momentum",
                                             [CYCLIC_BASE] = "base_momentum",
                                             [CYCLIC_MAX] = "max_momentum"};

static double amplitude(const tern_sched *s, double cycle)
{
    const double k = (double)s->now.epoch;
    if (s->scale) {
        tern_callback_begin();
        const double scale = s->scale((int64_t)(s->option[BY_EPOCH] != 0 ? k : cycle), s->user);
        tern_callback_end();
        return scale;
    }
    if (s->option[MODE] == TERN_CYCLIC_TRIANGULAR2)
        return 1 / pow(2.0, cycle - 1);
    return s->option[MODE] == TERN_CYCLIC_EXP_RANGE ? pow(s->option[GAMMA], k) : 1.0;
}

// What of the range the cycle has reached.
static double height(const tern_sched *s, double range)
{
    const double k = (double)s->now.epoch, total = s->option[UP] + s->option[DOWN];
    const double ratio = s->option[UP] / total, cycle = floor(1 + k / total);
    const double x = 1.0 + k / total - cycle;
    const double scale = x <= ratio ? x / ratio : (x - 1) / (ratio - 1);
    return range * scale * amplitude(s, cycle);
}

static double cyclic_rate(const tern_sched *s, int group)
{
    const tern_sched_group *g = &s->groups[group];
    return g->low + height(s, g->high - g->low);
}

static double cyclic_momentum(const tern_sched *s)
{
    return s->option[CYCLIC_MAX] - height(s, s->option[CYCLIC_MAX] - s->option[CYCLIC_BASE]);
}

static const tern_sched_class cyclic_class = {.name = "CyclicLR",
                                              .function = "sched_cyclic_lr",
                                              TERN_SCHED_OPTION_NAMES(cyclic_options),
                                              .high = "max_lrs",
                                              .low = "min_lrs",
                                              .overwrites = true,
                                              .reads_base_lr = true,
                                              .rate = cyclic_rate,
                                              .momentum = cyclic_momentum};

static tern_status check_cyclic(const tern_sched_cyclic_lr_options *o)
{
    TERN_TRY(tern_sched_check_count(&cyclic_class, "step_size_up", o->step_size_up));
    if (o->step_size_down != 0)
        TERN_TRY(tern_sched_check_count(&cyclic_class, "step_size_down", o->step_size_down));
    TERN_CHECK(o->mode >= TERN_CYCLIC_TRIANGULAR && o->mode <= TERN_CYCLIC_EXP_RANGE, TERN_ERR_ARG,
               "sched_cyclic_lr: there is no mode %d", (int)o->mode);
    TERN_CHECK(isfinite(o->gamma) && o->gamma >= 0, TERN_ERR_ARG,
               "sched_cyclic_lr: gamma is %g, but must be 0 or more", o->gamma);
    TERN_TRY(check_momentum(&cyclic_class, "base_momentum", o->base_momentum));
    return check_momentum(&cyclic_class, "max_momentum", o->max_momentum);
}

static tern_status prepare_cyclic(tern_sched *s, const tern_sched_cyclic_lr_options *o)
{
    TERN_TRY(tern_sched_set_each(s, "base_lr", offsetof(tern_sched_group, low), o->base_lr,
                                 o->base_lrs, o->base_lrs ? o->lr_count : 0));
    TERN_TRY(tern_sched_set_each(s, "max_lr", offsetof(tern_sched_group, high), o->max_lr,
                                 o->max_lrs, o->max_lrs ? o->lr_count : 0));
    if (o->cycle_momentum)
        TERN_TRY(tern_sched_find_momentum(s));
    s->scale = o->scale;
    s->user = o->user;
    for (int64_t i = 0; i < s->group_count; i++)
        s->optim->groups[i].number[0] = s->groups[i].low;
    return TERN_OK;
}

tern_sched *tern_sched_cyclic_lr_with(const tern_sched_cyclic_lr_options *o)
{
    if (!o)
        return tern_sched_no_options(&cyclic_class);
    if (check_cyclic(o))
        return NULL;
    const int64_t down = o->step_size_down == 0 ? o->step_size_up : o->step_size_down;
    tern_sched *s = tern_sched_make(&cyclic_class, o->optim,
                                    (const double[]){[UP] = (double)o->step_size_up,
                                                     [DOWN] = (double)down,
                                                     [MODE] = o->mode,
                                                     [GAMMA] = o->gamma,
                                                     [BY_EPOCH] = o->scale_by_epoch,
                                                     [CYCLIC_MOMENTUM] = o->cycle_momentum,
                                                     [CYCLIC_BASE] = o->base_momentum,
                                                     [CYCLIC_MAX] = o->max_momentum});
    if (s && prepare_cyclic(s, o))
        return tern_sched_give_up(s);
    return tern_sched_start(s);
}
