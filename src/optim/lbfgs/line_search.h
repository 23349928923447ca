// SPDX-License-Identifier: Apache-2.0
// A step length along a direction that meets the strong Wolfe conditions (Nocedal and Wright 2006,
// algorithms 3.5 and 3.6), with PyTorch's choices: the same numbers of evaluations.
#ifndef TERN_SRC_OPTIM_LBFGS_LINE_SEARCH_H
#define TERN_SRC_OPTIM_LBFGS_LINE_SEARCH_H

#include <tern/optim.h>

typedef struct tern_line_point {
    double t;    // step length
    double loss; // INFINITY where it, or the slope, is not finite
    double slope;
    tern_tensor *gradient; // held
} tern_line_point;

typedef struct tern_line {
    // Evaluates the loss at t; the point's gradient is held for the caller.
    tern_status (*evaluate)(void *user, double t, tern_line_point *point);
    void *user;
    double length;           // of the direction: its largest element
    double tolerance_change; // a bracket that moves no element by more is not divided
    int64_t max_evaluations; // after the first
} tern_line;

void tern_line_point_set(tern_line_point *point, const tern_line_point *value);
void tern_line_point_release(tern_line_point *point);
// Searches from `start`, t = 0, with first step `t`. `*found` is held for the caller;
// `*evaluations` is how many there were. On failure nothing is held.
tern_status tern_strong_wolfe(const tern_line *line, const tern_line_point *start, double t,
                              tern_line_point *found, int64_t *evaluations);

#endif
