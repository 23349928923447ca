// SPDX-License-Identifier: Apache-2.0
// The command line of a program that trains on images.
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "optimizers.h"
#include "schedules.h"

#define MAX_SETTINGS 64

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

typedef struct options {
    const char *data;
    const char *device;  // NULL: the best one
    const char *devices; // "cuda:0,cuda:1": data parallel; NULL: one device
    int64_t epochs;
    int64_t batch_size;
    const char *optimizer;
    double lr;
    double weight_decay; // negative: the optimizer's default
    const char *schedule_text;
    schedule schedule; // without one the rate falls linearly
    int64_t warmup;    // steps
    double ema;        // how much of the averages of the weights stays in a step; 0: there are none
    double clip;       // the largest norm of all gradients; 0: they are not clipped
    int64_t seed;
    int64_t threads;            // 0: as many as there are
    int64_t workers;            // threads that make batches; 0: the one that trains
    bool augment;               // images are cropped and mirrored at random
    int64_t limit;              // 0: all training images
    const char *load, *save;    // NULL: no file
    const char *checkpoint_dir; // NULL: no checkpoints
    int64_t checkpoint_every;   // steps; 0: at the end of each epoch alone
    bool resume;
    const char *log; // NULL: no log
    bool quiet;
    tern_setting settings[MAX_SETTINGS]; // all of these, by name
    int64_t setting_count;
} options;

// What a program's command line is.
typedef struct command {
    const char *name;       // in what it says
    const char *about;      // what it trains, after "Trains"
    options defaults;       // of which all but `data` must be there
    double last_lr;         // the learning rate at the end, as a share of the first
    const char *last_line;  // that a run with the defaults ended with, for --help; NULL: not known
    const tern_option *own; // options of this program alone; NULL: none
} command;

// Reads the command line; false where the program is to end with *status, and what there is to say
// was said.
bool options_read(options *o, const command *c, int argc, char **argv, int *status);

// The tern_option_fn of an option that says where weights go.
tern_status check_save(const char *path, void *user);

#endif
