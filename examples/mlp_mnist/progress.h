// SPDX-License-Identifier: Apache-2.0
// The line that shows how an epoch goes: redrawn in place on a terminal, once per epoch elsewhere.
#ifndef MLP_MNIST_PROGRESS_H
#define MLP_MNIST_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool quiet, terminal;
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
void progress_end(progress *p, int64_t samples, double loss, double accuracy, double test_accuracy);

#endif
