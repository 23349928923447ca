// SPDX-License-Identifier: Apache-2.0
// What surrounds the loop of a program that trains a network on MNIST or Fashion-MNIST: the command
// line, the data, checkpoints, progress, the test at the end of each epoch.
#ifndef COMMON_TRAINING_H
#define COMMON_TRAINING_H

#include <tern/tern.h>
#include "evaluate.h"
#include "logs.h"
#include "options.h"

#define MAX_DEVICES 64

typedef struct training training;

// What makes one program another.
typedef struct program {
    command command;
    tern_module *(*make_net)(void);          // (N, 1, 28, 28) -> (N, CLASSES); NULL on failure
    tern_status (*train_epoch)(training *t); // the loop over the batches of one epoch
    int64_t channels;                        // that its summary shows; 0 stands for 1
    // Puts the weights of --load into the new net; NULL: tern_module_load.
    tern_status (*load)(tern_module *net, const char *path);
} program;

// Sums of an epoch, which stay on the device until somebody wants to see them; retained.
typedef struct sums {
    tern_tensor *loss, *correct;
    int64_t samples;
} sums;

struct training {
    const program *program;
    options options;
    tern_device device; // of the data and the weights
    tern_device devices[MAX_DEVICES];
    int device_count; // 0: --devices is not there
    tern_dataset *train_data, *test_data;
    tern_loader *train_loader, *test_loader;
    tern_module *net;     // as it is loaded and saved
    tern_module *model;   // what is called: the net, or a wrapper that runs it on all devices
    tern_module *average; // of the net's weights, which is tested and saved; or NULL
    tern_module *criterion;
    tern_optim *optim;
    tern_sched *sched; // NULL: the rate falls linearly
    schedule_unit unit;
    tern_checkpoint *checkpoint; // NULL: none are asked for
    int64_t epoch;               // that was begun last
    int64_t epochs_done, steps;
    sums sums;
    tern_progress *progress;
    evaluation evaluation;
    logs logs;
    bool failed_option; // what failed is a file or a number that an option gives
};

// The program's main: returns its exit status.
int train_images(const program *p, int argc, char **argv);

// The step of the optimizer, on gradients that are clipped where that is asked for.
tern_status training_step(const training *t);

// The loop over the batches of one epoch for optimizers that evaluate the loss themselves, in place
// of the program's.
tern_status training_epoch_by_closure(training *t);

// After each step of train_epoch: counts it, sets the learning rate of the next one, shows how it
// goes, saves a checkpoint where one is due. False: the loop is to be left.
bool training_goes_on(training *t, const tern_batch *b, tern_tensor *logits, tern_tensor *loss);

#endif
