// SPDX-License-Identifier: Apache-2.0
// Random programs that are valid, and whose results do not hang on rounding.
#ifndef TERN_TESTS_FUZZ_GENERATE_H
#define TERN_TESTS_FUZZ_GENERATE_H

#include "reference.h"

// A generator makes one instruction after another, each run on the reference at once.
typedef struct generator {
    uint64_t seed;
    machine *m;
    int made, most;
} generator;

generator generator_new(uint64_t seed, machine *m);

// The next instruction, which the reference has run; false at the end.
bool generator_next(generator *g, instruction *ins);

#endif
