// SPDX-License-Identifier: Apache-2.0
// Operations that sum: their errors by element against what was summed.
#ifndef TERN_TESTS_RELIABILITY_BOUNDS_H
#define TERN_TESTS_RELIABILITY_BOUNDS_H

#include "conformance.h"

// Runs a case with its largest setups, made `factor` times larger in each dimension, under every
// instruction set. Returns whether the error of each element is at most 2 n u (sum of absolute
// values), n being how many numbers were summed and u half a unit in the last place of 1.
bool sums_are_within_bounds(const op_case *c, tern_dtype dtype, int factor);
// The largest error so far in one dtype, as a share of what is allowed.
double bounds_worst(tern_dtype dtype);

// The setup with every size but 1 multiplied.
setup enlarged_setup(const op_case *c, const setup *s, int factor);

#endif
