// SPDX-License-Identifier: Apache-2.0
// The bits of an operation's results and gradients, as the cases of the conformance suite call it.
#ifndef TERN_TESTS_RELIABILITY_CASE_BITS_H
#define TERN_TESTS_RELIABILITY_CASE_BITS_H

#include "conformance.h"

// `shifted`: operands lie one element further in memory than the allocator gives.
uint64_t case_bits(const op_case *c, const setup *s, tern_dtype dtype, const array *in,
                   bool shifted);

// Calls `visit` for every case of the conformance suite.
void each_case(void (*visit)(const op_case *c));

#endif
