// SPDX-License-Identifier: Apache-2.0
// What a program does with the library, cut into pieces whose every allocation can be made to fail.
#ifndef TERN_TESTS_RELIABILITY_OPERATIONS_H
#define TERN_TESTS_RELIABILITY_OPERATIONS_H

#include "world.h"

typedef struct operation {
    const char *name;
    int64_t least;                 // so many allocations it makes at the least, without a cache
    tern_status (*prepare)(void);  // makes what it needs in `w`; NULL: it begins with nothing
    tern_status (*run)(void);      // shows its results to world_see
    tern_tensor *(*formula)(void); // instead of the two: made of w.a and its like, differentiated
    bool goes_on;                  // a second run takes up where a failed one stopped
    bool spoils;                   // a failure leaves gradients unusable
    bool keeps;                    // what was made before the failure stays until it is freed
    bool draws;                    // several random draws, of which some may be done
    tern_status (*recover)(void);  // more than zeroing gradients, see operation_recover
} operation;

// The end is an operation without a name.
extern const operation operations[], inputs_and_outputs[], states[], formulas[], parametrizations[];

tern_status operation_prepare(const operation *op);
tern_status operation_run(const operation *op);
// What a caller does between a failure and the next try.
tern_status operation_recover(const operation *op);

// Made once for the program, before the first operation: the files that some of them read.
int operations_begin(void);
void operations_end(void);

#endif
