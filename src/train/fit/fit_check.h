// SPDX-License-Identifier: Apache-2.0
// What tern_fit refuses, and what follows from its options.
#ifndef TERN_SRC_TRAIN_FIT_FIT_CHECK_H
#define TERN_SRC_TRAIN_FIT_FIT_CHECK_H

#include <tern/fit.h>

// How the monitored value is read and compared.
typedef struct tern_fit_monitor {
    const double *value; // of the result
    const char *name;    // "valid/loss"
    tern_metric_mode mode;
    bool scheduler; // which steps with it
} tern_fit_monitor;

// All that is wrong with options before anything is done; else `monitor` is of `result`.
tern_status tern_fit_check(const tern_fit_options *options, const tern_fit_result *result,
                           tern_fit_monitor *monitor);
// A loader's own generator, NULL for none.
tern_generator *tern_fit_generator(const tern_loader *loader);
// Warns, once a process.
void tern_fit_warn_of_nan(const char *name, int64_t epoch);
// A callback that failed without an error has one.
tern_status tern_fit_called(const char *callback, tern_status status);

#endif
