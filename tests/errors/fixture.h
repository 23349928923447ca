// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_TESTS_ERRORS_FIXTURE_H
#define TERN_TESTS_ERRORS_FIXTURE_H

#include "errors.h"

// Everything in a scope of its own, whose number is returned; 0 when something could not be made.
tern_scope fixture_make(fixture *f);
void fixture_free(fixture *f, tern_scope scope);

// What a refused call must not change: values, gradients' presence, parameters, the generator,
// the values of the state.
typedef struct snapshot {
    uint64_t tensors[FIXTURE_TENSORS];
    uint64_t parameters, generator;
    int64_t state; // values in it
    int64_t live;
} snapshot;

snapshot fixture_snapshot(const fixture *f);
// NULL when both are the same, else the name of what differs.
const char *snapshot_difference(const snapshot *a, const snapshot *b);

#endif
