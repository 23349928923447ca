// SPDX-License-Identifier: Apache-2.0
// What a scheduler is inside the library.
#ifndef TERN_SRC_OPTIM_SCHED_SCHED_H
#define TERN_SRC_OPTIM_SCHED_SCHED_H

#include <tern/sched.h>
#include "optim/optim.h"

#define TERN_PI 3.14159265358979323846

#define TERN_SCHED_OPTIONS 8 // of a scheduler, at most
#define TERN_SCHED_MOVING  3 // numbers that a step changes, besides epoch and rates, at most

// Where a scheduler is.
typedef struct tern_sched_position {
    int64_t epoch; // PyTorch's last_epoch; -1 for a part of SequentialLR that has not begun
    int64_t steps; // with the constructor's: PyTorch's _step_count
    double moving[TERN_SCHED_MOVING];
} tern_sched_position;

// What a scheduler knows of a group of its optimizer.
typedef struct tern_sched_group {
    double base_lr;          // its initial_lr when the scheduler was made
    double high, low;        // of the class: max_lr and min_lr of OneCycleLR
    double last_lr;          // what the last step set
    double last_lr_before;   // likewise before the step in progress
    tern_optim_group before; // the optimizer's before that step; of the outermost scheduler alone
} tern_sched_group;

// A kind of scheduler.
typedef struct tern_sched_class {
    const char *name;           // PyTorch's
    const char *function;       // its constructor, in messages
    const char *const *options; // names, which its state has
    int option_count;
    const char *const *moving;
    int moving_count;
    const char *high, *low; // names of the groups' numbers; NULL: not used
    bool recursive;         // the rate is computed from the one that the group has
    bool overwrites;        // it is computed from the epoch alone
    bool takes_metric;
    bool takes_fractions; // of epochs
    bool reads_base_lr;   // so that initial_lr is kept
    // Moves all but the epoch: to `epoch`, or one on where it is NAN. May be NULL.
    tern_status (*advance)(tern_sched *sched, double epoch);
    double (*rate)(const tern_sched *sched, int group);
    double (*closed_form)(const tern_sched *sched, int group); // may be NULL
    double (*momentum)(const tern_sched *sched);               // where one is cycled
    // Steps the parts; NULL: it has none.
    tern_status (*step_parts)(const char *function, tern_sched *sched);
} tern_sched_class;

// The names of a class, which are arrays.
#define TERN_SCHED_OPTION_NAMES(table)                                                             \
    .options = (table), .option_count = sizeof(table) / sizeof *(table)
#define TERN_SCHED_MOVING_NAMES(table)                                                             \
    .moving = (table), .moving_count = sizeof(table) / sizeof *(table)

struct tern_sched {
    const tern_sched_class *klass;
    _Atomic int64_t refs;
    tern_optim *optim;  // held
    tern_sched *parent; // which steps it, or NULL
    double option[TERN_SCHED_OPTIONS];
    tern_sched_position now, before; // the second of the step in progress
    tern_sched_group *groups;
    int64_t group_count, group_capacity;
    int64_t *milestones; // rising
    int64_t milestone_count;
    tern_sched **parts; // held
    int64_t part_count;
    tern_sched_lambda_fn *lambda; // of the caller's, as is the next
    tern_sched_scale_fn *scale;
    void *user;
    int64_t acted;   // steps that the optimizer had made by this one's last
    bool has_list;   // high or low was given for each group
    int momentum;    // the place of the number that is cycled; -1: none is
    bool is_initial; // while the constructor steps
    bool is_stepping;
    bool reduces; // the step in progress multiplies the rates, of ReduceLROnPlateau
};

// A scheduler of the optimizer's groups, which has not begun; NULL on failure.
tern_sched *tern_sched_make(const tern_sched_class *klass, tern_optim *optim, const double *option);
// NULL, with the error for a constructor that is given no options.
tern_sched *tern_sched_no_options(const tern_sched_class *klass);
// Refuses what is not from 1 to 2^53.
tern_status tern_sched_check_count(const tern_sched_class *klass, const char *name, int64_t count);
// Makes its first step and returns it. NULL for NULL, and after a failure, when it was given back
// and the optimizer has its numbers again.
tern_sched *tern_sched_start(tern_sched *sched);
// Gives it back, after an error that is pending: NULL.
tern_sched *tern_sched_give_up(tern_sched *sched);
// Keeps `count` epochs in rising order.
tern_status tern_sched_set_milestones(tern_sched *sched, const int64_t *milestones, int64_t count);
// One on, or to an epoch; of a part as of the outermost.
tern_status tern_sched_advance(const char *function, tern_sched *sched, double epoch);
// The constructor's step.
tern_status tern_sched_initial_step(const char *function, tern_sched *sched);
// How many of the milestones are at most `epoch`.
int64_t tern_sched_passed(const tern_sched *sched, int64_t epoch);
// From `start` to `end` along a part, from 0 to 1.
double tern_sched_anneal(double strategy, double start, double end, double part);
// Finds the number that momentum is cycled by, momentum or betas[0].
tern_status tern_sched_find_momentum(tern_sched *sched);
// Sets a number of each group, at `offset` of tern_sched_group: from a list of `count`, or to
// `value` where that is NULL.
tern_status tern_sched_set_each(tern_sched *sched, const char *name, size_t offset, double value,
                                const double *list, int64_t count);

static inline double tern_sched_lr(const tern_sched *sched, int group)
{
    return sched->optim->groups[group].number[0];
}

// A freed scheduler is found while its memory is kept.
static inline tern_status tern_check_sched_not_freed(const char *function, const tern_sched *sched)
{
    TERN_CHECK(sched->refs > 0, TERN_ERR_STATE, "%s: this %s was freed already", function,
               sched->klass->name);
    return TERN_OK;
}

// NULL follows the rule of pending errors; a freed one is refused, and a forked child may not use
// it.
static inline tern_status tern_check_sched(const char *function, const tern_sched *sched)
{
    if (!sched)
        return tern_null_error(function, "sched");
    TERN_TRY(tern_check_sched_not_freed(function, sched));
    return tern_check_optim(function, sched->optim);
}

#endif
