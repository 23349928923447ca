// SPDX-License-Identifier: Apache-2.0
// A whole training of a small net, complete in itself: every random number comes from a generator
// of its own, so that its bits are the same on any thread, whatever else runs.
#ifndef TERN_TESTS_RELIABILITY_TRAINING_H
#define TERN_TESTS_RELIABILITY_TRAINING_H

#include <stdio.h>
#include <tern/tern.h>

typedef struct training {
    tern_generator *generator;
    tern_module *net, *criterion;
    tern_optim *optim;
    tern_dataset *dataset;
    tern_loader *loader;
} training;

// All or nothing: false leaves the error pending.
bool training_make(training *t, uint64_t seed);
void training_free(training *t);

// One epoch: loader, forward, backward, step. False on failure.
bool training_epoch(training *t);
// The bits of all parameters and of an evaluation.
uint64_t training_hash(training *t);

// Makes one, trains two epochs, frees it. Its hash; 0 with an error pending.
uint64_t training_run(uint64_t seed);

#endif
