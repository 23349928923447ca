// SPDX-License-Identifier: Apache-2.0
// What --log keeps of a run: curves, histograms of each layer, the worst mistakes, what the machine
// does meanwhile, and the page that shows it.
#ifndef COMMON_LOGS_H
#define COMMON_LOGS_H

#include "worst.h"

typedef struct training training;

typedef struct logs {
    tern_logger *logger; // NULL: there is no log, and nothing here does anything
    tern_metric *worst;
    tern_resources resources;
    int64_t samples; // that the epoch began with, of a run that was resumed
} logs;

// After a run was resumed.
tern_status logs_open(training *t);
tern_status logs_begin_epoch(training *t);
tern_status logs_step(training *t, tern_tensor *loss);
// After the last step of an epoch: what the machine did meanwhile.
tern_status logs_end_steps(training *t);
// With the evaluation of an epoch.
tern_status logs_end_epoch(training *t);
void logs_close(training *t);

#endif
