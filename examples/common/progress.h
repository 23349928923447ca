// SPDX-License-Identifier: Apache-2.0
// The line that shows how an epoch goes: redrawn in place on a terminal, as wide as it is there,
// and once per epoch elsewhere. In colour where the terminal has it, unless NO_COLOR is set.
#ifndef COMMON_PROGRESS_H
#define COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool quiet, terminal, colour;
    int64_t epoch, epochs, total; // total: samples per epoch
    double started, drawn;        // seconds
} progress;

// Seconds of a clock that never goes back.
double progress_now(void);

void progress_begin(progress *p, int64_t epoch, int64_t epochs, int64_t total, bool quiet);
// True when it is time to redraw: then reading the loss from the device is worth its price.
bool progress_due(const progress *p);
void progress_draw(progress *p, int64_t samples, double loss, double accuracy);
// Ends the line with what the test set says.
void progress_end(const progress *p, int64_t samples, double loss, double accuracy,
                  double test_accuracy);
// Ends the line where a signal ended the epoch.
void progress_interrupt(const progress *p, int64_t samples);

#endif
