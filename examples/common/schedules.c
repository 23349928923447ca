// SPDX-License-Identifier: Apache-2.0
#include "schedules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct schedule_kind {
    const char *name, *other; // PyTorch's without "lr", and another one or NULL
    schedule_unit unit;
    const char *key[SCHEDULE_VALUES]; // what can be set
    // NAN: not said, which `usual` replaces.
    tern_sched *(*make)(tern_optim *optim, const double *value, const schedule_run *run);
};

static double usual(double value, double unless)
{
    return isnan(value) ? unless : value;
}

static int64_t usual_count(double value, int64_t unless)
{
    return isnan(value) ? unless : (int64_t)value;
}

static int64_t steps_of(const schedule_run *run)
{
    return run->epochs * run->steps_per_epoch;
}

static int64_t third_of(int64_t count)
{
    return count < 3 ? 1 : count / 3;
}

static tern_sched *make_step(tern_optim *optim, const double *value, const schedule_run *run)
{
    return tern_sched_step_lr(optim, usual_count(value[0], third_of(run->epochs)),
                              .gamma = usual(value[1], 0.1));
}

// Up to three milestones.
static tern_sched *make_multi_step(tern_optim *optim, const double *value, const schedule_run *run)
{
    const int64_t third = third_of(run->epochs);
    int64_t milestones[3] = {third, 2 * third, 0}, count = 0;
    for (int i = 0; i < 3; i++)
        if (!isnan(value[1 + i]))
            milestones[count++] = (int64_t)value[1 + i];
    return tern_sched_multi_step_lr(optim, .milestones = milestones,
                                    .milestone_count = count ? count : 2,
                                    .gamma = usual(value[0], 0.1));
}

static tern_sched *make_exponential(tern_optim *optim, const double *value, const schedule_run *run)
{
    (void)run;
    return tern_sched_exponential_lr(optim, usual(value[0], 0.9));
}

static tern_sched *make_constant(tern_optim *optim, const double *value, const schedule_run *run)
{
    (void)run;
    return tern_sched_constant_lr(optim, .factor = usual(value[0], 1.0 / 3),
                                  .total_iters = usual_count(value[1], 5));
}

static tern_sched *make_linear(tern_optim *optim, const double *value, const schedule_run *run)
{
    return tern_sched_linear_lr(optim, .start_factor = usual(value[0], 1),
                                .end_factor = usual(value[1], 0),
                                .total_iters = usual_count(value[2], steps_of(run)));
}

static tern_sched *make_polynomial(tern_optim *optim, const double *value, const schedule_run *run)
{
    return tern_sched_polynomial_lr(optim, .power = usual(value[0], 1),
                                    .total_iters = usual_count(value[1], steps_of(run)));
}

static tern_sched *make_cosine(tern_optim *optim, const double *value, const schedule_run *run)
{
    return tern_sched_cosine_annealing_lr(optim, usual_count(value[0], steps_of(run)),
                                          .eta_min = usual(value[1], 0));
}

static tern_sched *make_warm_restarts(tern_optim *optim, const double *value,
                                      const schedule_run *run)
{
    return tern_sched_cosine_annealing_warm_restarts(
        optim, usual_count(value[0], run->steps_per_epoch), .t_mult = usual_count(value[1], 1),
        .eta_min = usual(value[2], 0));
}

static tern_sched *make_one_cycle(tern_optim *optim, const double *value, const schedule_run *run)
{
    return tern_sched_one_cycle_lr(optim, usual(value[0], run->lr), .total_steps = steps_of(run),
                                   .pct_start = usual(value[1], 0.3),
                                   .div_factor = usual(value[2], 25),
                                   .final_div_factor = usual(value[3], 1e4));
}

static tern_sched *make_cyclic(tern_optim *optim, const double *value, const schedule_run *run)
{
    return tern_sched_cyclic_lr(optim, usual(value[0], run->lr / 10), usual(value[1], run->lr),
                                .step_size_up = usual_count(value[2], run->steps_per_epoch),
                                .cycle_momentum = usual(value[3], 0) != 0);
}

static tern_sched *make_plateau(tern_optim *optim, const double *value, const schedule_run *run)
{
    (void)run;
    return tern_sched_reduce_lr_on_plateau(
        optim, .factor = usual(value[0], 0.1), .patience = usual_count(value[1], 10),
        .threshold = usual(value[2], 1e-4), .cooldown = usual_count(value[3], 0));
}

static const schedule_kind kinds[] = {
    {"step", NULL, SCHEDULE_EPOCHS, {"step_size", "gamma"}, make_step},
    {"multi_step", NULL, SCHEDULE_EPOCHS, {"gamma", "first", "second", "third"}, make_multi_step},
    {"exponential", NULL, SCHEDULE_EPOCHS, {"gamma"}, make_exponential},
    {"constant", NULL, SCHEDULE_EPOCHS, {"factor", "total_iters"}, make_constant},
    {"linear", NULL, SCHEDULE_STEPS, {"start_factor", "end_factor", "total_iters"}, make_linear},
    {"polynomial", NULL, SCHEDULE_STEPS, {"power", "total_iters"}, make_polynomial},
    {"cosine_annealing", "cosine", SCHEDULE_STEPS, {"t_max", "eta_min"}, make_cosine},
    {"cosine_annealing_warm_restarts",
     "warm_restarts",
     SCHEDULE_STEPS,
     {"t_0", "t_mult", "eta_min"},
     make_warm_restarts},
    {"one_cycle",
     "onecycle",
     SCHEDULE_STEPS,
     {"max_lr", "pct_start", "div_factor", "final_div_factor"},
     make_one_cycle},
    {"cyclic",
     NULL,
     SCHEDULE_STEPS,
     {"base_lr", "max_lr", "step_size_up", "cycle_momentum"},
     make_cyclic},
    {"reduce_on_plateau",
     "plateau",
     SCHEDULE_LOSSES,
     {"factor", "patience", "threshold", "cooldown"},
     make_plateau},
};

#define KINDS ((int)(sizeof kinds / sizeof *kinds))

static void join(char *text, size_t size, const char *word, bool first, bool last)
{
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", first ? "" : last ? " and " : ", ", word);
}

static const schedule_kind *find(const char *text, size_t length)
{
    for (int i = 0; i < KINDS; i++) {
        const char *names[] = {kinds[i].name, kinds[i].other ? kinds[i].other : kinds[i].name};
        for (int k = 0; k < 2; k++)
            if (strlen(names[k]) == length && strncmp(names[k], text, length) == 0)
                return &kinds[i];
    }
    return NULL;
}

static int find_key(const schedule_kind *kind, const char *text, size_t length)
{
    for (int i = 0; i < SCHEDULE_VALUES && kind->key[i]; i++)
        if (strlen(kind->key[i]) == length && strncmp(kind->key[i], text, length) == 0)
            return i;
    return -1;
}

static tern_status refuse_key(const schedule_kind *kind)
{
    char keys[128] = "";
    int count = 0;
    while (count < SCHEDULE_VALUES && kind->key[count])
        count++;
    for (int i = 0; i < count; i++)
        join(keys, sizeof keys, kind->key[i], i == 0, i + 1 == count);
    return tern_error_raise(TERN_ERR_ARG,
                            "not key=number,.. with whole numbers of steps and epochs; %s has %s",
                            kind->name, keys);
}

static tern_status refuse_name(void)
{
    char names[256] = "";
    for (int i = 0; i < KINDS; i++)
        join(names, sizeof names, kinds[i].name, i == 0, i + 1 == KINDS);
    return tern_error_raise(TERN_ERR_ARG, "not one of %s", names);
}

// Of all keys, those of rates and shares are not whole numbers.
static bool is_count(const char *key)
{
    static const char *const counts[] = {"step_size", "first",    "second",      "third",
                                         "t_max",     "t_0",      "t_mult",      "total_iters",
                                         "patience",  "cooldown", "step_size_up"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(counts[i], key) == 0)
            return true;
    return false;
}

// "key=value" from `text` to `end`.
static bool read_value(const char *text, const char *end, schedule *s)
{
    const char *equals = memchr(text, '=', (size_t)(end - text));
    const int at = equals ? find_key(s->kind, text, (size_t)(equals - text)) : -1;
    char *stop;
    if (at < 0 || equals + 1 == end)
        return false;
    const double value = s->value[at] = strtod(equals + 1, &stop);
    return stop == end && fabs(value) < 1e15 &&
           (value == floor(value) || !is_count(s->kind->key[at]));
}

tern_status schedule_read(const char *text, void *user)
{
    schedule *s = user;
    const char *at = text + strcspn(text, ":");
    s->kind = find(text, (size_t)(at - text));
    for (int i = 0; i < SCHEDULE_VALUES; i++)
        s->value[i] = NAN;
    if (!s->kind)
        return refuse_name();
    while (*at) {
        const char *end = at + 1 + strcspn(at + 1, ",");
        if (!read_value(at + 1, end, s))
            return refuse_key(s->kind);
        at = end;
    }
    return TERN_OK;
}

schedule_unit schedule_unit_of(const schedule *s)
{
    return s->kind->unit;
}

tern_sched *schedule_make(const schedule *s, tern_optim *optim, const schedule_run *run)
{
    return s->kind->make(optim, s->value, run);
}
