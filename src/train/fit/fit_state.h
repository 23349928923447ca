// SPDX-License-Identifier: Apache-2.0
// Where a run of tern_fit is, how it is saved, and what of it is shown.
#ifndef TERN_SRC_TRAIN_FIT_FIT_STATE_H
#define TERN_SRC_TRAIN_FIT_FIT_STATE_H

#include <tern/fit.h>
#include "train/fit/fit_check.h"

typedef struct tern_fit_run {
    const tern_fit_options *o;
    tern_fit_result result;
    tern_fit_event event;
    tern_fit_monitor monitor;
    tern_checkpoint *checkpoint; // or NULL
    tern_progress *progress;
    tern_state *best;      // copies of the best epoch, where there is no folder to have it
    tern_tensor *loss_sum; // float64 (), of the epoch's samples; retained
    int64_t samples;       // of the epoch so far
    int64_t batches;       // of an epoch; 0: not known, or nobody asks
    int64_t epoch;         // that was begun last
    double target;         // what a value has to be better than, for .patience
    int64_t waited;        // epochs since there was such a value
    bool improved;         // the last epoch is the best one
    bool left;             // the epoch's loop was left before its end
    bool warned;           // of NaN
} tern_fit_run;

// A result that has nothing.
void tern_fit_clear(tern_fit_result *result);
// A run that has done nothing, or what it resumes. tern_fit_close also frees what a failed one has.
tern_status tern_fit_open(tern_fit_run *f);
void tern_fit_close(tern_fit_run *f);

// Calls a callback, NULL for none.
tern_status tern_fit_call(tern_fit_run *f, tern_fit_fn *function, const char *name);

// Whether the epoch's monitored value is the best so far.
void tern_fit_compare(tern_fit_run *f);
// Saves everything, where there is a folder.
tern_status tern_fit_save(tern_fit_run *f, double metric);
// Keeps the epoch if it is the best one and has to come back; and brings it back.
tern_status tern_fit_keep_best(tern_fit_run *f);
tern_status tern_fit_restore_best(tern_fit_run *f);

// The metrics as they are now, which are logged as "prefix<name>" unless it is NULL; NAN for those
// of several numbers. Waits for the device.
void tern_fit_read_metrics(const tern_fit_run *f, const char *prefix, double *values);
// Logs a step that the optimizer has made, where one is due.
tern_status tern_fit_log_step(const tern_fit_run *f);
void tern_fit_show_metrics(const tern_fit_run *f);
void tern_fit_show_epoch(const tern_fit_run *f);
// How to go on.
void tern_fit_show_saved(const tern_fit_run *f);

#endif
