// SPDX-License-Identifier: Apache-2.0
// The whole of a program that trains a network on MNIST or Fashion-MNIST, but for the network: the
// command line, the data, the loop, checkpoints, the test at the end of each epoch.
#ifndef COMMON_TRAINING_H
#define COMMON_TRAINING_H

#include <tern/tern.h>
#include "options.h"

// What makes one program another.
typedef struct program {
    command command;
    tern_module *(*make_net)(void); // (N, 1, 28, 28) -> (N, CLASSES); NULL on failure
    int64_t channels;               // that its summary shows; 0 stands for 1
    // Puts the weights of --load into the new net; NULL: tern_module_load.
    tern_status (*load)(tern_module *net, const char *path);
} program;

// The program's main: returns its exit status.
int train_images(const program *p, int argc, char **argv);

#endif
