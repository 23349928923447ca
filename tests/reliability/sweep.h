// SPDX-License-Identifier: Apache-2.0
// Elementwise operations over a sweep of all numbers that a floating dtype has.
#ifndef TERN_TESTS_RELIABILITY_SWEEP_H
#define TERN_TESTS_RELIABILITY_SWEEP_H

#include "conformance.h"

// Runs an elementwise case over `chunks` chunks of inputs in one floating dtype under every
// instruction set. Returns whether all results were close enough, and says where one was not.
bool sweep_is_close(const op_case *c, tern_dtype dtype, int64_t chunks);
// Chunks that reach every number of a 16-bit dtype.
int64_t sweep_every_half(void);

// The largest error that the sweeps so far met in one dtype, in ulp of that dtype.
double sweep_worst(tern_dtype dtype);

#endif
