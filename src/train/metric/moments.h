// SPDX-License-Identifier: Apache-2.0
// Weights, means and sums of squared deviations, added up without losing digits to a large mean
// (Chan, Golub and LeVeque 1979).
#ifndef TERN_SRC_TRAIN_METRIC_MOMENTS_H
#define TERN_SRC_TRAIN_METRIC_MOMENTS_H

#include "train/metric/metric.h"

typedef struct tern_moments {
    tern_tensor *weight;     // float64 ()
    tern_tensor *mean;       // float64 () or (O)
    tern_tensor *deviations; // likewise: sums of weight * (value - mean)^2
} tern_moments;

// The three as states of a metric.
tern_status tern_moments_add_states(tern_metric *metric, tern_moments *moments, tern_shape shape);
// Of the values along dimension 0, float64 (N, ..), with the weights (N), or NULL: 1 each.
tern_status tern_moments_of(tern_tensor *values, tern_tensor *weights, tern_moments *out);
// Those of both, by temporaries.
tern_status tern_moments_merged(const tern_moments *a, const tern_moments *b, tern_moments *out);
// Those of another metric, on the device of this one's.
tern_status tern_moments_here(const tern_moments *other, const tern_moments *own,
                              tern_moments *out);
// Puts values into the states.
tern_status tern_moments_set(const tern_moments *states, const tern_moments *values);

#endif
