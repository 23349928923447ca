// SPDX-License-Identifier: Apache-2.0
// Schedules of the learning rate, as --schedule names them: "cosine", "step:step_size=2,gamma=0.5".
#ifndef COMMON_SCHEDULES_H
#define COMMON_SCHEDULES_H

#include <tern/tern.h>

#define SCHEDULE_VALUES 4

// What a schedule counts, and is told once for each of them.
typedef enum schedule_unit { SCHEDULE_STEPS, SCHEDULE_EPOCHS, SCHEDULE_LOSSES } schedule_unit;

// How long the run is, and the rate that --lr says.
typedef struct schedule_run {
    int64_t epochs, steps_per_epoch;
    double lr;
} schedule_run;

typedef struct schedule_kind schedule_kind;

typedef struct schedule {
    const schedule_kind *kind; // NULL: none
    double value[SCHEDULE_VALUES];
} schedule;

// Reads "name:key=value,..." into a schedule: the tern_option_fn of an option.
tern_status schedule_read(const char *text, void *schedule);
schedule_unit schedule_unit_of(const schedule *s);
// A scheduler of the optimizer, whose options not said are by the length of the run.
tern_sched *schedule_make(const schedule *s, tern_optim *optim, const schedule_run *run);

#endif
