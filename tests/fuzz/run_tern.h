// SPDX-License-Identifier: Apache-2.0
// Programs run by tern.
#ifndef TERN_TESTS_FUZZ_RUN_TERN_H
#define TERN_TESTS_FUZZ_RUN_TERN_H

#include "support/check.h"
#include "reference.h"

enum { MOST_DEPTH = MOST_INSTRUCTIONS };

typedef struct runner {
    tern_dtype dtype;
    tern_device device;
    tern_tensor *reg[REGISTERS];
    tern_tensor *leaves[MOST_LEAVES];
    int leaf_count, depth;
    tern_scope scopes[MOST_DEPTH + 1]; // the first is the program's own
    tern_optim *optim;
} runner;

void runner_begin(runner *r, tern_dtype dtype, tern_device device);
void runner_end(runner *r);

// Runs one instruction; the status of a backward that may be refused, else it must work.
tern_status runner_run(runner *r, const instruction *ins);

#endif
