// SPDX-License-Identifier: Apache-2.0
// What a progress line is inside the library.
#ifndef TERN_SRC_TRAIN_FIT_PROGRESS_LINE_H
#define TERN_SRC_TRAIN_FIT_PROGRESS_LINE_H

#include <tern/progress.h>

typedef struct tern_figure {
    char name[32];
    double value;
    bool bold;
} tern_figure;

struct tern_progress {
    bool freed; // what comes after it is gone then
    bool quiet, terminal, colour;
    bool open; // a line is drawn and not ended
    FILE *file;
    const tern_loader *loader;
    int64_t epochs, samples, batches; // 0: not known; of the loader
    int64_t epoch;
    int64_t done, before; // samples of the epoch, and those of an earlier process
    int64_t steps;        // of the epoch in this process
    int64_t began, drawn; // nanoseconds; drawn 0: not in this epoch
    int64_t last_step;    // when that was, on a terminal, else of the last one; 0: there was none
    double between;       // seconds from the last step of an epoch to the begin of the next
    double loss, weight;  // sums over what was read
    int figure_count;
    tern_figure figures[TERN_PROGRESS_FIGURES];
};

// How an epoch's line stands.
typedef enum tern_progress_stage {
    TERN_PROGRESS_DRAWN,   // it is drawn anew in 0.1 s
    TERN_PROGRESS_ENDED,   // these are the last figures
    TERN_PROGRESS_STOPPED, // the epoch was left
} tern_progress_stage;

// Writes the line, at `now`, as wide as the terminal is.
void tern_progress_write_line(tern_progress *progress, tern_progress_stage stage, int64_t now);

#endif
