// SPDX-License-Identifier: Apache-2.0
// How the stored operations are called.
#ifndef TERN_TESTS_GOLDEN_CALLS_H
#define TERN_TESTS_GOLDEN_CALLS_H

#include <tern/tern.h>

// Most tensors that a call takes, and gives.
#define GOLDEN_IN  5
#define GOLDEN_OUT 2

// What a call takes besides its tensors: the words of the family ops.
typedef struct golden_words {
    double value, p, low, high, negative_slope, beta, threshold, label_smoothing;
    double alpha, lambd, lower, upper, eps, margin, delta;
    int dim, classes, factor, blank, k;
    int64_t correction, ignore_index;
    bool keepdim, full, log_input, log_target, swap, zero_infinity, descending, largest;
    tern_axis_list axes;
    tern_reduction reduction;
    tern_activation activation;
    tern_dtype dtype; // of the first output
} golden_words;

// Calls the operation on `in` (NULL where there is none); the outputs into `out`. False when there
// is no such operation here.
bool golden_call(const char *op, tern_tensor *const *in, const golden_words *words,
                 tern_tensor **out);

#endif
