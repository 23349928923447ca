// SPDX-License-Identifier: Apache-2.0
// The command line of mlp_mnist.
#ifndef MLP_MNIST_OPTIONS_H
#define MLP_MNIST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_HIDDEN 8

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

typedef enum optimizer_kind { OPTIMIZER_SGD, OPTIMIZER_ADAM, OPTIMIZER_ADAMW } optimizer_kind;

typedef struct options {
    const char *data;
    const char *device; // NULL: the best one
    int64_t epochs;
    int64_t batch_size;
    int64_t hidden[MAX_HIDDEN];
    int hidden_count;
    optimizer_kind optimizer;
    double lr;
    double weight_decay; // negative: the optimizer's default
    uint64_t seed;
    int threads;                // 0: as many as there are
    int64_t limit;              // 0: all training images
    const char *load, *save;    // NULL: no file
    const char *checkpoint_dir; // NULL: no checkpoints
    int64_t checkpoint_every;   // steps; 0: at the end of each epoch alone
    bool resume;
    bool quiet;
    bool help;
} options;

// Reads the command line; false after one sentence on stderr.
bool options_read(options *o, int argc, char **argv);

// Writes what --help shows.
void options_help(void);

#endif
