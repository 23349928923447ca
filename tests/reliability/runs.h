// SPDX-License-Identifier: Apache-2.0
// Trainings of a small net with dropout by every optimizer and every loss.
#ifndef TERN_TESTS_RELIABILITY_RUNS_H
#define TERN_TESTS_RELIABILITY_RUNS_H

#include <stdint.h>

typedef struct run_size {
    int64_t batch, in, hidden, classes;
    int steps;
} run_size;

int run_optimizers(void);
int run_losses(void);
// "optim_adam, amsgrad; nn_mse_loss"
const char *run_name_of(int optimizer, int loss);

// The bits of every loss and gradient norm, and of the parameters and the optimizer's state after.
uint64_t run_bits(int optimizer, int loss, run_size size);

// Fails unless every optimizer and loss that the headers declare is among them.
void check_runs_are_complete(const char *include_dir);

#endif
