// SPDX-License-Identifier: Apache-2.0
// The runs of a 4-8-3 net that make_mlp.py stored, for the tests that repeat them.
#ifndef TERN_TESTS_GOLDEN_SMALL_H
#define TERN_TESTS_GOLDEN_SMALL_H

#include <string.h>

#include "golden.h"

#define SMALL_STEPS    30
#define SMALL_ELEMENTS 67 // of all parameters

typedef struct golden_small_case {
    const golden_case *stored; // the optimizer and its options: golden_optim.h
    const char *clip;          // "none", "norm" or "value"
    double clip_at, norm_type;
    bool weighted;
    bool skips;      // at every third step 0.bias has no gradient
    int group_count; // of 2 groups the first has the parameters of layer 0, the second of layer 2
    const double *losses, *norms, *final; // norms where clip is "norm"
    const float *x, *start;
    const int64_t *target;
    const double *weight;
} golden_small_case;

// Case 0 of the file is what all of them begin with: there are this many runs.
static inline int golden_small_count(void)
{
    return golden_read("small")->count - 1;
}

static inline golden_small_case golden_small(int number)
{
    const golden_case *inputs = golden_find("small", "inputs");
    const golden_case *c = &golden_read("small")->cases[1 + number];
    const bool weighted = golden_number(c, "weighted", 0) != 0;
    const char *clip = golden_text(c, "clip");
    return (golden_small_case){
        .stored = c,
        .clip = clip,
        .clip_at = golden_number(c, "clip_at", 0),
        .norm_type = golden_number(c, "norm_type", 0),
        .weighted = weighted,
        .skips = golden_number(c, "skips", 0) != 0,
        .group_count = (int)golden_number(c, "groups", 0),
        .losses = golden_values(c, "losses", TERN_FLOAT64, SMALL_STEPS),
        .norms =
            strcmp(clip, "norm") == 0 ? golden_values(c, "norms", TERN_FLOAT64, SMALL_STEPS) : NULL,
        .final = golden_values(c, "final", TERN_FLOAT64, SMALL_ELEMENTS),
        .x = golden_values(inputs, "x", TERN_FLOAT32, 24),
        .start = golden_values(inputs, "start", TERN_FLOAT32, SMALL_ELEMENTS),
        .target = golden_values(inputs, weighted ? "target1" : "target0", TERN_INT64, 6),
        .weight = golden_values(inputs, "weight", TERN_FLOAT64, 3),
    };
}

#endif
