// SPDX-License-Identifier: Apache-2.0
// The runs of a 4-8-3 net that make_mlp.py stored, for the tests that repeat them.
#ifndef TERN_TESTS_GOLDEN_SMALL_H
#define TERN_TESTS_GOLDEN_SMALL_H

#include <string.h>

#include "golden/golden.h"

#define SMALL_STEPS    30
#define SMALL_ELEMENTS 67 // of all parameters

// Options of a parameter group; those that the optimizer does not have are 0.
typedef struct golden_small_group {
    double lr, weight_decay, momentum, dampening, beta1, beta2, eps;
} golden_small_group;

typedef struct golden_small_case {
    const char *name, *optimizer;
    bool nesterov, amsgrad;
    const char *clip; // "none", "norm" or "value"
    double clip_at, norm_type;
    bool weighted;
    int group_count; // of 2 groups the first has the parameters of layer 0, the second of layer 2
    golden_small_group group[2];
    const double *losses, *norms, *final; // norms where clip is "norm"
    const float *x, *start;
    const int64_t *target;
    const double *weight;
} golden_small_case;

static inline golden_small_group golden_small_group_of(const golden_case *c, int group)
{
    return (golden_small_group){.lr = golden_number(c, "lr", group),
                                .weight_decay = golden_number(c, "weight_decay", group),
                                .momentum = golden_number(c, "momentum", group),
                                .dampening = golden_number(c, "dampening", group),
                                .beta1 = golden_number(c, "beta1", group),
                                .beta2 = golden_number(c, "beta2", group),
                                .eps = golden_number(c, "eps", group)};
}

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
        .name = c->name,
        .optimizer = golden_text(c, "optimizer"),
        .nesterov = golden_number(c, "nesterov", 0) != 0,
        .amsgrad = golden_number(c, "amsgrad", 0) != 0,
        .clip = clip,
        .clip_at = golden_number(c, "clip_at", 0),
        .norm_type = golden_number(c, "norm_type", 0),
        .weighted = weighted,
        .group_count = (int)golden_number(c, "groups", 0),
        .group = {golden_small_group_of(c, 0), golden_small_group_of(c, 1)},
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
