// SPDX-License-Identifier: Apache-2.0
// The samples that a classifier is most wrong about: a metric of a program's own.
#ifndef COMMON_WORST_H
#define COMMON_WORST_H

#include <stdio.h>
#include <tern/tern.h>

typedef struct mistake {
    int64_t index;            // of the sample, in the order of evaluation
    int64_t label, predicted; // classes
    double probability;       // of what was predicted
    double loss;
} mistake;

// Of logits (N, C) and labels (N) it keeps the `count` mistakes of the largest loss. What it
// computes is a table; worst_read gives its rows.
tern_metric *worst_mistakes(int64_t count);

// Writes the mistakes, the largest loss first, and returns how many there are, at most the count;
// -1 on failure. Waits for the device.
int64_t worst_read(tern_metric *worst, mistake *mistakes);

// A line for each, with the file, or the number of a sample that has none.
void mistakes_print(const mistake *mistakes, int64_t count, tern_dataset *set, FILE *file);

#endif
